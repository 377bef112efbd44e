"""What a command would destroy or give away."""
