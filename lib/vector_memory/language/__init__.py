"""What a text says, taken apart: times, mentions, intents, failures. Pure, standard library only."""
