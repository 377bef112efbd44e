"""What is done in the background, when nobody waits."""
