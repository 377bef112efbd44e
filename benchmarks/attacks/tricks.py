"""What a repository, another user, or an honest mistake gets done, in short; each in an installation of its
own, whose daemon is ended where it takes too long or too much.

`harmed` counts the tries after which something outside was written, read or removed, another project went
without its memory, or what should not be stored was.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import signal
import subprocess
import tarfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from common import ROOT

from attacks import disk
from attacks.house import House, Turn, house, talk, words
from vector_memory import errors, projects

NOBODY = 65_534
WAIT_S = 45.0
MOST_MB, MOST_S, MOST_DISK_MB = 1_500.0, 150.0, 1_000.0
BOMB_BYTES = 3 << 30


@dataclass
class Outcome:
    """What came of one trick's tries."""

    tried: int = 0
    harmed: int = 0
    detail: list[str] = field(default_factory=list)

    def add(self, harm: str) -> None:
        """Count a try; `harm` says what went wrong, "" for nothing."""
        self.tried += 1
        if harm:
            self.harmed += 1
            self.detail.append(harm)


class Watch:
    """Ends a house's daemon where it takes too much memory, time or disk; `why` says so."""

    def __init__(self, made: House, seconds: float = MOST_S) -> None:
        self.why = ""
        self.most_mb = 0.0
        self._made, self._until = made, time.monotonic() + seconds
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.2):
            pid = daemon_pid(self._made)
            size = sum(memory_mb(one) for one in family(pid)) if pid else 0.0
            self.most_mb = max(self.most_mb, size)
            if size > MOST_MB:
                self._end(pid, f"{size:.0f} MB of memory")
            elif time.monotonic() > self._until:
                self._end(pid, "too long")
                return
            elif _used_mb(self._made.home.root) > MOST_DISK_MB:
                self._end(pid, "disk filled")

    def _end(self, pid: int, why: str) -> None:
        self.why = self.why or why
        for one in family(pid) if pid else ():
            with contextlib.suppress(OSError):
                os.kill(one, signal.SIGKILL)


def daemon_pid(made: House) -> int:
    """Return the process that holds the data home's lock, 0 for none."""
    try:
        pid = int(Path(made.home.lock).read_bytes()[:32])
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return 0
    return pid if made.home.root.encode() in command or b"vector_memory" in command else 0


def family(pid: int) -> list[int]:
    """Return a process and its children."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return [pid]
    return [pid, *map(int, children)]


def memory_mb(pid: int) -> float:
    """Return what a process holds in memory, 0 where that cannot be told."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def _used_mb(folder: str) -> float:
    size = 0
    for here, below, names in os.walk(folder):
        below[:] = [one for one in below if one not in ("runtime", "models", "app", "pycache")]
        for name in names:
            with contextlib.suppress(OSError):
                size += os.lstat(os.path.join(here, name)).st_blocks * 512
    return size / 1e6


def end_session(
    made: House, cwd: str, text: str, variables: dict[str, str] | None = None, session: str = ""
) -> None:
    """Have a session in a project end, in which the user said something."""
    session = session or made.session()
    turns: list[Turn] = [
        ("user", text),
        ("assistant", [words("That is settled then: I will keep to it from now on.")]),
    ]
    name = re.sub(r"[^\w-]", "-", session[:36], flags=re.ASCII)
    path = made.transcript(cwd, name, talk(session, cwd, turns))
    common = {"session_id": session, "transcript_path": path}
    made.event("stop", cwd, variables, stop_hook_active=False, **common)
    made.event("session_end", cwd, variables, reason="other", **common)


def end_twice(made: House, cwd: str, text: str) -> None:
    """Have two sessions in a project end: one without a daemon, which the next one reads first of all, and one
    with it."""
    with made.alone():
        end_session(made, cwd, text)
    with contextlib.suppress(errors.VectorMemoryError):
        made.daemon.start()
    end_session(made, cwd, f"{text} So it is.")


def captured(made: House, cwd: str, word: str, wait_s: float = WAIT_S) -> bool:
    """Whether a word of a project's session is remembered before long."""
    until = time.monotonic() + wait_s
    while time.monotonic() < until:
        with contextlib.suppress(errors.VectorMemoryError):
            told = made.daemon.ask("list", {"project": cwd, "cwd": cwd, "k": 50}, timeout_s=5.0)
            if any(word in one["text"] for one in told["memories"]):
                return True
        time.sleep(0.3)
    return False


def others_served(made: House, watch: Watch, number: int) -> str:
    """Return "" if another project's session is remembered now and after a restart, else what is wrong."""
    cwd = made.folder(f"neighbour{number}")
    end_session(made, cwd, f"We decided to keep the ledger zqone{number} in SQLite, in WAL mode.")
    if not captured(made, cwd, f"zqone{number}"):
        return watch.why or "another project is not remembered any more"
    with contextlib.suppress(errors.VectorMemoryError):
        made.daemon.stop()
    end_session(made, cwd, f"We decided to keep the archive zqtwo{number} in SQLite, in WAL mode.")
    if not captured(made, cwd, f"zqtwo{number}"):
        return watch.why or "another project is not remembered after a restart"
    return watch.why


# -- links in a store --

KINDS = ("folder", "file", "hard link", "fifo", "device")
"""What stands in the place of an entry: a link to a folder or a file, another name of a file, what blocks."""


def linked_stores(linked: str, quick: bool) -> Outcome:
    """Replace entries below a trusted project's store, one after another, by what a pull can bring; then
    recall, capture, purge. What they lead to must be as it was."""
    outcome = Outcome()
    with house(linked) as made:
        cwd = _stored_project(made)
        store = Path(cwd, ".memory", "db")
        below = sorted(path.relative_to(store) for path in store.rglob("*"))
        chosen = [one for one in below if len(one.parts) <= 3]
        tries = [(Path("lance"), kind) for kind in KINDS[: 2 if quick else None]]
        tries += [
            (entry, KINDS[place % len(KINDS)])
            for place, entry in enumerate(chosen[: 2 if quick else 12])
        ]
        whole = Path(made.root, "whole")
        shutil.copytree(store, whole, symlinks=True)
        for entry, kind in tries:
            if kind == "device" and os.geteuid():
                continue
            shutil.rmtree(store)
            shutil.copytree(whole, store, symlinks=True)
            with Watch(made, 60.0) as watch:
                harm = _tampered(made, cwd, store / entry, kind)
            outcome.add(f"{entry} as {kind}: {harm or watch.why}" if harm or watch.why else "")
    return outcome


def _stored_project(made: House) -> str:
    cwd = made.folder("linked")
    made.cli("init", cwd)
    for number in range(12):
        made.ask(
            "remember",
            text=f"Hall {number} of the ledger holds zqhall {number} widgets.",
            project=cwd,
        )
    made.calm(60.0)
    made.daemon.stop()
    return cwd


def _tampered(made: House, cwd: str, entry: Path, kind: str) -> str:
    """Put something else in the place of a store's entry, use the store, and return what was harmed."""
    victim = Path(made.root, "victim")
    shutil.rmtree(victim, ignore_errors=True)
    (victim / "data").mkdir(parents=True)
    for name in ("thesis.txt", "data/journal.db", "notes.lance", "journal.db"):
        (victim / name).write_bytes(b"what nobody may touch zqhall\n" * 20)
    target = victim / "data" if kind == "folder" else victim / "thesis.txt"
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)
    entry.parent.mkdir(parents=True, exist_ok=True)
    if kind == "hard link":
        os.link(target, entry)
    elif kind == "fifo":
        os.mkfifo(entry)
    elif kind == "device":
        os.mknod(entry, 0o600 | 0o020000, os.makedev(5, 2))
    else:
        entry.symlink_to(target)
    before = _prints(victim)
    for arguments in (
        ("recall", "widgets of the hall"), ("remember", "Hall 99 holds zqhall 99 widgets."),
        ("check",), ("purge", "--text", "zqhall", "--yes"), ("daemon", "stop"),
    ):  # fmt: skip
        made.cli(*arguments, cwd=cwd, timeout_s=20.0)
    after = _prints(victim)
    gone, new = set(before) - set(after), set(after) - set(before)
    changed = [name for name in before if name in after and before[name] != after[name]]
    told = [("removed", gone), ("written", new), ("changed", changed)]
    return ", ".join(f"{what} {sorted(names)[:3]}" for what, names in told if names)


def _prints(folder: Path) -> dict[str, str]:
    """Return each file below a folder with a digest of what it holds."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*") if path.is_file()
    }  # fmt: skip


# -- what a project ships --


def strange_pages(linked: str, quick: bool) -> Outcome:
    """Ship what blocks whoever reads it as CLAUDE.md: one's own capture may go without, no other's."""
    outcome = Outcome()
    forms: dict[str, Callable[[Path], object]] = {
        "link to /dev/ptmx": lambda path: path.symlink_to("/dev/ptmx"),
        "FIFO": lambda path: os.mkfifo(path),
        "link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
        "link to /dev/tty": lambda path: path.symlink_to("/dev/tty"),
        "folder": lambda path: path.mkdir(),
        "file of 8 GB": _hole,
    }  # fmt: skip
    pages = ("CLAUDE.md", ".claude/CLAUDE.md")
    number = 0
    for name, make in list(forms.items())[: 2 if quick else None]:
        for page in pages[: 1 if quick else None]:
            number += 1
            with house(linked) as made, Watch(made) as watch:
                cwd = made.folder("strange")
                path = Path(cwd, page)
                path.parent.mkdir(exist_ok=True)
                make(path)
                end_twice(made, cwd, "We decided to keep the halls in a table of SQLite.")
                harm = others_served(made, watch, number)
            outcome.add(f"{page} is a {name}: {harm}" if harm else "")
    return outcome


def _hole(path: Path) -> None:
    with open(path, "wb") as file:
        file.truncate(8 << 30)


HOSTILE = {
    "/[a-z]/": ["/[a-z]/"],
    "/./": ["/./"],
    "/(?:)/": ["/(?:)/"],
    "/e*/": ["/e*/", "/r*/", "/d*/"],
    "/red|acted|rule/": ["/red|acted|rule/", "/\\[|\\]|:/"],
    "200 slow ones": ["/(a|b|c).{0,900}z0q$/"] * 200,
    "200 different slow ones": [f"/(a|b|c{n}).{{0,900}}z{n}q$/" for n in range(200)],
    "nested counts": ["/((a{0,100}){0,100}){0,10}z/"],
    "200 words of one letter": [chr(97 + n % 26) * (1 + n // 26) for n in range(200)],
}  # fmt: skip


def hostile_rules(linked: str, quick: bool) -> Outcome:
    """Ship rules that no text survives, or that take for ever."""
    outcome = Outcome()
    for number, (name, rules) in enumerate(list(HOSTILE.items())[: 1 if quick else None]):
        with house(linked) as made, Watch(made) as watch:
            cwd = made.folder("hostile")
            page = "# Us\n\n## Privacy\n" + "".join(f"- {rule}\n" for rule in rules)
            Path(cwd, "CLAUDE.md").write_text(page)
            text = (
                "We decided to keep the bookkeeping of each hall in SQLite because writers wait. "
                * 150
            )
            end_twice(made, cwd, text)
            harm = others_served(made, watch, 100 + number)
        outcome.add(f"{name}: {harm}" if harm else "")
    return outcome


def strange_sessions(linked: str, quick: bool) -> Outcome:
    """End sessions with names and transcripts that are none."""
    outcome = Outcome()
    names = {
        "lone surrogate": "a\ud800b",
        "NUL": "a\0b",
        "path": "../../../tmp/x",
        "long": "x" * 100_000,
    }
    paths = {
        "/proc/self/environ": "/proc/self/environ",
        "/dev/zero": "/dev/zero",
        "/dev/ptmx": "/dev/ptmx",
    }
    with house(linked) as made, Watch(made, 4 * MOST_S) as watch:
        cwd = made.folder("odd")
        for number, (name, session) in enumerate(names.items()):
            end_session(made, cwd, "We decided to count the halls on Mondays.", session=session)
            harm = others_served(made, watch, 200 + number)
            outcome.add(f"session id, {name}: {harm}" if harm else "")
        for number, (name, path) in enumerate(list(paths.items())[: 1 if quick else None]):
            for stem in ("stop", "session_end"):
                made.event(
                    stem, cwd, session_id=made.session(), transcript_path=path, reason="other"
                )
            harm = others_served(made, watch, 210 + number)
            outcome.add(f"transcript {name}: {harm}" if harm else "")
    return outcome


# -- archives --


class _Zeros:
    """A file of so many bytes of nothing."""

    def __init__(self, size: int) -> None:
        self._left = size

    def read(self, size: int = -1) -> bytes:
        """Return the next of them."""
        size = min(self._left, size if size >= 0 else self._left)
        self._left -= size
        return bytes(size)


def bombs(linked: str, quick: bool) -> Outcome:
    """Restore files that are small and hold gigabytes."""
    outcome = Outcome()
    size = BOMB_BYTES // (2 if quick else 1)
    with house(linked) as made:
        made.ask("remember", text="The ledger is kept in SQLite.", project=made.project)
        made.cli("backup")
        backups = [os.path.join(made.home.backups, name) for name in os.listdir(made.home.backups)]
        for name, path in (
            ("a part", _bomb(made, backups[0], size)),
            ("no backup", _plain_bomb(made, size)),
        ):
            with Watch(made, 60.0) as watch:
                done = made.cli("restore", path, "--yes", timeout_s=60.0)
            late = "too long" if done.returncode == 124 else ""
            harm = watch.why or late
            left = _used_mb(made.home.root)
            harm = harm or (f"{left:.0f} MB left behind" if left > 100 else "")
            outcome.add(f"{name}: {harm}" if harm else "")
            Path(path).unlink()
    return outcome


def _plain_bomb(made: House, size: int) -> str:
    path = os.path.join(made.root, "zeros.tar.gz")
    with gzip.open(path, "wb", compresslevel=6) as file:
        for _ in range(size >> 20):
            file.write(bytes(1 << 20))
    return path


def _bomb(made: House, backup: str, size: int) -> str:
    """Return a backup whose journal is a gigabyte of nothing, with a manifest that says so rightly."""
    path = os.path.join(made.root, "bomb.tar.gz")
    digest = hashlib.sha256()
    for _ in range(size >> 20):
        digest.update(bytes(1 << 20))
    with tarfile.open(backup) as old, tarfile.open(path, "w:gz", compresslevel=6) as new:
        for member in old.getmembers():
            content = old.extractfile(member)
            assert content is not None
            data = content.read()
            if member.name == "manifest.json":
                manifest = json.loads(data)
                store = next(name for name in manifest["files"] if name.endswith("journal.db"))
                manifest["files"][store] = {"size": size, "sha256": digest.hexdigest()}
                data = json.dumps(manifest).encode()
            info = tarfile.TarInfo(member.name)
            if member.name.endswith("journal.db"):
                info.size = size
                new.addfile(info, _Zeros(size))  # type: ignore[arg-type]
            else:
                info.size = len(data)
                new.addfile(info, io.BytesIO(data))
    return path


# -- other users and other places --


def others_git(linked: str, quick: bool) -> Outcome:
    """Lay a `.git` of another user above projects: it must not name them."""
    outcome = Outcome()
    if os.geteuid():
        return outcome
    with house(linked) as made:
        above = made.folder("shared")
        git = Path(above, ".git")
        git.mkdir()
        (git / "config").write_text(
            '[remote "origin"]\n\turl = https://git.example/victim/app.git\n'
        )
        (git / "HEAD").write_text("ref: refs/heads/main\n")
        for path in (git, git / "config", git / "HEAD"):
            os.chown(path, NOBODY, NOBODY)
        os.chmod(above, 0o1777)
        victim = made.folder("victim")
        Path(victim, ".git").mkdir()
        Path(victim, ".git", "config").write_text((git / "config").read_text())
        for name in ("one", "two", "one/deeper"):
            folder = made.folder(f"shared/{name}")
            place, theirs = projects.locate(folder), projects.locate(victim)
            outcome.add(
                f"{name} is taken for the project of the remote" if place.id == theirs.id else ""
            )
    return outcome


def others_home(linked: str, quick: bool) -> Outcome:
    """Name a data home that is another user's, is not there, or is no absolute path."""
    outcome = Outcome()
    with house(linked) as made:
        canary = Path(made.root, "canary")
        planted = Path(made.root, "theirs")
        _planted_home(planted, canary)
        tries: list[tuple[str, str, Sequence[str]]] = [
            ("relative", "relhome", ("list",)), ("relative, --help", "relhome", ("--help",)),
            ("not there, --help", os.path.join(made.root, "mistyped"), ("--help",)),
            ("not there", os.path.join(made.root, "mistyped"), ("list",)),
        ]  # fmt: skip
        if not os.geteuid():
            for path in [planted, *planted.rglob("*")]:
                os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
            tries = [
                ("another user's", str(planted), ("list",)),
                ("another user's, --help", str(planted), ("--help",)),
                *tries,
            ]
        for name, home, arguments in tries:
            cwd = made.folder(f"in {name.replace('/', '-')}")
            _bare_cli(made, home, arguments, cwd)
            there = os.path.exists(os.path.join(cwd, home)) and "another" not in name
            harm = (
                "their code ran"
                if canary.exists()
                else "it was made without asking"
                if there
                else ""
            )
            outcome.add(f"{name}: {harm}" if harm else "")
            canary.unlink(missing_ok=True)
            if there:
                shutil.rmtree(os.path.join(cwd, home), ignore_errors=True)
    return outcome


def _planted_home(home: Path, canary: Path) -> None:
    program = f"#!/bin/sh\necho ran >'{canary}'\n"
    for path in (home / "runtime/venv/bin/python", home / "runtime/hook-python"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(program)
        path.chmod(0o755)
    (home / "runtime/packages.json").write_text("{}")
    os.chmod(home.parent, 0o755)


def _bare_cli(made: House, home: str, arguments: Sequence[str], cwd: str) -> None:
    """Run the checkout's command line for a few seconds, without a network to install from."""
    variables = {"VECTOR_MEMORY_HOME": home, "UV_OFFLINE": "1", "PIP_NO_INDEX": "1", "http_proxy": "http://127.0.0.1:9",
                 "https_proxy": "http://127.0.0.1:9"}  # fmt: skip
    process = subprocess.Popen(
        ["/bin/sh", str(ROOT / "bin" / "vector-memory"), *arguments], cwd=cwd, start_new_session=True,
        env={**made.environment, **variables}, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        process.wait(6.0)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(OSError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def other_configuration(linked: str, quick: bool) -> Outcome:
    """Run sessions under another configuration of the client than the daemon's: its rules hold."""
    outcome = Outcome()
    with house(linked) as made:
        made.daemon.ask("status", {})
        other = os.path.join(made.root, "claude-work")
        os.mkdir(other)
        terms = [f"Nightjarzq{number}" for number in range(2 if quick else 10)]
        page = "## Privacy\n" + "".join(f"- {term}\n" for term in terms)
        Path(other, "CLAUDE.md").write_text(page)
        cwd = made.folder("work")
        for term in terms:
            variables = {"CLAUDE_CONFIG_DIR": other}
            made.event(
                "user_prompt_submit",
                cwd,
                variables,
                session_id=made.session(),
                prompt=f"Plan {term}, please.",
            )
            end_session(made, cwd, f"We decided to ship {term} in May, with the halls.", variables)
        made.calm(60.0)
        made.daemon.stop()
        found = _on_disk(made, terms)
        for term in terms:
            outcome.add(f"{term} in {sorted(found[term])[:2]}" if term in found else "")
    return outcome


def _on_disk(made: House, terms: Sequence[str]) -> dict[str, set[str]]:
    done = disk.search(
        [made.home.root],
        disk.Needles(terms),
        [made.home.path(name) for name in ("runtime", "models", "app")],
    )
    return done.found


def relative_exclusions(linked: str, quick: bool) -> Outcome:
    """Exclude a project as one would write it: either it is refused, or it holds."""
    outcome = Outcome()
    for number, form in enumerate(("{name}", "./{name}", "{parent}/../projects/{name}", "{path}/")):
        with house(linked) as made:
            cwd = made.folder(f"excluded{number}")
            parent = os.path.dirname(cwd)
            value = form.format(name=os.path.basename(cwd), parent=parent, path=cwd)
            done = made.cli("config", "set", "excluded_projects", json.dumps([value]), cwd=parent)
            if done.returncode:
                outcome.add("")
                continue
            word = f"zqshut{number}"
            end_session(made, cwd, f"We decided to keep {word} in the table of halls.")
            stored = captured(made, cwd, word, 6.0)
            outcome.add(f"{form} was accepted, and the project stored" if stored else "")
    return outcome


TRICKS: dict[str, Callable[[str, bool], Outcome]] = {
    "links and devices in a trusted store": linked_stores,
    "CLAUDE.md that is no page": strange_pages,
    "hostile privacy rules": hostile_rules,
    "session ids and transcripts that are none": strange_sessions,
    "archives that grow": bombs,
    ".git of another owner above": others_git,
    "data home of others, or of nobody": others_home,
    "rules of another configuration": other_configuration,
    "relative excluded_projects": relative_exclusions,
}


def run(
    linked: str, quick: bool, chosen: Sequence[str] = ()
) -> Iterator[tuple[str, Outcome, float]]:
    """Yield each trick's name, what came of it, and the seconds that it took."""
    for name, trick in TRICKS.items():
        if chosen and not any(one in name for one in chosen):
            continue
        started = time.monotonic()
        try:
            outcome = trick(linked, quick)
        except Exception as error:
            outcome = Outcome(1, 1, [f"the trick failed: {error!r}"])
        yield name, outcome, time.monotonic() - started
