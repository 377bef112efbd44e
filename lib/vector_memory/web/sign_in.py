"""How a page gets in: by a code that is good once, for a minute, or by a token of the user's with all rights.

A cookie of one port of 127.0.0.1 is offered to every other port, so there is none: the page is given a bearer
for its code, and keeps it where other ports cannot read it.
"""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict

from vector_memory.tokens import ADMIN, Token, digest_of
from vector_memory.web.access import TokenFile

MOST_SESSIONS = 32
PAGE = "dashboard"


class Visitors:
    """Who is let in: pages that came with a code, and tokens with all rights.

    Args:
        tokens_path: the file of the user's tokens.
    """

    def __init__(self, tokens_path: str) -> None:
        self._file = TokenFile(tokens_path)
        self._pages: OrderedDict[str, Token] = OrderedDict()
        self._lock = threading.Lock()

    def admit(self) -> str:
        """Return the bearer of a new page. Of too many the one that came first has to come again."""
        bearer = "page_" + secrets.token_hex(24)
        digest = digest_of(bearer)
        page = Token(PAGE, PAGE, (ADMIN,), "", "", "", True, "", digest)
        with self._lock:
            self._pages[digest] = page
            while len(self._pages) > MOST_SESSIONS:
                self._pages.popitem(last=False)
        return bearer

    def owner_of(self, presented: str) -> Token | None:
        """Return whose bearer it is, None for nobody's, or for a token that may not do and see everything: pages
        ask the daemon as the user does."""
        page = self._pages.get(digest_of(presented))
        token = page or self._file.owner_of(presented)
        if token is None or token.project or token.is_limited or not token.may(ADMIN):
            return None
        return token
