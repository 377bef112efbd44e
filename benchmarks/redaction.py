"""How many secrets redaction takes out, what it takes out wrongly, and how long that takes.

    python benchmarks/redaction.py [--corpora DIR] [--quick] [--json]

DIR holds `secrets/credsweeper`, `secrets/detect-secrets`, `secrets/noseyparker` and `pii`, as their
projects publish them; without it a few made-up samples are used. Ordinary text is the sources,
type stubs and metadata of installed packages, this repository's history as diffs, and a log of a test run. It needs
no data home.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import glob
import hashlib
import html
import json
import os
import random
import re
import subprocess
import sys
import sysconfig
import time
import urllib.parse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from common import ROOT, machine

from vector_memory import redact
from vector_memory.errors import UnsafeTextError
from vector_memory.redact import encoded, policy
from vector_memory.redact.automaton import Meter, ascii_of
from vector_memory.redact.blocks import find_keys, find_private
from vector_memory.redact.echoes import find_echoes
from vector_memory.redact.normalise import folded, normalise
from vector_memory.redact.pairs import find_pairs
from vector_memory.redact.personal import find_personal
from vector_memory.redact.places import find_places
from vector_memory.redact.policy import Policy
from vector_memory.redact.shapes import find_shapes
from vector_memory.redact.spans import Span, merged, without

Label = tuple[str, str]
"""A text and the value in it that must go."""
STAGES = ("shapes", "blocks", "places", "names", "encodings", "echoes", "personal")
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
            found += [*find_private(read), *find_keys(read, meter)]
        if "places" in on:
            found += find_places(read, plain, meter)
        if "names" in on:
            found += find_pairs(read, plain, meter)
        if "personal" in on:
            found += find_personal(read, plain, policy.personal.DEFAULT, meter)
        return found

    found = plainly(text)
    if "encodings" in on:
        found += encoded.find_encoded(text, ascii_of(text), plainly, meter)
    if "echoes" in on:
        found += find_echoes(text, found)
    spans = merged(found)
    return without(text, spans), len(spans)


def read_text(path: str) -> str:
    """Return a file's text in whichever encoding it is."""
    raw = Path(path).read_bytes()
    for encoding in ("utf-8", "utf-16"):
        with contextlib.suppress(UnicodeError):
            return raw.decode(encoding)
    return raw.decode("latin-1")


def credsweeper(folder: str) -> Iterator[Label]:
    """Yield the values that the samples' own expected output names, each in its whole file; a private key
    is named line by line, and counts once."""
    seen = set()
    with open(os.path.join(folder, "output.json"), encoding="utf-8") as file:
        candidates = json.load(file)
    for found in candidates:
        found["line_data_list"].sort(key=lambda line: -len(line["value"] or ""))
    for one in (
        line
        for found in candidates
        for line in found["line_data_list"][: 1 if "Private Key" in found["rule"] else None]
    ):
        path = one["path"].replace("./tests/samples", os.path.join(folder, "samples"))
        path, value = path.split("|")[0], one["value"]
        if value and os.path.isfile(path) and (path, value) not in seen:
            seen.add((path, value))
            yield read_text(path), value


def detect_secrets(folder: str) -> Iterator[Label]:
    """Yield the quoted and assigned values of the test files whose SHA-1 the baseline names."""
    with open(os.path.join(folder, "test_data", "baseline.file"), encoding="utf-8") as file:
        known = set(re.findall(r'"hashed_secret": "([0-9a-f]{40})"', file.read()))
    for path in glob.glob(os.path.join(folder, "test_data", "**", "*"), recursive=True):
        if not os.path.isfile(path) or path.endswith("baseline.file"):
            continue
        text = read_text(path)
        values = dict.fromkeys(re.findall(r"[^\s\"'=:,]{6,}|(?<=//)\w+:[^@\s]+", text))
        for value in values:
            plain = value.encode()
            if hashlib.sha1(plain).hexdigest() in known:
                yield text, value


GROUPS = {"mongodb": 1, "postgres": 1, "odbc": 1}


def noseyparker(folder: str) -> Iterator[Label]:
    """Yield the value that each rule of the category `secret` finds in its own examples; references
    (`$password`) and repetitions of one character are none."""
    try:
        import yaml
    except ImportError:
        sys.stderr.write("noseyparker is left out: it needs PyYAML\n")
        return
    for path in sorted(glob.glob(os.path.join(folder, "rules", "*.yml"))):
        for rule in yaml.safe_load(Path(path).read_text(encoding="utf-8"))["rules"]:
            try:
                pattern = re.compile(rule["pattern"])
            except re.error:
                continue
            if "secret" not in rule.get("categories", ()):
                continue
            for example in rule.get("examples", ()):
                if (found := pattern.search(example)) is None:
                    continue
                groups = [one for one in found.groups() if one] or [found.group()]
                place = next((n for name, n in GROUPS.items() if name in rule["id"]), -1)
                value = groups[place]
                if len(set(value)) > 3 and value[0] not in "$%":
                    yield example, value


def labelled(corpora: str) -> dict[str, list[Label]]:
    """Return the labelled values by the name of their corpus."""
    if not corpora:
        return {"own": OWN}
    found = {}
    for name, load in (
        ("credsweeper", credsweeper),
        ("detect-secrets", detect_secrets),
        ("noseyparker", noseyparker),
    ):
        folder = os.path.join(corpora, "secrets", name)
        if os.path.isdir(folder):
            found[name] = list(load(folder))
    return found


def ordinary(megabytes: float) -> dict[str, list[str]]:
    """Return ordinary text by its kind, at most so many megabytes of each."""
    chance = random.Random(3)
    site = sysconfig.get_paths()["purelib"]
    made: dict[str, list[str]] = {}
    for kind, pattern in (
        ("sources", "**/*.py"),
        ("stubs", "**/*.pyi"),
        ("metadata", "*.dist-info/METADATA"),
    ):
        paths = sorted(glob.glob(os.path.join(site, pattern), recursive=True))
        chance.shuffle(paths)
        made[kind] = list(_up_to(map(read_text, paths), megabytes))
    log = subprocess.run(
        [
            "git",
            "-C",
            str(ROOT),
            "log",
            "-p",
            "--no-color",
            "--",
            "lib",
            "docs",
            "scripts",
            "hooks",
        ],
        capture_output=True,
        check=False,
    ).stdout.decode("utf-8", "replace")
    made["diffs"] = list(_up_to(iter(log.split("\ndiff --git ")), megabytes))
    tests = [
        str(ROOT / "tests" / "unit"),
        f"--ignore={ROOT / 'tests/unit/redact'}",
        "--collect-only",
        "-vv",
        "-p",
        "no:cacheprovider",
    ]
    run = subprocess.run([sys.executable, "-m", "pytest", *tests], capture_output=True, check=False)
    made["logs"] = list(_up_to(iter([run.stdout.decode("utf-8", "replace")]), megabytes))
    return {kind: texts for kind, texts in made.items() if sum(map(len, texts)) > 10_000}


def _up_to(texts: Iterator[str], megabytes: float) -> Iterator[str]:
    size = 0.0
    for text in texts:
        if len(text) > 300_000:
            continue
        yield text
        size += len(text) / 1e6
        if size > megabytes:
            return


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
    gone_of_all = total = 0
    for name, values in labels.items():
        known: dict[str, str] = {}
        for text, _ in values:
            if text not in known:
                known[text] = cleaned(text)
        gone = sum(value not in known[text] for text, value in values)
        row[f"{name} ({len(values)})"] = f"{gone / max(1, len(values)):.1%}"
        gone_of_all, total = gone_of_all + gone, total + len(values)
    row["all"] = f"{gone_of_all / max(1, total):.1%}"
    return row


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


def speed(groups: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the microseconds of processor time for a kilobyte of each kind of text."""
    for texts in groups.values():
        redact.clean(texts[0], PLAIN)
    rows = []
    for kind, texts in groups.items():
        started, hits = time.process_time(), 0
        for text in texts:
            hits += redact.clean(text, PLAIN).redactions
        took = time.process_time() - started
        size = sum(len(text.encode("utf-8", "replace")) for text in texts)
        rows.append(
            {
                "text": kind,
                "MB": round(size / 1e6, 2),
                "µs/KB": round(took / size * 1.024e9, 1),
                "false hits/MB": round(hits / size * 1e6, 2),
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
    parser.add_argument("--quick", action="store_true", help="less of everything")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    asked = parser.parse_args()
    groups = ordinary(0.2 if asked.quick else 3.0)
    labels = labelled(asked.corpora)
    tables = {
        "Values taken out, one family of rules after another": curve(
            labels, [text for texts in groups.values() for text in texts]
        ),
        "Ordinary text": speed(groups),
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
