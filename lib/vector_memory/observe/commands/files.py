"""What would be deleted, and whether it matters: a build folder is made again, a folder of sources is not."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import takewhile

from vector_memory.observe.commands.command_line import Act, CommandLine
from vector_memory.observe.commands.findings import (
    DATA,
    DELETE,
    HIGH,
    LOW,
    OVERWRITE,
    CommandSurroundings,
    Finding,
)
from vector_memory.text.shell import ShellWord

MADE_AGAIN = frozenset(
    {
        "node_modules", "dist", "build", "target", "out", "__pycache__", ".pytest_cache", ".mypy_cache",
        ".ruff_cache", ".tox", ".nox", ".venv", "venv", ".next", ".nuxt", ".output", ".svelte-kit", ".turbo",
        ".parcel-cache", ".cache", ".gradle", ".angular", ".vite", "coverage", "htmlcov", ".nyc_output",
        ".coverage", "tmp", "temp", ".tmp", "_build", ".eggs", ".terraform", "DerivedData", "Pods", "obj",
        "storybook-static", "test-results", "playwright-report", ".hypothesis", ".serverless", ".sass-cache",
        ".dart_tool", ".ipynb_checkpoints", ".DS_Store", "bower_components", ".yarn/cache", ".pnpm-store",
        "elm-stuff", "_site", "zig-cache", "zig-out", ".zig-cache", ".stack-work", "dist-newstyle", ".bundle",
        ".webpack", ".rollup.cache", ".eslintcache", ".stylelintcache", ".docusaurus", ".vercel", ".netlify",
        ".aws-sam", "cdk.out", "site-packages", ".pytype", ".pyre", ".benchmarks", "cmake-build-debug",
        "cmake-build-release", "Debug", "Release", "CMakeFiles", "bazel-out", "generated", "__generated__",
        ".nx", "lcov.info", "junit.xml", "index.lock", "wheels", "sdist", ".scannerwork", "blob-report",
    }
)  # fmt: skip
"""Names of folders and files that tools make again."""
_MADE_AGAIN_LIKE = (
    "*.egg-info", "*.pyc", "*.pyo", "*.o", "*.obj", "*.class", "*.log", "*.tmp", "*.temp", "*.bak", "*.orig",
    "*.rej", "*.swp", "*~", "*.tsbuildinfo", "*.cache", "*.map", "*.aux", "*.gcda", "*.gcno", "*.profraw",
    "core.*", "tmp.*", "tmp-*", "tmp_*", "*.tmp.*", "cmake-build-*", "*_cache", "*-cache", ".coverage.*",
    "*.dSYM", "npm-debug.log*", "*.pid", "*.whl", "nohup.out", "*.d", "*.snap.new", "test-output", "*.lcov",
    "*.coverage", "*.prof", "*.trace", "*.tgz",
)  # fmt: skip
_LIKE = re.compile("|".join(fnmatch.translate(one) for one in _MADE_AGAIN_LIKE))
PLAIN_FILES = frozenset(
    {"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "poetry.lock", "Cargo.lock", "uv.lock", "Gemfile.lock",
     "composer.lock", "Pipfile.lock", "go.sum", "pdm.lock", "flake.lock", "bun.lockb", ".terraform.lock.hcl"}
)  # fmt: skip
"""Files that a package manager writes, and makes again."""
_CACHES = (
    ".cache",
    ".npm/_cacache",
    ".gradle/caches",
    ".m2/repository",
    "Library/Caches",
    ".cargo/registry",
    "go/pkg/mod/cache",
)
_DATABASES = (".db", ".sqlite", ".sqlite3", ".duckdb", ".mdb", ".rdb", ".ldb")
_SYSTEM = ("/etc", "/usr", "/var", "/bin", "/sbin", "/lib", "/boot", "/opt", "/root", "/home", "/sys", "/proc", "/srv",
           "/Users", "/System", "/Library", "/Applications", "/mnt", "/media", "/data")  # fmt: skip
_LIKELY_BUILD = re.compile(r"BUILD|DIST|OUT|CACHE|TARGET|COVERAGE|WORK|SCRATCH|TMP|TEMP", re.I)
_NAME_TESTS = ("-name", "-iname", "-path", "-wholename", "-ipath", "-g", "-e", "--extension")
_REMOVERS = ("rm", "unlink", "shred", "rmdir", "srm")
_RM_TAKES = "--interactive"


# -- places ----------------------------------------------------------------------------------------


def is_made_again(path: str, around: CommandSurroundings) -> bool:
    """Whether what lies at an absolute path is nobody's work: a build, a cache, a temporary file."""
    if not path:
        return False
    if around.is_scratch(path) or around.was_made(path):
        return True
    inner = around.within(path)
    parts = (inner if inner is not None else path.strip("/")).split("/")
    if inner is None:
        caches = (posixpath.join(around.home, one) for one in _CACHES)
        if any(path.startswith(one + "/") for one in caches):
            return True
        # Outside the project only names that can be nothing else.
        return any(
            _is_name_made_again(one) and one not in ("tmp", "out", "build", "target", "temp")
            for one in parts[2:]
        )
    return any(_is_name_made_again(one) for one in parts)


def _is_name_made_again(name: str) -> bool:
    name = name.rstrip("*") if name.rstrip("*") in MADE_AGAIN else name
    return name in MADE_AGAIN or _LIKE.match(name) is not None


def _judged(
    word: ShellWord, act: Act, line: CommandLine, recursive: bool
) -> tuple[str, str, str] | None:
    """Return (severity, why, target) of deleting what a word names; None where it does no harm."""
    around, text = line.around, word.text
    if act.elsewhere:
        return _elsewhere(text, recursive)
    if not word.plain:
        return _unknown(text, recursive)
    bare = text.rstrip("/") or "/"
    path = around.path(bare, act.folder)
    if not path:
        return HIGH, "It deletes a folder of another user.", text
    return _at(path, text, around, recursive, word.glob)


def _at(
    path: str, text: str, around: CommandSurroundings, recursive: bool, glob: bool
) -> tuple[str, str, str] | None:
    name = posixpath.basename(path)
    everything = name in ("*", ".*", "**", ".[!.]*", "*.*", ".??*") or path == "/*"
    place = posixpath.dirname(path) if everything else path
    matters = not is_made_again(place, around) and place not in ("/tmp", "/var/tmp")
    if everything and matters and (recursive or around.within(place) is not None):
        what = "the project's folder" if place == around.root else place
        return HIGH, f"It deletes everything in {what}.", place
    if place in ("/tmp", "/var/tmp"):
        return LOW, "It deletes the temporary files of other programs too.", place
    if place == "/" or around.root == place or around.root.startswith(place.rstrip("/") + "/"):
        return (HIGH, _whole(place, around), place) if recursive else None
    if place == around.home or place.count("/") == 1:
        return (HIGH, _whole(place, around), place) if recursive else None
    if name == ".git" or "/.git/" in path:
        if name.endswith(".lock") and "/.git/" in path:
            return None
        return HIGH, "It deletes git's own files: the history that is not pushed is lost.", place
    if is_made_again(place, around):
        return None
    return _kept(place, name, around, recursive, glob)


def _kept(
    path: str, name: str, around: CommandSurroundings, recursive: bool, glob: bool
) -> tuple[str, str, str] | None:
    """Judge what is likely to be somebody's work."""
    inner = around.within(path)
    if inner is None:
        why = "It deletes files outside the project."
        system = any(path.startswith(one + "/") for one in _SYSTEM) and not path.startswith(
            around.home + "/"
        )
        return (HIGH if recursive or system else LOW), why, path
    if recursive:
        if name in PLAIN_FILES:
            return None
        return HIGH, f"{inner} is no folder that is made again.", path
    if glob and name.startswith("*"):
        return LOW, f"It deletes every {name} in a folder of the project.", path
    return None


def _whole(path: str, around: CommandSurroundings) -> str:
    if path == around.root:
        return "It deletes the whole project."
    if path == around.home:
        return "It deletes the whole home folder."
    return f"It deletes all below {path}."


def _unknown(text: str, recursive: bool) -> tuple[str, str, str] | None:
    """Judge what nobody knows: a variable that the line does not set."""
    if not recursive:
        return None
    if text.startswith("/tmp/") or re.match(r"^[\w.~/-]*/(?:tmp|temp|cache|build|dist)/", text):
        return None
    variable = re.match(r"^\$\{?(\w+)", text)
    guarded = bool(re.match(r"^\$\{\w+:?\?", text))
    if variable and _LIKELY_BUILD.search(variable[1]):
        return (
            LOW,
            f"What it deletes depends on {variable[0].lstrip('${')}, which this line does not set.",
            text,
        )
    tail = text.rsplit("/", 1)[-1]
    if tail in MADE_AGAIN:
        return None
    if guarded or (variable and "/" not in text):
        return LOW, "What it deletes depends on a variable that this line does not set.", text
    if text.startswith(("$", "`")):
        return HIGH, "If the variable is empty, it deletes from the root of the disk.", text
    return HIGH, "What it deletes depends on something that is not in this line.", text


def _elsewhere(text: str, recursive: bool) -> tuple[str, str, str] | None:
    if (
        not recursive
        or text.startswith(("/tmp/", "/var/tmp/"))
        or _is_name_made_again(posixpath.basename(text.rstrip("/")))
    ):
        return None
    return HIGH, "It deletes a folder on another machine.", text


# -- commands --------------------------------------------------------------------------------------


def remove(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `rm` and its kin would delete."""
    if "find" in act.command.via or act.has("--help", "--version"):
        # `find` says of what.
        return
    recursive = act.has("-r", "-R", "--recursive") or act.name in ("rimraf", "trash-empty")
    words = act.operands(_RM_TAKES)
    made = _made_in(line, act)
    unnamed = act.command.via[-1:] == ("xargs",) or _reads_names(words, act)
    if unnamed:
        yield from _listed(act, line, recursive)
        words = [one for one in words if one.plain and "{}" not in one.text]
    for word in words:
        if act.command.via[-1:] == ("xargs",) and not unnamed:
            break
        path = line.around.path(word.text.rstrip("/"), act.folder) if word.plain else ""
        if path and _is_built_next(path, line):
            continue
        if path and (path in made or any(path.startswith(one + "/") for one in made)):
            continue
        found = _judged(word, act, line, recursive)
        if found:
            yield act.found(DELETE, found[0], found[1], found[2])
        elif (
            word.text.endswith(_DATABASES)
            and not is_made_again(path, line.around)
            and "test" not in word.text
        ):
            yield act.found(DATA, HIGH, "It deletes a database's file.", path or word.text)


_BUILDERS = {
    "hugo": ("public", "resources"), "gatsby": ("public",), "hexo": ("public",), "zola": ("public",), "mkdocs": ("site",),
    "eleventy": ("_site",), "antora": ("build",), "doxygen": ("html", "latex"), "typedoc": ("docs",), "swagger-codegen": ("gen",),
    "protoc": ("gen",), "buf": ("gen",),
}  # fmt: skip
"""What these programs make, in folders of names that elsewhere are people's work."""


def _is_built_next(path: str, line: CommandLine) -> bool:
    """Whether the line makes again what it deletes: `rm -rf public && hugo`."""
    parts = (line.around.within(path) or "").split("/")
    return any(
        not set(_BUILDERS[act.name]).isdisjoint(parts) for act in line.acts if act.name in _BUILDERS
    )


def _reads_names(words: Sequence[ShellWord], act: Act) -> bool:
    """Whether the words come from a loop over another command's output."""
    feeding = act.feeding
    return feeding is not None and feeding.name == "read"


def _made_in(line: CommandLine, act: Act) -> set[str]:
    """Return the paths that the line itself made before an act."""
    made: set[str] = set()
    for one in line.before(act):
        if one.name in ("mkdir", "touch"):
            made.update(
                line.around.path(word.text.rstrip("/"), one.folder)
                for word in one.operands("-m")
                if word.plain
            )
        elif one.name == "git" and one.args[:1] == ("clone",) and len(one.texts("-b --depth")) > 2:
            made.add(line.around.path(one.texts("-b --depth")[2], one.folder))
    return made - {"", line.around.root}


def _listed(act: Act, line: CommandLine, recursive: bool) -> Iterator[Finding]:
    """Judge what another command lists and this one deletes."""
    source = act.feeding
    while (
        source is not None
        and source.feeding is not None
        and source.name not in ("find", "fd", "ls")
    ):
        source = source.feeding
    if source is None:
        severity = HIGH if recursive else LOW
        yield act.found(DELETE, severity, "It deletes whatever a file lists.", act.what)
        return
    if source.name in ("find", "fd", "fdfind"):
        found = _searched(source, line)
        if found:
            yield act.found(DELETE, found[0], found[1], found[2])
        return
    if source.name in ("ls", "echo", "printf"):
        words = source.operands()
        judged = [_judged(one, source, line, recursive) for one in words]
        if words and not any(judged) and all("/" in one.text or one.glob for one in words):
            return
    severity = HIGH if recursive or source.name in ("grep", "rg", "cat", "awk") else LOW
    yield act.found(DELETE, severity, f"It deletes whatever `{source.name}` lists.", source.what)


def find(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `find` and `fd` would delete."""
    if act.command.via and act.command.via[-1] == "xargs":
        return
    removing = "-delete" in act.args
    for option in ("-exec", "-execdir", "-ok", "-x", "-X", "--exec", "--exec-batch"):
        if option in act.args:
            rest = act.args[act.args.index(option) + 1 :]
            name = posixpath.basename(rest[0]) if rest else ""
            script = " ".join(rest[:3])
            removing = (
                removing
                or name in _REMOVERS
                or (name in ("sh", "bash") and bool(re.search(r"\b(?:rm|shred|unlink)\b", script)))
            )
    if removing:
        found = _searched(act, line)
        if found:
            yield act.found(DELETE, found[0], found[1], found[2])


def _searched(act: Act, line: CommandLine) -> tuple[str, str, str] | None:
    """Judge the deletion of what `find` or `fd` finds."""
    around = line.around
    if "-empty" in act.args:
        return None
    names = [
        value for one, value in zip(act.args, act.args[1:], strict=False) if one in _NAME_TESTS
    ]
    roots: list[str] = []
    if act.name == "find":
        for one in act.words:
            if one.text.startswith(("-", "(", "!")):
                break
            roots.append(one.text if one.plain else "/unknown/" + one.text)
    else:
        names += [one.text for one in act.operands("-e --extension -t -d -x -X")[:1]]
        names = [
            "*." + one if one in act.args and act.value("-e", "--extension") == one else one
            for one in names
        ]
        roots = act.texts("-e --extension -t -d")[1:2]
    paths = [around.path(one, act.folder) for one in roots or ["."]]
    if act.elsewhere:
        return HIGH, "It deletes files on another machine.", " ".join(roots)
    if all(is_made_again(one, around) for one in paths):
        return None
    plain = [re.sub(r"^\*/|/\*$", "", one) for one in names]
    if plain and all(
        any(_is_name_made_again(part) for part in [one, *one.strip("/*").split("/")])
        for one in plain
    ):
        return None
    if all(one in ("/tmp", "/var/tmp") or is_made_again(one, around) for one in paths):
        return (
            (LOW, "It deletes the temporary files of other programs too.", " ".join(roots))
            if not names
            else None
        )
    told = " ".join(names) or "every file"
    severity = LOW if names and "-maxdepth" in act.args and act.value("-maxdepth") == "1" else HIGH
    return (
        severity,
        f"It deletes {told} below {' '.join(roots) or '.'}.",
        " ".join([*paths, *names]),
    )


def shred(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what is overwritten so that nobody can read it again."""
    for word in act.operands("-n -s --iterations --size"):
        path = line.around.path(word.text, act.folder)
        if not (word.plain and is_made_again(path, line.around)):
            yield act.found(DELETE, HIGH, "What is shredded cannot be restored.", path or word.text)


def truncate(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `truncate` would empty."""
    size = act.value("-s", "--size") or next(
        (one[2:] for one in act.args if re.match(r"^-s\d", one)), ""
    )
    if size.startswith("+"):
        return
    for word in act.operands("-s --size -r --reference"):
        path = line.around.path(word.text, act.folder)
        if not (word.plain and (is_made_again(path, line.around) or "/log" in path)):
            yield act.found(OVERWRITE, HIGH, "It cuts off a file's content.", path or word.text)


def rsync(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `rsync --delete` would delete."""
    removing = [one for one in act.options if one.startswith(("--delete", "--del"))]
    words = act.operands(
        "-e --rsh --exclude --include --exclude-from --include-from --filter -f --files-from --password-file"
    )
    if act.has("-n", "--dry-run") or len(words) < 2:
        return
    target = words[-1].text
    if removing:
        remote = ":" in target and not target.startswith(("/", "."))
        if remote or not is_made_again(
            line.around.path(target.rstrip("/"), act.folder), line.around
        ):
            yield act.found(
                DELETE, HIGH, "It deletes what the target has and the source has not.", target
            )
    elif act.has("--remove-source-files"):
        yield act.found(DELETE, LOW, "It deletes what was copied.", words[0].text)


def move(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `mv` would lose."""
    words = act.operands("-t --target-directory -S")
    if len(words) >= 2 and words[-1].text == "/dev/null":
        yield act.found(DELETE, HIGH, "What is moved there is gone.", words[0].text)


def emptied(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `cp /dev/null FILE` would empty."""
    words = act.operands("-t --target-directory -S -m -o -g")
    if len(words) == 2 and words[0].text == "/dev/null" and words[1].plain:
        path = line.around.path(words[1].text, act.folder)
        if path and not is_made_again(path, line.around) and "." in posixpath.basename(path):
            yield act.found(OVERWRITE, HIGH, "It empties a file.", path)


def powershell(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what `Remove-Item` and its kin would delete."""
    flags = {one.lower() for one in act.args}
    recursive = bool(flags & {"-recurse", "-r", "/s", "-force"}) and "-whatif" not in flags
    for word in act.operands():
        if word.text.startswith("/") and len(word.text) == 2:
            continue
        plain = word._replace(text=word.text.replace("\\", "/"))
        found = _judged(plain, act, line, recursive)
        if found:
            yield act.found(DELETE, found[0], found[1], found[2])


# -- scripts in a line -----------------------------------------------------------------------------

_SCRIPTED = re.compile(
    r"""(?:\brmtree|\brmSync|\bfs\.rm|\brm_rf|\brm_r|\bremove_dir_all|\bremove_tree|\brimraf(?:\.sync|Sync)?|\bRemoveAll|\bremoveSync|\bemptyDirSync)"""
    r"""(?:\s*\(\s*|\s+(?=["'%]))(?:["']([^"'\n]{1,200})["'])?"""
)
_SCRIPTED_SHELL = re.compile(
    r"""(?:os\.system|subprocess\.\w+|execSync|exec|system)\s*\(\s*["']([^"'\n]{1,300})["']"""
)


def scripted(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield what a script of Python, Node or Ruby in the line would delete."""
    for found in _SCRIPTED.finditer(script):
        if not found[1]:
            if "tempfile" not in script and "mkdtemp" not in script:
                yield act.found(
                    DELETE, LOW, "It deletes a folder that the script works out.", act.name
                )
            continue
        judged = _judged(ShellWord(found[1]), act, line, True)
        if judged:
            yield act.found(DELETE, judged[0], judged[1], judged[2])
    yield from _swept(act, script, line)


_ONE_FILE = re.compile(
    r"(?:\bos\.(?:remove|unlink)|\.unlink|\bunlinkSync|\bfs(?:\.promises)?\.unlink|\bFile\.(?:delete|unlink)|"
    r"\bFileUtils\.rm|\bunlink|\bDeno\.remove\w*|\bsend2trash)\b"
)
_MANY_FILES = re.compile(
    r"(?:\bglob\w*\s*\(\s*|\brglob\s*\(\s*|\bos\.walk\s*\(\s*|\blistdir\s*\(\s*|\bscandir\s*\(\s*|\breaddir\w*\s*\(\s*|"
    r"\biterdir\s*\(\s*|\bDir(?:\.glob|\.children|\.entries)?\s*[\[(]\s*)(?:[\"']([^\"'\n]{1,200})[\"'])?"
)
_ROOT = re.compile(r"\bPath\w*\s*\(\s*[\"']([^\"'\n]{1,200})[\"']")


def _swept(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield which files a script deletes one by one, as many as it comes across."""
    many = _MANY_FILES.search(script) if _ONE_FILE.search(script) else None
    if many is None or "tempfile" in script or "mkdtemp" in script:
        return
    folder, pattern = _ROOT.search(script), many[1] or ""
    path = line.around.path(
        posixpath.join(folder[1] if folder else "", pattern if pattern else "."), act.folder
    )
    parts = [part for part in path.split("/") if part]
    place = "/" + "/".join(takewhile(lambda part: "*" not in part, parts))
    swept = next((part for part in parts[-1:] if "*" in part), "")
    if is_made_again(place, line.around) or (swept and _is_name_made_again(swept)):
        return
    severity = HIGH if folder or pattern else LOW
    yield act.found(DELETE, severity, "It deletes every file that it comes across.", path)


def shell_in(script: str) -> list[str]:
    """Return the shell commands that a script of another language has run."""
    return [found[1] for found in _SCRIPTED_SHELL.finditer(script)]
