"""Whether the user has rules of privacy of their own, for paths on which nothing can apply them.
Standard library only, Python 3.9. The rules themselves are the daemon's."""

import os
import re

from vector_memory.system.files import open_regular

FILE = "CLAUDE.md"
MOST_BYTES = 1_000_000
_RULES = re.compile(
    rb"privacy|redact|sensitive|confidential|memor(?:y|ies|i[sz]e)|remember|^#[^\n]*(?:never|do not|don't)",
    re.IGNORECASE | re.MULTILINE,
)


def rules_since(project: str) -> float:
    """Return when the newest file that may hold rules was written, in seconds since 1970; 0 for none.

    What was stored or prepared before that cannot be checked without the daemon. Where the session runs
    under a configuration of its own that may hold rules, nothing can be: others stored it under theirs.
    """
    default = os.path.join(os.path.expanduser("~"), ".claude")
    named = os.environ.get("CLAUDE_CONFIG_DIR") or default
    if os.path.realpath(named) != os.path.realpath(default) and _written(os.path.join(named, FILE)):
        return float("inf")
    own = _written(os.path.join(default, FILE))
    if not project:
        return own
    shipped = (os.path.join(project, FILE), os.path.join(project, ".claude", FILE))
    return max(own, *(_written(path, project) for path in shipped))


def _written(path: str, root: str = "") -> float:
    try:
        with open_regular(path, root) as file:
            if _RULES.search(file.read(MOST_BYTES)):
                return os.fstat(file.fileno()).st_mtime
    except OSError:
        pass
    return 0.0
