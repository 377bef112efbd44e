"""What the user asked for and forbade, and whether what is done still serves that."""
