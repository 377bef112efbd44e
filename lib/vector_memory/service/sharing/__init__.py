"""Sharing memories with a team, or between one's own machines: sealed bundles in a place that all reach."""
