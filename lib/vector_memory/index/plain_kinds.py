"""Sentences that name their kind themselves ("We decided …", "TODO: …", "From now on …"), in English."""

from __future__ import annotations

import os

from vector_memory.model import PREFERENCE, QUESTION
from vector_memory.text import tables

_PLAIN = tables.patterns("plain_kinds", os.path.dirname(__file__))


def plain_kind(text: str, is_users: bool) -> str:
    """Return the kind that a sentence names itself, by the first turn of phrase that fits; "" for none. What is
    asked can only be an open question, and only the user has preferences.

    Of 1,600 labelled sentences 21 worth keeping fit one, 18 of them rightly; of 600 single statements 26 of 33, and four
    of the others are causes, a kind that is not known there. The model is right in five of ten.
    """
    kinds = (kind for kind, pattern in _PLAIN.items() if pattern.match(text))
    kind = next((kind for kind in kinds if is_users or kind != PREFERENCE), "")
    return kind if kind == QUESTION or not text.endswith("?") else ""
