"""What is stored, changed, forgotten and decided on request."""
