"""Use cases that help to think: they compare what is stored, try things on copies, and look for what is wrong."""
