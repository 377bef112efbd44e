"""Ideas that a language model finds in a text, beside those that rules find."""
