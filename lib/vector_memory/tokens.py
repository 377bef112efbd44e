"""The tokens by which programs are let in at the gateway, as they lie in the data home: names, rights and
hashes, never a token itself. The daemon writes the file; the gateway reads it. And the codes by which a page
of the dashboard is let in, once."""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from typing import Any

from vector_memory.errors import StoreDamagedError
from vector_memory.model import JURISDICTIONS, Sensitivity
from vector_memory.system import json_in, private
from vector_memory.system.durable_files import write_durably

ADMIN = "admin"
RIGHTS = ("read", "write", "feed", "delete", ADMIN)
PREFIX = "vm_"
MOST_BYTES = 1 << 20
CODE_S, MOST_CODES = 60.0, 1_000
LIMITED = "limited"
"""Where tokens with a ceiling or a jurisdiction stand: the first versions, which know neither, do not look there, and
so let nobody in who has one."""


@dataclass(frozen=True)
class Token:
    """What is known of a token.

    Attributes:
        rights: of `RIGHTS`; `admin` is all of them.
        project: the folder of the only project that it is for, "" for all; `project_id` is that project's id.
        until: when it ends, aware, in ISO form; "" for never.
        speaks_for_me: what comes by it as the user's words counts as the user's.
        digest: SHA-256 of the token, in hexadecimal digits.
        ceiling: the most sensitive memories that it is given, "" for all.
        jurisdictions: it is given only what is kept under one of these, all where there are none.
        unknown: what another version says of it, which may limit it. It is kept as it is.
    """

    id: str
    name: str
    rights: tuple[str, ...]
    project: str
    project_id: str
    until: str
    speaks_for_me: bool
    made_at: str
    digest: str
    ceiling: str = ""
    jurisdictions: tuple[str, ...] = ()
    unknown: dict[str, object] = field(default_factory=dict)

    @property
    def problem(self) -> str:
        """Why it does not hold whatever the time, "" where it may: what is not understood may have limited it."""
        words = {*self.rights, *self.jurisdictions, *filter(None, [self.ceiling])}
        allowed = {*RIGHTS, *JURISDICTIONS, *map(str, Sensitivity)}
        odd = sorted({*self.unknown, *(words - allowed)})
        return f"another version limits it by {', '.join(odd)[:200]}" if odd else ""

    @property
    def is_limited(self) -> bool:
        """Whether it is not given every memory of what it is for."""
        return bool(self.ceiling or self.jurisdictions)

    def may(self, right: str) -> bool:
        """Whether it gives a right."""
        return right in self.rights or ADMIN in self.rights

    @property
    def is_the_users(self) -> bool:
        """Whether who comes with it speaks for the user."""
        return self.speaks_for_me or ADMIN in self.rights

    def holds(self, now: datetime) -> bool:
        """Whether it has not ended, and all that it says is understood."""
        has_ended = self.until and now >= datetime.fromisoformat(self.until)
        return not (has_ended or self.problem)


def make() -> tuple[str, str, str]:
    """Return a new token with its id and its digest."""
    id = secrets.token_hex(4)
    token = f"{PREFIX}{id}_{secrets.token_hex(24)}"
    return token, id, digest_of(token)


def digest_of(token: str) -> str:
    """Return what is kept of a token. It holds 192 random bits: nobody guesses it from its hash."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def match(tokens: Iterable[Token], presented: str) -> Token | None:
    """Return the token that somebody brought, None where it is none, or has ended. All are compared, each in
    a time that tells nothing."""
    digest = digest_of(presented)
    matching = [token for token in tokens if hmac.compare_digest(token.digest, digest)]
    return matching[0] if matching and matching[0].holds(datetime.now(timezone.utc)) else None


class Codes:
    """Codes that were made and not used yet: with one a page of the dashboard comes, another confirms what was shown.

    Args:
        clock: seconds, monotonic.
        kept_s: how long one is good.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, kept_s: float = CODE_S) -> None:
        self._clock = clock
        self._kept_s = kept_s
        self._made: dict[str, tuple[float, Any]] = {}
        self._lock = threading.Lock()

    def make(self, purpose: Any = True, owner: str = "") -> str:
        """Return a new code, good once and for its owner alone. Of too many the one that was made first goes.

        Args:
            purpose: what it is for.
        """
        code = secrets.token_urlsafe(24)
        with self._lock:
            self._made[digest_of(owner + code)] = (self._clock(), purpose)
            while len(self._made) > MOST_CODES:
                del self._made[next(iter(self._made))]
        return code

    def redeem(self, code: str, owner: str = "") -> Any:
        """Return what a code is for, None where it is not good; it is not from now on. A hash is looked up, so that the
        time it takes tells nothing of the codes."""
        with self._lock:
            made_at, purpose = self._made.pop(digest_of(owner + code), (-math.inf, None))
        return purpose if self._clock() - made_at < self._kept_s else None


def load(path: str) -> list[Token]:
    """Return the tokens of a data home; none where there is no file.

    Raises:
        StoreDamagedError: the file cannot be read, or others can.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise _damaged_error(path, error.strerror or "") from error
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if status.st_uid != private.user_id() or status.st_mode & private.OPEN_TO_OTHERS:
            raise _damaged_error(path, "others can read it, or it is theirs")
        if not stat.S_ISREG(status.st_mode):
            raise _damaged_error(path, "it is no file")
        raw = file.read(MOST_BYTES)
    try:
        stored = json_in.load(raw)
        return [_read(entry) for entry in (*stored["tokens"], *stored.get(LIMITED, ()))]
    except (ValueError, KeyError, TypeError) as error:
        raise _damaged_error(path, f"it holds no tokens ({type(error).__name__})") from error


def _read(entry: dict[str, Any]) -> Token:
    known_names = {token_field.name for token_field in fields(Token)} - {"unknown"}
    known_values = {name: value for name, value in entry.items() if name in known_names}
    words = {name: tuple(map(str, entry.get(name, ()))) for name in ("rights", "jurisdictions")}
    unknown = {name: value for name, value in entry.items() if name not in known_names}
    token = Token(**{**known_values, **words}, unknown=unknown)
    # What cannot be read as a time never ends: the whole file is damaged then.
    token.holds(datetime.now(timezone.utc))
    return token


def save(path: str, tokens: Iterable[Token]) -> None:
    """Put these tokens in the place of those that are there; the file is this user's alone."""
    stored: dict[str, list[dict[str, object]]] = {"tokens": [], LIMITED: []}
    for token in tokens:
        own_values = asdict(token)
        all_values = {**own_values.pop("unknown"), **own_values}
        stored[LIMITED if token.is_limited or token.unknown else "tokens"].append(all_values)
    write_durably(path, json.dumps(stored).encode("ascii"))


def _damaged_error(path: str, why: str) -> StoreDamagedError:
    return StoreDamagedError(
        f"{path} is not used: {why}.", "Delete it, and make new tokens with `vector-memory token`."
    )
