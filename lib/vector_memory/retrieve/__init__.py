"""From a question to hits: query → candidates → fusion → factors → precedence → repetitions → rendering.

Pure but for the candidates, which come from shelves through a protocol; the clock is an argument.
"""
