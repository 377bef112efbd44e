"""The words between a client and the daemon. It depends on nothing, so that both sides and every
Python from 3.9 agree on it, and it handles bytes only, since the hook's client does without json.

    request:   VM1 <verb> <body bytes> <client version>\n<body>
    replies:   <status> <body bytes>\n<body>        one or more, the last of them final

Statuses: `A` the answer (final), `E` an error (final), `O` the daemon is older than the client and
steps down (final), `P` progress and `I` an item of a stream (more follow).
"""

PROTOCOL = b"VM1"
MAX_REQUEST_BYTES = 16 * 1024 * 1024
MAX_HEADER_BYTES = 256

ANSWER = b"A"
ERROR = b"E"
OLD = b"O"
PROGRESS = b"P"
ITEM = b"I"
FINAL = (ANSWER, ERROR, OLD)

HOOK_VERB = "hook."
"""A hook's verb is this and its event; its body is the project's folder, NUL, and stdin's bytes."""


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


def parse_request_header(line: bytes) -> tuple[str, int, str]:
    """Return (verb, body bytes, client version) of a request's first line.

    Raises:
        WireError: it is no request of this protocol, or its body is too large.
    """
    parts = line.split()
    if len(parts) != 4 or parts[0] != PROTOCOL or not parts[2].isdigit():
        raise WireError("not a request of this protocol")
    length = int(parts[2])
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
        WireError: it is no reply of this protocol.
    """
    parts = line.split()
    if len(parts) != 2 or len(parts[0]) != 1 or not parts[1].isdigit():
        raise WireError("not a reply of this protocol")
    return parts[0], int(parts[1])


def version_tuple(version: str) -> tuple[int, ...]:
    """Return a version such as `1.10.2` as a tuple that compares rightly; junk sorts first."""
    return tuple(int(part) if part.isdigit() else -1 for part in version.split("."))
