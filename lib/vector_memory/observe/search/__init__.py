"""What a search looks for, and whether a name answers it."""
