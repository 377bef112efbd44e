"""Embedding backends: text to vectors, on this machine. `registry.create` makes the one in use."""
