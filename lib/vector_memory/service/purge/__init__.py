"""Deleting for good: what is chosen, and every place that it stood in."""
