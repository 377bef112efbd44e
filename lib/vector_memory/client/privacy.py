"""Whether the user has rules of privacy of their own, for paths on which nothing can apply them.
Standard library only, Python 3.9. The rules themselves are the daemon's."""

import os
import re

FILE = "CLAUDE.md"
MOST_BYTES = 1_000_000
_HEADING = re.compile(
    rb"^#{1,6}\s[^\n]*(?:privacy|redact|sensitive|confidential|never|do not|don't)",
    re.IGNORECASE | re.MULTILINE,
)


def rules_since(project: str) -> float:
    """Return when the newest file that may hold rules was written, in seconds since 1970; 0 for none.

    What was stored or prepared before that cannot be checked without the daemon.
    """
    config = os.environ.get("CLAUDE_CONFIG_DIR") or os.path.join(os.path.expanduser("~"), ".claude")
    paths = [os.path.join(config, FILE)]
    if project:
        paths += [os.path.join(project, FILE), os.path.join(project, ".claude", FILE)]
    return max(map(_written, paths))


def _written(path: str) -> float:
    try:
        with open(path, "rb") as file:
            if _HEADING.search(file.read(MOST_BYTES)):
                return os.fstat(file.fileno()).st_mtime
    except OSError:
        pass
    return 0.0
