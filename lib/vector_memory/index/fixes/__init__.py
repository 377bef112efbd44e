"""Errors, the commands that met them, and what mended them."""
