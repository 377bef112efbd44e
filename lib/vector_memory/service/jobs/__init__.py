"""What happens when nobody waits."""
