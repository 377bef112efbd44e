"""The parts of `attack.py`: what is planted, by which ways, and how it is judged."""
