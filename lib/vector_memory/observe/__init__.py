"""What is seen of a session's work: what is searched for, whether it keeps to what was asked, how it went,
what worked. Pure functions."""
