"""What a session is told unasked: at its start, with a prompt, after a compaction."""
