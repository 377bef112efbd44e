"""What is public stays whole, and a private key beside it goes. All keys are made up at run time."""

from __future__ import annotations

import base64
import random

import pytest

from vector_memory.redact import clean

_DICE = random.Random(11)
MARKS = {
    "rsa": bytes.fromhex("308204bd02010030"),
    "ec": bytes.fromhex("308187020100301306"),
    "ed25519": bytes.fromhex("302e020100300506"),
    "openssh": b"openssh-key-v1\0",
}
"""How private keys begin in DER, and that of ssh."""


def _lines(start: bytes, size: int = 600) -> list[str]:
    body = base64.b64encode(start + _DICE.randbytes(size)).decode()
    return [body[place : place + 64] for place in range(0, len(body), 64)]


def _block(name: str, lines: list[str]) -> str:
    return "\n".join([f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"])


def _value(size: int) -> str:
    return base64.b64encode(_DICE.randbytes(size)).decode()


CERTIFICATE = _block("CERTIFICATE", _lines(bytes.fromhex("308203153082")))


@pytest.mark.parametrize(
    "line_break", ["\n", "\\n", "\n    ", "\n> ", "\n+", "\n    12\t", '\\n" +\n  "']
)
@pytest.mark.parametrize("name", ["PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE", "CERTIFICATE REQUEST", "PGP PUBLIC KEY BLOCK"])  # fmt: skip
def test_public_blocks_stay(name: str, line_break: str) -> None:
    """However the lines are quoted, and whatever chance makes the words before them mean."""
    block = _block(name, _lines(bytes.fromhex("308203153082")))
    text = f"the API key of the release:\n{block}\nas told".replace("\n", line_break)
    assert clean(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        f"[Peer]\nPublicKey = {_value(32)}\nAllowedIPs = 10.0.0.0/8",
        f"  public key: {_value(32)}\n  pubkey: {_value(32)}",
        f'"public_key": "{_value(33)}"',
        f"STRIPE_PUBLISHABLE_KEY=pk_{'live'}_51{_DICE.randbytes(40).hex()}",
        f"deploy key: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{_value(32)[:43]} ci@build",
    ],
)  # fmt: skip
def test_public_keys_stay(text: str) -> None:
    """A name says that they are public, or their form does."""
    assert clean(text) == (text, 0)


@pytest.mark.parametrize("kind", MARKS)
@pytest.mark.parametrize("before", [CERTIFICATE, CERTIFICATE[:200]])
@pytest.mark.parametrize("name", ["PRIVATE KEY", "PUBLIC KEY", ""])
def test_a_private_key_beside_them_goes(kind: str, before: str, name: str) -> None:
    """Right behind a certificate, be it whole or cut off, and also where it is called public or nothing."""
    lines = _lines(MARKS[kind])
    text = clean(
        f"{before}\n{_block(name, lines) if name else chr(10).join(lines)}\nthe words behind"
    ).text
    assert not any(line in text for line in lines)
    assert text.startswith(before) and text.endswith("the words behind")


def test_a_secret_beside_them_goes() -> None:
    """Of a pair of keys the other one, and what stands among the lines of a block."""
    value = _value(32)
    for text in (f"PublicKey = {_value(32)}\nPresharedKey = {{}}", "public_key_secret = {}", _block("PUBLIC KEY", ["secret: {}"])):  # fmt: skip
        assert value not in clean(text.format(value)).text


def test_a_secret_within_them_goes() -> None:
    """What a header says, a name with its value among the lines, and what only looks like a key of ssh."""
    value = "Kx7" + "dR2vQ9" + "mTz4Wn"
    lines = _lines(bytes.fromhex("308203153082"))
    for text in (
        _block("PGP PUBLIC KEY BLOCK", ["Comment: login with password: {}", "", *lines]),
        _block("PUBLIC KEY", ["API_TOKEN={}", *lines]),
        _block("CERTIFICATE", [*lines[:4], "APITOKEN={}", *lines[4:]]),
        "password: ssh-x AAAA{}",
    ):
        cleaned = clean(text.format(value)).text
        assert value not in cleaned
        assert "PGP" not in text or all(line in cleaned for line in lines)


@pytest.mark.parametrize(
    "kind", ["ssh-rsa", "ssh-ed25519", "ssh-rsa-cert-v01@openssh.com", "ecdsa-sha2-nistp256", "sk-ssh-ed25519@openssh.com"]
)  # fmt: skip
def test_keys_of_ssh_stay(kind: str) -> None:
    """Of each kind that there is, whatever is called before them."""
    name = len(kind).to_bytes(4, "big") + kind.encode()
    key = base64.b64encode(name + _DICE.randbytes(200)).decode()
    text = f"the api token: {kind} {key} ci@build"
    assert clean(text) == (text, 0)


@pytest.mark.parametrize("name", ["NPM_PUB_TOKEN", "pub_password", "PUBLIC_PASSWORD", "hub_pub_secret"])  # fmt: skip
def test_only_keys_and_tokens_are_public_by_name(name: str) -> None:
    """A password is none, whoever may use it, nor is a token of what is called "pub"."""
    value = "Kx7" + "dR2vQ9" + "mTz4Wn"
    assert value not in clean(f"{name}={value}").text
    for public in ("sshPubKey", "PUBLISHABLE_KEY", "PUBLIC_TOKEN", "public key", "pub-key"):
        assert clean(f"{public}={value}").redactions == 0


@pytest.mark.parametrize(
    "behind",
    ["\n```\nThe words behind.", "\nThe words behind: none.", "\n</pre>\nDone", "\n\nlast"],
)
@pytest.mark.parametrize(
    "line_break", ["\n", "\n   ", "\n> ", "\n+", "\n    12\t", "\\n", "\\r\\n"]
)
@pytest.mark.parametrize("is_whole", [True, False])
def test_a_key_of_putty_goes_and_nothing_behind_it(
    behind: str, line_break: str, is_whole: bool
) -> None:
    """It ends with its last line, or, where that is cut off, with what is none of a key."""
    lines = _lines(b"", 150)
    head = [
        "PuTTY-User-Key-File-3: ssh-rsa",
        "Encryption: none",
        "Comment: anna@mint 2026",
        "Public-Lines: 4",
        *_lines(b"", 150),
    ]
    key = [*head, "Private-Lines: 4", *lines, *(["Private-MAC: " + "5e" * 32] if is_whole else [])]
    text = f"it is\n{line_break.join(key)}{behind}"
    assert clean(text).text == f"it is\n[redacted:private-key]{behind}"


@pytest.mark.parametrize(
    ("before", "behind"),
    [
        ("# ", ""),
        ("-", ""),
        ('  "', '",'),
        ("k.ppk:12:", ""),
        ("\t" * 13, ""),
        ("", " "),
        ("", "<br>"),
    ],
)
def test_a_key_of_putty_without_its_last_line_goes(before: str, behind: str) -> None:
    """Whatever its lines begin or end with; what stands behind it stays."""
    lines = _lines(b"", 192)
    head = [
        "PuTTY-User-Key-File-3: ssh-rsa",
        "Encryption: none",
        "Comment: anna",
        "Public-Lines: 4",
    ]
    key = [*head, *_lines(b"", 150), "Private-Lines: 4", *lines]
    text = clean("".join(f"{before}{line}{behind}\n" for line in key) + "The words, behind").text
    assert not any(line in text for line in lines) and text.endswith("\nThe words, behind")


@pytest.mark.parametrize("before", ["a.ppk:12:", "2026-05-01 app[12]: "])
def test_the_longest_key_of_putty_without_its_last_line_goes(before: str) -> None:
    """That of RSA with 16,384 bits has 150 lines."""
    lines = _lines(b"", 150 * 48)
    head = ["PuTTY-User-Key-File-3: ssh-rsa", "Encryption: none", "Public-Lines: 43"]
    text = clean("".join(f"{before}{line}\n" for line in [*head, *lines])).text
    assert len(lines) > 140
    assert not any(line in text for line in lines)


@pytest.mark.parametrize("head", ["ssh-rsa", "ssh-rsa` first", "see docs\nEncryption"])
def test_what_only_speaks_of_a_key_of_putty_stays(head: str) -> None:
    """Its first line, with words behind it, and a digest or a long path far below."""
    text = f"It begins with PuTTY-User-Key-File-3: {head}\nThen run it.\nNote: this stays."
    assert clean(text) == (text, 0)
    long = f"{text}\nWe use app@sha256:{'5e' * 32} and src/{'main/keys/' * 9}Reader\nDone."
    assert clean(long) == (long, 0)


def test_a_key_of_putty_that_is_cut_off_takes_nothing_far_behind_it() -> None:
    """Words may follow it without a blank line, with a digest at their end."""
    head = [
        "PuTTY-User-Key-File-3: ssh-rsa",
        "Encryption: none",
        "Comment: anna",
        "Public-Lines: 4",
    ]
    words = "The key above is cut off, and what follows speaks of something else.\n" * 12
    key = "\n".join([*head, *_lines(b"", 192)])
    text = clean(f"{key}\n{words}app@sha256:{'5e' * 32}\n").text
    assert text == f"[redacted:private-key]\n{words}app@sha256:{'5e' * 32}\n"
