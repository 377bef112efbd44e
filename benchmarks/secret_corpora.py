"""Labelled secrets of published corpora, in parts that rules are written by and parts that they are not."""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

Label = tuple[str, str]
"""A text and the value in it that must go."""

_PLACEHOLDER = re.compile(
    r"[$%<{\[].*|.*(?:example|placeholder|redacted|dummy|change_?me|your[-_ ]|my[-_]|xxx|\.\.\.|\*\*\*|0000000|1234567|abcdef).*",
    re.IGNORECASE | re.DOTALL,
)


def is_placeholder(value: str) -> bool:
    """Whether a labelled value is none that anybody was given: a reference, a word for "put yours here", a
    row of the same or of the next characters. Such are not counted."""
    return len(set(value)) <= 3 or bool(_PLACEHOLDER.fullmatch(value))


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


def issuer_half(rule: str) -> int:
    """Return in which half of Kingfisher's issuers a rule is, by its first word."""
    return hashlib.sha1(rule.split()[0].lower().encode()).digest()[0] & 1


def kingfisher(folder: str, half: int) -> Iterator[Label]:
    """Yield the values of one half of the issuers whose examples Kingfisher's rules bring."""
    with open(os.path.join(folder, "examples.jsonl"), encoding="utf-8") as file:
        for line in file:
            example = json.loads(line)
            if issuer_half(example["rule"]) == half and not example["made_up"]:
                for value in example["secrets"]:
                    yield example["text"], value


SPLITS = {
    "credsweeper": ("credsweeper", credsweeper),
    "noseyparker": ("noseyparker", noseyparker),
    "kingfisher, half": ("kingfisher", lambda folder: kingfisher(folder, 0)),
    "kingfisher, other issuers": ("kingfisher", lambda folder: kingfisher(folder, 1)),
    "detect-secrets": ("detect-secrets", detect_secrets),
}
"""The corpora: the first three were in view when the rules were written, the last two were not."""
HELD_OUT = ("kingfisher, other issuers", "detect-secrets")


def labelled(corpora: str) -> dict[str, list[Label]]:
    """Return the labelled values by their corpus, placeholders left out."""
    values = {}
    for name, (part, load) in SPLITS.items():
        folder = os.path.join(corpora, "secrets", part)
        if os.path.isdir(folder):
            values[name] = [label for label in load(folder) if not is_placeholder(label[1])]
    return values
