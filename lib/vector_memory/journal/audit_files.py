"""Older entries of the audit log: files of JSON lines, gzipped, in `audit/` beside `state.db`.

Each is named `audit-YYYYMM-FIRST-LAST.jsonl.gz`, after the month of its last entry and the numbers in it,
and is never changed. The chain of digests goes through all of them into the table.
"""

from __future__ import annotations

import fnmatch
import gzip
import json
import os
import zlib
from collections.abc import Sequence

from vector_memory.errors import StoreDamagedError
from vector_memory.journal.audit import AuditRow, as_json
from vector_memory.journal.rows import moment
from vector_memory.system.durable_files import write_durably
from vector_memory.system.files import open_plain, with_real_folder
from vector_memory.system.unpacking import Unpacked

FOLDER = "audit"
MOST_BYTES = 128 << 20
"""Far more than one file of older entries holds."""
_MONTH = len("audit-202601-")
"""Behind the month the numbers begin, by which files are in order: a clock may go back."""
_DIGIT = "[0-9]"
_NAME_PATTERN = f"audit-{_DIGIT * 6}-{_DIGIT * 9}-{_DIGIT * 9}.jsonl.gz"


def write(folder: str, rows: Sequence[AuditRow]) -> str:
    """Write entries durably as a file of their own, and return its path.

    Raises:
        OSError: it cannot be written; then there is no such file.
    """
    os.makedirs(folder, mode=0o700, exist_ok=True)
    month = f"{moment(rows[-1].at):%Y%m}"
    name = f"audit-{month}-{rows[0].number:09d}-{rows[-1].number:09d}.jsonl.gz"
    path = os.path.join(folder, name)
    lines = "".join(json.dumps(_as_plain(row), separators=(",", ":")) + "\n" for row in rows)
    # Without the time of packing: the same entries make the same file. It has its name only when it is
    # whole and on the disk, and the name is there before the rows go.
    write_durably(path, gzip.compress(lines.encode("ascii"), mtime=0))
    return path


def files(folder: str) -> list[str]:
    """Return the paths of the files, in the order of their entries."""
    try:
        names = fnmatch.filter(os.listdir(folder), _NAME_PATTERN)
    except OSError:
        return []
    return [os.path.join(folder, name) for name in sorted(names, key=lambda name: name[_MONTH:])]


def read(path: str) -> list[AuditRow]:
    """Return a file's entries, in their order.

    Raises:
        StoreDamagedError: it cannot be read.
    """
    try:
        with open_plain(with_real_folder(path), packed=True) as file:
            lines = Unpacked(file, MOST_BYTES).read().decode("ascii").splitlines()
        return [_row(line) for line in lines]
    except (OSError, EOFError, zlib.error, ValueError, KeyError, TypeError) as error:
        raise StoreDamagedError(
            f"{path} cannot be read: {error}.",
            "Take it from a backup; the newer entries are there.",
        ) from error


def _as_plain(row: AuditRow) -> dict[str, object]:
    return {
        **row._asdict(),
        "ids": json.loads(row.ids),
        "detail": json.loads(row.detail),
        "previous": row.previous.hex(),
        "digest": row.digest.hex(),
    }


def _row(line: str) -> AuditRow:
    plain = json.loads(line)
    texts = {name: as_json(plain[name]) for name in ("ids", "detail")}
    digests = {name: bytes.fromhex(plain[name]) for name in ("previous", "digest")}
    return AuditRow(**{**plain, **texts, **digests})
