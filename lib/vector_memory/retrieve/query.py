"""What is asked, taken apart once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vector_memory import analysis
from vector_memory.model import Scope

if TYPE_CHECKING:
    from vector_memory.model import Vector

MAX_TERMS = 40


@dataclass(frozen=True)
class Query:
    """A question with its terms and its vector (None while there is no model). `own_project` is
    the project it is asked from: its memories come first on a tie."""

    text: str
    terms: tuple[str, ...]
    scope: Scope
    vector: Vector | None = None
    own_project: str = ""


def analyse(text: str, scope: Scope, vector: Vector | None = None, own_project: str = "") -> Query:
    """Return the query of a question's text."""
    terms = tuple(analysis.query_terms(text, MAX_TERMS))
    return Query(text, terms, scope, vector, own_project)
