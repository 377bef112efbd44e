"""How memories age and meet: duplicates now; decay, consolidation and their calendar."""
