"""Diagrams that are text: what they show, as nodes and the edges between them."""
