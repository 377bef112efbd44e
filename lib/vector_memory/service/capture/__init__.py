"""From a transcript to memories: exchanges, ideas, topics, summaries."""
