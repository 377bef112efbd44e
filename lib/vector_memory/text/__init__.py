"""What a text says: terms, times, names, errors, what a shell's line runs, and the tables of words that this needs."""
