"""How a page gets in: by a code that is good once, for a minute, or by a token of the user's with all rights.

A cookie of one port of 127.0.0.1 is offered to every other port, so there is none: the page is given a bearer
for its code, and keeps it where other ports cannot read it.
"""

from __future__ import annotations

import html
import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from vector_memory.system import private
from vector_memory.system.durable_files import write_durably
from vector_memory.tokens import ADMIN, Token, digest_of
from vector_memory.web.doors import TokenFile

CODE_S = 60.0
MOST_SESSIONS = 32
PAGE = "dashboard"


class Codes:
    """Codes that were made and not used yet.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._made: dict[str, float] = {}
        self._lock = threading.Lock()

    def make(self) -> str:
        """Return a new code, good once within a minute."""
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._made[digest_of(code)] = self._clock()
        return code

    def take(self, code: str) -> bool:
        """Whether a code was good; it is not from now on. A hash is looked up, so that the time it takes tells
        nothing of the codes."""
        with self._lock:
            made = self._made.pop(digest_of(code), None)
        return made is not None and self._clock() - made <= CODE_S


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

    def of(self, presented: str) -> Token | None:
        """Return whose bearer it is, None for nobody's, or for a token that may not do everything."""
        page = self._pages.get(digest_of(presented))
        token = page or self._file.of(presented)
        return token if token is not None and token.may(ADMIN) else None


def write_door(path: str, url: str, code: str) -> None:
    """Write the file that leads a browser in: this user's alone, since a program's arguments, where the address
    would stand otherwise, can be read by others."""
    private.make_folder(os.path.dirname(path))
    there = html.escape(f"{url}/#code={code}", quote=True)
    page = (
        '<!doctype html><meta charset="utf-8"><title>Vector Memory</title>'
        f'<meta http-equiv="refresh" content="0;url={there}">'
        f'<p><a href="{there}">Open the dashboard</a>'
    )
    write_durably(path, page.encode("ascii"))
