"""How many secrets redaction takes out, what it takes out wrongly, and how long that takes.

    python benchmarks/redaction.py [--corpora DIR] [--transcripts DIR] [--quick] [--json]

DIR holds `secrets/credsweeper`, `secrets/detect-secrets`, `secrets/kingfisher`, `secrets/noseyparker` and `pii`,
as their projects publish them (see `secret_corpora.py`); without it a few made-up samples are used. What is
ordinary text see `ordinary_text.py`; all of it is measured, and the half that the table of letters was not
learned from apart. It needs no data home.
"""

from __future__ import annotations

import argparse
import base64
import html
import json
import os
import random
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from common import machine
from ordinary_text import UNSEEN, half_of, ordinary
from replay import read_lines
from secret_corpora import HELD_OUT, Label, labelled

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.redact import encoded, policy
from vector_memory.redact.automaton import Meter, ascii_of
from vector_memory.redact.blocks import find_blocks
from vector_memory.redact.echoes import find_echoes
from vector_memory.redact.normalise import folded, normalise
from vector_memory.redact.pairs import find_pairs
from vector_memory.redact.personal import find_personal
from vector_memory.redact.places import find_places
from vector_memory.redact.policy import Policy
from vector_memory.redact.random_values import find_randoms
from vector_memory.redact.shapes import find_shapes
from vector_memory.redact.spans import Span, merge_spans, without
from vector_memory.redact.unnamed import find_unnamed
from vector_memory.redact.wrapped import find_wrapped

STAGES = (
    "shapes",
    "blocks",
    "places",
    "names",
    "random values",
    "unnamed",
    "encodings",
    "echoes",
    "personal",
)
PLAIN = Policy()
WORD = "hX7" + "!q2Rz" + "9wT"
KEY = "AKIA" + "Q4" * 8
OWN: list[Label] = [
    (f'password = "{WORD}"', WORD),
    (f"export DB_PASSWORD={WORD}", WORD),
    (f"use {KEY} for it", KEY),
    (f"postgres://app:{WORD}@db/main", WORD),
    (f"Authorization: Bearer {'aB3dE5fG7hJ9' * 3}", "aB3dE5fG7hJ9" * 3),
    ("the password is open sesame", "open sesame"),
]


def staged(text: str, stages: int) -> tuple[str, int]:
    """Return a text redacted by the first so many stages alone, and how much went."""
    text, on = normalise(text), set(STAGES[:stages])
    meter = Meter(1 << 30)

    def plainly(words: str) -> list[Span]:
        read = folded(words)
        plain = ascii_of(read)
        found: list[Span] = []
        if "shapes" in on:
            found += find_shapes(read, plain, meter)
        if "blocks" in on:
            found += find_blocks(read, plain, meter)
        if "places" in on:
            found += find_places(read, plain, meter)
        if "names" in on:
            found += find_pairs(read, plain, meter)
        if "random values" in on:
            found += find_randoms(read, plain, meter)
        if "unnamed" in on:
            found += find_unnamed(read, plain, meter)
        if "personal" in on:
            for kind in policy.personal.DEFAULT:
                found += find_personal(kind, read, plain, meter)
        return found

    found = plainly(text)
    if "encodings" in on:
        found += encoded.find_encoded(text, ascii_of(text), plainly, meter)
    if "echoes" in on:
        found += [*find_wrapped(text, found), *find_echoes(text, found)]
    spans = merge_spans(found)
    return without(text, spans), len(spans)


DISGUISES: dict[str, Callable[[str], str]] = {
    "none": lambda s: s,
    "zero-width characters": lambda s: "\u200b".join(s),
    "soft hyphen": lambda s: s[:5] + "\u00ad" + s[5:],
    "bidirectional marks": lambda s: s[:5] + "\u202e" + s[5:],
    "ANSI colours": lambda s: s[:5] + "\x1b[31m" + s[5:],
    "controls, NUL": lambda s: s[:5] + "\x00\x08" + s[5:],
    "lone surrogate after it": lambda s: s + " \ud800",
    "full-width letters": lambda s: "".join(
        chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in s
    ),
    "base64": lambda s: base64.b64encode(s.encode()).decode(),
    "base64 on lines": lambda s: base64.encodebytes((s + " ").encode() * 12).decode(),
    "percent signs, all": lambda s: "".join(f"%{ord(c):02x}" for c in s),
    "JSON escapes, all": lambda s: "".join(f"\\u{ord(c):04x}" for c in s),
    "JSON in JSON": lambda s: json.dumps(json.dumps({"a": s})),
    "HTML entities, all": lambda s: "".join(f"&#{ord(c)};" for c in s),
    "quoted for addresses": urllib.parse.quote,
    "escaped for HTML": html.escape,
}


def evasions(count: int) -> list[dict[str, Any]]:
    """Return for each disguise how many of so many secrets, planted in ordinary words, are left."""
    chance, rows = random.Random(5), []
    forms = ('password="{}"', "token: {}", "https://me:{}@x.test/", "Authorization: Bearer {}")
    for name, disguise in DISGUISES.items():
        left = 0
        for _ in range(count):
            letters = "abcdefghkmnpqrstuvwxyzABCDEFGHKLMNPQRSTUVWXYZ23456789"
            value = "".join(chance.choice(letters) for _ in range(24)) + "7Q"
            hidden = disguise(chance.choice(forms).format(value))
            text = redact.clean(f"Deploy with\n{hidden}\nand go on.", PLAIN).text
            left += value in text or disguise(value) in text
        rows.append({"disguise": name, "planted": count, "left": left})
    return rows


def worst(size: int) -> Iterator[tuple[str, str]]:
    """Yield names and texts that are made to take long."""
    chance = random.Random(1)
    units = (
        [
            "a",
            "A" * 76 + "\n",
            "password=",
            "<private>",
            "-----BEGIN " + "PRIVATE KEY-----",
            "://a:",
        ]
        + [
            "\x1b[",
            "\x1b]",
            "eyJ",
            'token: "',
            "AKIA",
            "%41",
            "%41a",
            "\\u0041",
            "\\u0041 ",
            "&#65;",
        ]
        + ["&lt;", "%2525", "\\/", "4111 ", "4111 1111 1111 1111 ", "219-09-9999 ", "1", "ssn "]
        + ["DE89 3704 0044 0532 0130 00 ", "[", "(", '{"a":', "e\u0301\u0323", "\uff41", "\u0430"]
        + ["curl -u ", "key=aB3dE5fG7hJ9kL1mN2pQ ", "MIIEAgEA", "AAAAAAAAAA", "$krb5tgs$", "-us1"]
        + [
            "a1b2c3d4e5f6g7h8i9 ",
            "key a1b2c3d4e5f6g7h8i9\n",
            '"abcd" "efgh" ',
            "abcdefgh\\\n",
            "sha256:a1b2c3d4e5f6 ",
        ]
        + ["123e4567-e89b-12d3-a456-426614174000 ", "token a1b2c3d4e5f6g7h8\na1b2c3d4\n"]
        + [KEY + " ", f"password='{WORD}' ", "user=a\npassword=b\n", '"kty":', "a/b_", "\n"]
    )
    for unit in units:
        yield repr(unit)[:28], unit * (size // len(unit))
    told = (f"password={WORD} " * size)[: size * 27 // 64].encode()
    yield (
        "base64 of base64 of base64",
        base64.b64encode(base64.b64encode(base64.b64encode(told))).decode(),
    )
    yield "random base64", base64.b64encode(chance.randbytes(size * 3 // 4)).decode()
    yield "random hexadecimal", chance.randbytes(size // 2).hex()
    yield "random characters", "".join(chr(chance.randrange(0x110000)) for _ in range(size))


def slowest(size: int, count: int) -> list[dict[str, Any]]:
    """Return the inputs that take longest."""
    rows = []
    for name, text in worst(size):
        started, outcome = time.process_time(), "cleaned"
        try:
            redact.clean(text, PLAIN)
        except UnsafeTextError:
            outcome = "dropped"
        rows.append(
            {
                "input": name,
                "ms for 1 MB": round((time.process_time() - started) * 1e9 / len(text)),
                "outcome": outcome,
            }
        )
    return sorted(rows, key=lambda row: -row["ms for 1 MB"])[:count]


def curve(labels: dict[str, list[Label]], texts: list[str]) -> list[dict[str, Any]]:
    """Return, with one stage after another switched on, the share of values that go, and the hits in a
    megabyte of ordinary text."""
    megabytes = sum(len(text.encode("utf-8", "replace")) for text in texts) / 1e6
    rows = []
    for stages in range(1, len(STAGES) + 1):
        row: dict[str, Any] = {"with": "+ " + STAGES[stages - 1]}
        row |= shares(labels, lambda text, n=stages: staged(text, n)[0])  # type: ignore[misc]
        hits = sum(staged(text, stages)[1] for text in texts)
        rows.append({**row, "false hits/MB": round(hits / megabytes, 2)})
    row = {"with": "all, until nothing is left"}
    row |= shares(labels, lambda text: redact.clean(text, PLAIN).text)
    hits = sum(redact.clean(text, PLAIN).redactions for text in texts)
    return [*rows, {**row, "false hits/MB": round(hits / megabytes, 2)}]


def shares(labels: dict[str, list[Label]], cleaned: Callable[[str], str]) -> dict[str, Any]:
    """Return the share of values of each corpus that stand nowhere in their cleaned text."""
    row: dict[str, Any] = {}
    counts = {"in view": [0, 0], "held out": [0, 0]}
    for name, values in labels.items():
        known: dict[str, str] = {}
        for text, _ in values:
            if text not in known:
                known[text] = cleaned(text)
        gone = sum(value not in known[text] for text, value in values)
        row[f"{name} ({len(values)})"] = f"{gone / max(1, len(values)):.1%}"
        count = counts["held out" if name in HELD_OUT else "in view"]
        count[0] += gone
        count[1] += len(values)
    return row | {part: f"{gone / max(1, total):.1%}" for part, (gone, total) in counts.items()}


PII = {"CREDIT_CARD": "card", "US_SSN": "ssn", "IBAN_CODE": "iban", "EMAIL_ADDRESS": "email"}
PII["PHONE_NUMBER"] = "phone"


def personal_rows(corpora: str) -> list[dict[str, Any]]:
    """Return how much of each kind of labelled personal data goes, all kinds asked for."""
    path = os.path.join(corpora, "pii", "synth_dataset_v2.json")
    if not corpora or not os.path.isfile(path):
        return []
    counts = {kind: [0, 0] for kind in PII}
    everything = Policy((*policy.personal.DEFAULT, "email", "phone"))
    with open(path, encoding="utf-8") as file:
        samples = json.load(file)
    for sample in samples:
        text = redact.clean(sample["full_text"], everything).text
        for span in sample["spans"]:
            if span["entity_type"] in counts:
                count = counts[span["entity_type"]]
                count[0] += 1
                count[1] += span["entity_value"] not in text
    return [
        {"kind": PII[kind], "labelled": n, "gone": gone, "share": f"{gone / max(1, n):.0%}"}
        for kind, (n, gone) in counts.items()
    ]


def made_up(paths: Sequence[str]) -> list[dict[str, Any]]:
    """Return what goes of writers' texts (JSON lines: `text`, and `secret`, "" for none), and how many lose a word
    that holds none."""
    rows = []
    for path in paths:
        texts = read_lines(Path(path))
        cleaned = [(each.get("secret") or "", redact.clean(each["text"]).text) for each in texts]
        secret, plain = (
            [pair for pair in cleaned if bool(pair[0]) is is_one] for is_one in (True, False)
        )
        gone = sum(value not in text for value, text in secret)
        lost = sum("[redacted:" in text for _, text in plain)
        name = os.path.basename(path)
        rows.append({"texts": name, "with a secret": len(secret), "gone": gone, "without": len(plain), "of these cut": lost})  # fmt: skip
    return rows


def speed(groups: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the microseconds of processor time for a kilobyte of each kind of text."""
    for texts in groups.values():
        redact.clean(texts[0], PLAIN)
    rows = []
    for kind, texts in groups.items():
        started, hits, unseen = time.process_time(), 0, 0
        for text in texts:
            here = redact.clean(text, PLAIN).redactions
            hits, unseen = hits + here, unseen + here * (half_of(text) == UNSEEN)
        took = time.process_time() - started
        size = sum(len(text.encode("utf-8", "replace")) for text in texts)
        other = sum(len(text) for text in texts if half_of(text) == UNSEEN)
        rows.append(
            {
                "text": kind,
                "MB": round(size / 1e6, 2),
                "µs/KB": round(took / size * 1.024e9, 1),
                "false hits/MB": round(hits / size * 1e6, 2),
                "of the unseen half": round(unseen / max(1, other) * 1e6, 2),
            }
        )
    return rows


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print one table."""
    sys.stdout.write(f"\n{title}\n")
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [names, *[[str(row.get(name, "")) for name in names] for row in rows]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    for line in cells:
        sys.stdout.write(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            + "\n"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpora", default="", help="the folder of labelled corpora")
    parser.add_argument("--transcripts", default="", help="a folder of the client's transcripts")
    parser.add_argument("--made", nargs="*", default=[], help="texts with passwords made up")
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    groups = ordinary(0.2 if asked.quick else 3.0, asked.transcripts)
    labels = labelled(asked.corpora) or {"own": OWN}
    tables = {
        "Values taken out, one family of rules after another": curve(
            labels, [text for texts in groups.values() for text in texts]
        ),
        "Ordinary text": speed(groups),
        "Made up by writers": made_up(asked.made),
        "Disguises": evasions(10 if asked.quick else 100),
        "Personal data": personal_rows(asked.corpora),
        "The slowest inputs": slowest(100_000 if asked.quick else 1_000_000, 12),
    }
    if asked.json:
        sys.stdout.write(json.dumps({"machine": machine(), "tables": tables}) + "\n")
        return
    sys.stdout.write(" · ".join(f"{k} {v}" for k, v in machine().items()) + "\n")
    for title, rows in tables.items():
        if rows:
            show(title, rows)


if __name__ == "__main__":
    main()
