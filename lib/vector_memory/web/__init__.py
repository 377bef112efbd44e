"""Memory over HTTP: the gateway, for programs of this machine, and the dashboard, for the user's browser. Each is a
process of its own, which asks the daemon."""
