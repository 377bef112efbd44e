"""Write `settings.snippet.json` from `hooks/hooks.json`. Run by `just generate`; a test compares."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "lib"))

from vector_memory.setup import snippet  # noqa: E402


def make() -> str:
    """Return what the file is to hold: the settings with the plugin's path as a variable."""
    return snippet.render(snippet.load(str(ROOT)), snippet.PROGRAM)


if __name__ == "__main__":
    (ROOT / "settings.snippet.json").write_text(make(), encoding="utf-8")
