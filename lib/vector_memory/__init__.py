"""Vector Memory: long-term memory for a coding agent, on the user's own machine."""
