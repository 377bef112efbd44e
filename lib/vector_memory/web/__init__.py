"""The gateway: memory over HTTP, for programs of this machine. A process of its own, which asks the daemon."""
