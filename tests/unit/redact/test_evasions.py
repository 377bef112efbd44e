"""No disguise of a secret keeps it: neither invisible characters nor one layer of an encoding."""

from __future__ import annotations

import base64
import html
import json
import random
import string
import urllib.parse
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vector_memory.redact import clean

KEY = "AKIA" + "Q4" * 8
WORD = "hX7" + "!q2Rz" + "9wT"
LINE = f'password="{WORD}"'
GITHUB = "ghp_" + "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA7b"


def _spelled(text: str, form: str) -> str:
    return "".join(form.format(ord(one)) for one in text)


DISGUISES: dict[str, Callable[[str], str]] = {
    "plain": lambda s: s,
    "zero width": lambda s: "\u200b".join(s),
    "soft hyphen": lambda s: s[:5] + "\u00ad" + s[5:],
    "bidi": lambda s: s[:5] + "\u202e\u2066" + s[5:],
    "variation selector": lambda s: s[:5] + "\ufe0f" + s[5:],
    "tags": lambda s: s[:5] + "\U000e0041" + s[5:],
    "colours": lambda s: s[:5] + "\x1b[31m" + s[5:] + "\x1b[0m",
    "link": lambda s: s[:5] + "\x1b]8;;https://x.test\x07" + s[5:],
    "controls": lambda s: s[:5] + "\x00\x08\x7f" + s[5:],
    "full width": lambda s: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in s),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 for addresses": lambda s: base64.urlsafe_b64encode(s.encode()).decode().rstrip("="),
    "base64 on lines": lambda s: base64.encodebytes((f"{s} " * 12).encode()).decode(),
    "percent": urllib.parse.quote,
    "percent, all": lambda s: _spelled(s, "%{:02x}"),
    "json": lambda s: json.dumps({"a": s}),
    "json twice": lambda s: json.dumps(json.dumps({"a": s})),
    "json, all": lambda s: _spelled(s, "\\u{:04x}"),
    "hexadecimal escapes": lambda s: _spelled(s, "\\x{:02x}"),
    "braced escapes": lambda s: _spelled(s, "\\u{{{:x}}}"),
    "entities": lambda s: html.escape(s),
    "entities, all": lambda s: _spelled(s, "&#{};"),
    "hexadecimal entities": lambda s: _spelled(s, "&#x{:x};"),
}


@pytest.mark.parametrize("secret", [KEY, LINE, f"token: {GITHUB}", f"postgres://app:{WORD}@db/x"])
@pytest.mark.parametrize("disguise", sorted(DISGUISES))
def test_disguises(disguise: str, secret: str) -> None:
    """A secret goes in every disguise, as it stands and as it reads."""
    hidden = DISGUISES[disguise](secret)
    text, count = clean(f"before {hidden} after")
    assert count >= 1
    assert text.startswith("before ") and text.endswith(" after")
    for value in (KEY, WORD, GITHUB):
        if value in secret:
            assert value not in text
            assert DISGUISES[disguise](value) not in text
            assert value not in html.unescape(urllib.parse.unquote(text))


@pytest.mark.parametrize("part", [0.3, 0.5, 0.8])
def test_escapes_in_the_midst(part: float) -> None:
    """A token of which only some characters are escaped is a token."""
    chance = random.Random(part)
    mixed = "".join(f"\\u{ord(c):04x}" if chance.random() < part else c for c in GITHUB)
    assert clean(f'{{"a": "{mixed}"}}').text == '{"a": "[redacted:github]"}'


def test_look_alike_letters() -> None:
    """Cyrillic and Greek letters that look Latin hide neither a name nor a key; words of theirs stay."""
    assert WORD not in clean("p\u0430ssw\u043erd = " + WORD).text
    assert clean(KEY.replace("A", "\u0410")).text == "[redacted:aws-key-id]"
    assert clean("\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440") == (
        "\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440",
        0,
    )


def test_echoes() -> None:
    """A value that was named once goes wherever it stands."""
    assert clean(f"{WORD} it is. password: {WORD}").text == (
        "[redacted:password] it is. password: [redacted:password]"
    )


def _drawn(chance: random.Random, size: int) -> str:
    """Return letters of both cases and digits, as random values have them."""
    while True:
        value = "".join(chance.choices(string.ascii_letters + string.digits, k=size))
        digits = sum(map(str.isdigit, value))
        if digits >= 2 and not value.islower() and not value.isupper():
            return value


BREAKS = ("\\\n", "\\\n    ", "\\\n> ", "\n", "\\ ", "\\\\ ", " ", '" + "', '" +\n  "', '\\" + \\"')
PLACES = (
    "{}", "- We use this one: {}", "- one\n  - nested: {}\n", "| a | {} |", "# Hall, {}\n\nwords", "> {}",
    "title: {}", "This came out:\n{}\nGo on.",
)  # fmt: skip


@pytest.mark.parametrize("broken", BREAKS)
@pytest.mark.parametrize("place", PLACES)
def test_broken_over_lines(broken: str, place: str) -> None:
    """A value that is broken over lines goes whole, also where the lines were folded to one."""
    chance = random.Random(f"{broken}{place}")
    for name in ('api_secret = "{}"', 'password: "{}"', 'token="{}"', '{{"client_secret": "{}"}}'):
        for _ in range(8):
            parts = _drawn(chance, 18), _drawn(chance, 18)
            secret = name.format(broken.join(parts))
            if broken.startswith('\\"'):
                secret = name.replace('"', '\\"').format(broken.join(parts))
            text = clean(place.format(secret)).text
            assert not [one for one in parts if one in text], (place.format(secret), text)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("fold", ["\n", " ", "\n> ", "\\n", '" +\n  "'])
def test_base64_broken_over_lines(fold: str, place: str) -> None:
    """Lines of base64 are read together, also where they were folded to one."""
    chance = random.Random(f"{fold}{place}")
    for size in range(18, 50):
        told = f'user = "app"\nhost = "db"\nport = 5432\npassword = "{_drawn(chance, size)}"\n'
        lines = base64.encodebytes(told.encode()).decode().split()
        text = clean(place.format(fold.join(lines))).text
        assert not [one for one in lines[1:] if one in text], (fold, place, size)


@pytest.mark.parametrize("size", [34, 60, 100])
@pytest.mark.parametrize(
    "form",
    [
        "dop_v1_{}", "npm_{}", 'token = "{}"', "https://api.example/v1/items?access_token={}",
        '{{"password": "{}', "Authorization: Bearer {}", "'secret': '{}",
    ],
)  # fmt: skip
def test_cut_by_the_end(form: str, size: int) -> None:
    """What the end of a text left of a value is one."""
    chance = random.Random(f"{form}{size}")
    left = size - form.index("{}") if "{}" in form else 0
    for _ in range(40 if left >= 16 else 0):
        value = "".join(chance.choices("0123456789abcdef", k=200))
        text = form.format(value)[:size]
        start = text.index(value[:16])
        assert text[start:] not in clean(text).text, text


@pytest.mark.parametrize("sign", "/-_")
def test_addresses_in_names(sign: str) -> None:
    """In the name of a file an address has another sign in place of its slashes."""
    chance = random.Random(sign)
    for form in ("postgres://app:{}@db.example:5432/main", "<a><secret>{}</secret></a>"):
        for size in range(12, 60):
            value = _drawn(chance, size)
            name = form.format(value).replace("/", sign)
            assert value not in clean(f"/home/me/notes/{name}.md").text, name


def test_ordinary_encoded_text_stays() -> None:
    """What is encoded and no secret is left as it was written."""
    for text in (
        base64.b64encode(b"The quick brown fox jumps over the lazy dog").decode(),
        "see %2Fhome%2Fme%2Fsrc and caf\\u00e9",
        "a &lt;b&gt; c &amp;&amp; d",
        "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
        '{\\"path\\": \\"src/app.py\\"}',
    ):
        assert clean(text) == (text, 0)


@pytest.mark.parametrize("tag", ["private", "PRIVATE", "Private x=1"])
@pytest.mark.parametrize(
    "form", ["<{}>", "&lt;{}&gt;", "%3C{}%3E", "\\u003c{}\\u003e", "\uff1c{}\uff1e"]
)
def test_private_blocks_encoded(tag: str, form: str) -> None:
    """A private block is one in every encoding, over lines, and unclosed to the end."""
    assert "inner" not in clean(f"a {form.format(tag)}inner\ninner").text
    closed = clean(f"a {form.format(tag)}inner\ninner{form.format('/private')} b").text
    assert "inner" not in closed and closed.endswith(" b")


@settings(max_examples=150)
@given(
    st.text(alphabet=st.sampled_from("ab c.\n\"'=/:<>-_\u200b\u0430\u65e5"), max_size=60),
    st.text(alphabet=st.sampled_from(" \n\"'(),;"), min_size=1, max_size=3),
    st.sampled_from([KEY, GITHUB, LINE]),
    st.sampled_from(sorted(DISGUISES)),
)
def test_planted_anywhere(around: str, edge: str, secret: str, disguise: str) -> None:
    """Wherever and however a secret is planted, its value is gone, and cleaning again changes nothing."""
    hidden = DISGUISES[disguise](secret)
    once = clean(around + edge + hidden + edge + around)
    value = WORD if secret == LINE else secret
    assert value not in once.text
    assert DISGUISES[disguise](value) not in once.text
    assert clean(once.text) == (once.text, 0)
