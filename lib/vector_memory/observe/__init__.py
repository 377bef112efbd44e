"""What is seen of a session's work: whether it keeps to what was asked, how it went, what worked."""
