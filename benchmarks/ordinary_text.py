"""Ordinary text, in which nothing is secret: what of it redaction takes out it takes out wrongly."""

from __future__ import annotations

import glob
import json
import os
import random
import re
import subprocess
import sys
import sysconfig
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from common import ROOT
from secret_corpora import read_text

LEARNED, UNSEEN = 0, 1
"""Halves of the texts: one that the model of random values learns from, one that it does not see."""


def ordinary(
    megabytes: float,
    transcripts: str = "",
    half: int | None = None,
    of_transcripts: float | None = None,
) -> dict[str, list[str]]:
    """Return ordinary text by its kind, at most so many megabytes of each.

    Args:
        megabytes: of each kind.
        transcripts: a folder of the client's transcripts, if any.
        half: LEARNED or UNSEEN; by default both.
        of_transcripts: megabytes of these, by default as many as of any kind.
    """
    site = sysconfig.get_paths()["purelib"]
    library = sysconfig.get_paths()["stdlib"]
    made: dict[str, Iterable[str]] = {
        "sources": _files(os.path.join(site, "**/*.py"), os.path.join(library, "**/*.py")),
        "stubs": _files(os.path.join(site, "**/*.pyi")),
        "scripts": _files(os.path.join(site, "**/*.js"), os.path.join(library, "**/*.js")),
        "metadata": _files(os.path.join(site, "*.dist-info/METADATA")),
        "digests": _files(
            os.path.join(site, "*.dist-info/RECORD"), str(ROOT / "requirements/*.txt")
        ),
        "diffs": _diffs(),
        "commits": _git("log", "--raw", "--no-abbrev", "--stat").split("\n\ncommit "),
        "logs": [_test_log(), *_files("/var/log/*.log", "/var/log/apt/*.log")],
    }
    if transcripts:
        made["transcripts"] = _transcripts(transcripts)
    most = dict.fromkeys(made, megabytes) | {"transcripts": of_transcripts or megabytes}
    chosen = {
        kind: list(_up_to((text for text in texts if half in (None, half_of(text))), most[kind]))
        for kind, texts in made.items()
    }
    return {kind: texts for kind, texts in chosen.items() if sum(map(len, texts)) > 10_000}


def half_of(text: str) -> int:
    """Return in which half a text is, whatever its kind."""
    return zlib.crc32(text[:2_000].encode("utf-8", "replace")) & 1


def _files(*patterns: str) -> Iterator[str]:
    paths = sorted(path for one in patterns for path in glob.glob(one, recursive=True))
    random.Random(3).shuffle(paths)
    for path in paths:
        if os.path.isfile(path) and os.access(path, os.R_OK):
            yield read_text(path)


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments, "--no-color"]
    return subprocess.run(command, capture_output=True, check=False).stdout.decode(
        "utf-8", "replace"
    )


_OF_REDACTION = re.compile("/redact/|/data/(?:key|secret)_")
"""Diffs of the redactor itself talk of keys and passwords."""


def _diffs() -> list[str]:
    kept = _git("log", "-p", "--", "lib", "docs", "scripts", "hooks")
    return [text for text in kept.split("\ndiff --git ") if not _OF_REDACTION.search(text, 0, 200)]


def _test_log() -> str:
    ignored = f"--ignore={ROOT / 'tests/unit/redact'}"
    tests = [
        str(ROOT / "tests" / "unit"),
        ignored,
        "--collect-only",
        "-vv",
        "-p",
        "no:cacheprovider",
    ]
    run = subprocess.run([sys.executable, "-m", "pytest", *tests], capture_output=True, check=False)
    return run.stdout.decode("utf-8", "replace")


def _transcripts(folder: str) -> Iterator[str]:
    """Yield what people, the assistant and tools say in transcripts, each on its own."""
    for path in sorted(glob.glob(os.path.join(folder, "**/*.jsonl"), recursive=True)):
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue
                if isinstance(entry, dict):
                    yield from (text for text in _strings(entry.get("message")) if len(text) > 20)


_NO_TEXT = frozenset({"id", "uuid", "data", "signature", "tool_use_id"})


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in _NO_TEXT:
                yield from _strings(item)


def _up_to(texts: Iterator[str], megabytes: float) -> Iterator[str]:
    size = 0.0
    for text in texts:
        if len(text) > 300_000:
            continue
        yield text
        size += len(text) / 1e6
        if size > megabytes:
            return
