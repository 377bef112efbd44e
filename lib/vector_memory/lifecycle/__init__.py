"""What a newer text is to an older one: the same, a replacement, a contradiction, an answer, the fix of a problem."""
