"""Copying a journal, checking it, and saving what can be read of a damaged one."""
