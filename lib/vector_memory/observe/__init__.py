"""What looks on while a session works: pure functions on what it is asked, does and finds."""
