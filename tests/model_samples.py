"""A talk in which a language model finds one idea."""

from __future__ import annotations

import json

from fakes_ollama import OllamaServer

WHY = (
    "The importer waits for the queue, and the lock is held as long as the queue is not empty. " * 3
)
TALK = [("Why did the import hang last night on the big machine?", WHY), ("And then?", WHY)]
IDEA = "The queue is drained before each import since the lock is held otherwise."


def finding_one(server: OllamaServer) -> OllamaServer:
    """Return a server whose model finds the idea."""
    one = {"text": IDEA, "intent": "decision", "confidence": 0.9, "quote": "the lock is held"}
    server.written = json.dumps({"ideas": [one]})
    return server
