"""Tasks and how they ended, the steps that led there, and the state of things on the way."""
