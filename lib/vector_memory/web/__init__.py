"""HTTP on this machine, for those who switch it on. Nothing here is imported by the daemon."""
