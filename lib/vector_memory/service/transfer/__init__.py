"""Memories that come from other programs' files, or go into them."""
