"""Whose words a memory is and where it stands, by what is stored beside its text: one rule for `model.Memory` and for
the hooks, which read rows of a journal. Standard library only, Python 3.9."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

SUSPICION, IS_FOREIGN, AUTHOR = "suspicion", "foreign", "author"
"""In `extra`: what looks like an instruction to the model; that nobody vouched for an import; and of what another
member of a team shared, `key` and `name` of that member."""
DONE, DOUBT = "done", "doubt"
"""In `extra`: that a todo, question or problem is open no more; and why a decision record is not in force, a word of `DOUBTS`."""
FOUND_ON = {"refuted_on": "found to be wrong on", "outdated_on": "found to hold no more on"}
"""What is said before the day on which somebody found of a memory that it is not so, or not any more, by what that day is
called in answers."""
NOTED_ON = {**FOUND_ON, "edited_on": "edited on"}
"""The same, and what is said before the day on which the user gave a memory other words."""
DOUBTS = ("rejected", "proposed", "draft", "deprecated", "withdrawn")
OF_TALK = ("exchange", "topic", "summary")
"""Kinds of what sessions said, word for word or summed up: nobody put it forward to hold."""


def is_foreign(origin: str, extra: "Mapping[str, object]") -> bool:
    """Whether somebody else wrote it and the user did not vouch for it: a tool's output, or an import that
    nobody asked for."""
    return origin == "tool" or (origin == "import" and bool(extra.get(IS_FOREIGN)))


def is_suspicious(extra: "Mapping[str, object]") -> bool:
    """Whether it looks like instructions to the model, and the user has not released it."""
    marks = extra.get(SUSPICION)
    return isinstance(marks, dict) and bool(marks) and not marks.get("released")


def author(extra: "Mapping[str, object]") -> "dict[str, str]":
    """Return `key` and `name` of the member of a team who shared it; {} where it is this user's own."""
    member = extra.get(AUTHOR)
    return member if isinstance(member, dict) else {}


def state_label(extra: "Mapping[str, object]") -> str:
    """Return `done` of what is open no more, else the word of `DOUBTS` for a decision that is not in force, "" for
    anything else."""
    doubt = extra.get(DOUBT)
    return DONE if extra.get(DONE) else next((word for word in DOUBTS if word == doubt), "")


def noted_state(state: str) -> "dict[str, object]":
    """Return what `extra` holds of a state, {} of anything that is none."""
    if state == DONE:
        return {DONE: True}
    return {DOUBT: state} if state in DOUBTS else {}


def author_label(origin: str, kind: str, extra: "Mapping[str, object]") -> str:
    """Return whose words it is, as its first line says it; "" where its text says so itself."""
    member = author(extra)
    if member:
        label = "shared by " + str(member.get("name", "a member"))
    elif kind in OF_TALK:
        # Talk says itself who speaks in it, and what is made of talk is nobody's words.
        label = ""
    elif origin == "import" and not is_foreign(origin, extra):
        label = "user's notes"
    else:
        label = origin
    return " · ".join(part for part in (label, "suspicious" * is_suspicious(extra)) if part)
