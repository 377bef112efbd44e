"""The words between a client and the daemon. It depends on nothing, so that both sides and every
Python from 3.9 agree on it, and it handles bytes only, since the hook's client does without json.

    request:   VM1 <verb> <body bytes> <client version>\n<body>
    replies:   <status> <body bytes>\n<body>        one or more, the last of them final

Statuses: `A` the answer (final), `E` an error (final), `O` the daemon is older than the client and
steps down (final), `P` progress and `I` an item of a stream (more follow).
"""

PROTOCOL = b"VM1"
MAX_REQUEST_BYTES = 8 * 1024 * 1024
MAX_REPLY_BYTES = 256 * 1024 * 1024
MAX_HEADER_BYTES = 256
MAX_DIGITS = 12

ANSWER = b"A"
ERROR = b"E"
OLD = b"O"
PROGRESS = b"P"
ITEM = b"I"
FINAL = (ANSWER, ERROR, OLD)

HOOK_VERB = "hook."
"""A hook's verb is this and its event; its body is the project's folder, NUL, the client's configuration
folder and NUL where the session has one of its own, and stdin's bytes."""

PROMPTS = "prompts"
"""The pipe beside the socket that `hooks/run` writes a prompt into before its interpreter starts: a hook's body and a
line's end, as soon as it has the whole."""
EARLY = b"VECTOR_MEMORY_STDIN"
"""The variable in which the interpreter is given what `hooks/run` has read of stdin."""


class WireError(Exception):
    """The other side does not speak this protocol."""


def encode_request(verb: str, body: bytes, version: str) -> bytes:
    """Return a request as bytes. `verb` and `version` are ASCII strings without spaces."""
    return b"%s %s %d %s\n%s" % (
        PROTOCOL,
        verb.encode("ascii"),
        len(body),
        version.encode("ascii"),
        body,
    )


def encode_hook(folder: bytes, configuration: bytes, stdin: bytes) -> bytes:
    """Return a hook's body."""
    return folder + b"\0" + (configuration + b"\0" if configuration else b"") + stdin


def parse_hook(body: bytes) -> tuple[bytes, bytes, bytes]:
    """Return (folder, configuration, stdin) of a hook's body. JSON begins with no slash, which every
    configuration's path does: hooks that know nothing of it are understood, too."""
    folder, _, remainder = body.partition(b"\0")
    if remainder[:1] != b"/":
        return folder, b"", remainder
    configuration, _, stdin = remainder.partition(b"\0")
    return folder, configuration, stdin


def parse_request_header(line: bytes) -> tuple[str, int, str]:
    """Return (verb, body bytes, client version) of a request's first line.

    Raises:
        WireError: it is no request of this protocol, or its body is too large.
    """
    parts = line.split(None, 4)
    if len(line) > MAX_HEADER_BYTES or len(parts) != 4 or parts[0] != PROTOCOL:
        raise WireError("not a request of this protocol")
    length = _length(parts[2])
    if length > MAX_REQUEST_BYTES:
        raise WireError("the request is larger than %d bytes" % MAX_REQUEST_BYTES)
    try:
        return parts[1].decode("ascii"), length, parts[3].decode("ascii")
    except UnicodeDecodeError:
        raise WireError("not a request of this protocol") from None


def encode_reply(status: bytes, body: bytes) -> bytes:
    """Return a reply as bytes."""
    return b"%s %d\n%s" % (status, len(body), body)


def parse_reply_header(line: bytes) -> tuple[bytes, int]:
    """Return (status, body bytes) of a reply's first line.

    Raises:
        WireError: it is no reply of this protocol, or its body is too large.
    """
    parts = line.split(None, 2)
    if len(line) > MAX_HEADER_BYTES or len(parts) != 2 or len(parts[0]) != 1:
        raise WireError("not a reply of this protocol")
    length = _length(parts[1])
    if length > MAX_REPLY_BYTES:
        raise WireError("the reply is larger than %d bytes" % MAX_REPLY_BYTES)
    return parts[0], length


def _length(digits: bytes) -> int:
    # Python takes long for a number of thousands of digits, or refuses it in its own way.
    if not digits.isdigit() or len(digits) > MAX_DIGITS:
        raise WireError("not a length of this protocol")
    return int(digits)


def version_tuple(version: str) -> tuple[int, ...]:
    """Return a version such as `1.10.2` as a tuple that compares rightly; junk sorts first."""
    return tuple(int(part) if part.isdigit() else -1 for part in version.split("."))
