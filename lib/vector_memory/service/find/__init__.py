"""What is looked for on request: recall, lists, topics, where a memory comes from."""
