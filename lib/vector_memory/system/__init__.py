"""What the operating system gives and must be kept to: files, processes, the user at the other end."""
