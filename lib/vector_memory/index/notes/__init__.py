"""Notes and graphs of other programs into drafts of memories, and back."""
