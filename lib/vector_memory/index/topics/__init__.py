"""Sessions into topics: where the subject shifts, what it is called, what was said of it."""
