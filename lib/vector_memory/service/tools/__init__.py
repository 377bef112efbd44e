"""What is said at a tool call, before and after it."""
