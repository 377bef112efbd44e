"""How hooks, CLI and others reach the daemon. Standard library only."""
