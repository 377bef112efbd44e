"""Which settings say what must not be stored, also by a misspelt name. Standard library only, Python 3.9."""

SETTINGS = frozenset({"capture", "capture_without", "excluded_projects", "redact_personal"})
STEMS = (
    "redact", "exclu", "captur", "personal", "privat", "ignor", "protect", "anonym", "blocklist", "pii",
)  # fmt: skip
"""What a name holds that speaks of it; of the settings there are, only `SETTINGS` do."""


def speaks_of_it(name: str) -> bool:
    """Whether a name, such as one that is no setting, speaks of what must not be stored."""
    return any(stem in name.lower() for stem in STEMS)
