"""Which limits a call breaks that the user set."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence

from vector_memory.observe.commands.findings import CommandSurroundings
from vector_memory.observe.intent.changes import (
    BRANCH,
    COMMIT,
    DATABASE,
    EDIT,
    FILE_KINDS,
    GONE,
    INSTALL,
    MOVED,
    NETWORK,
    NEW,
    PUSH,
    REQUEST,
    CallView,
    FileChange,
)
from vector_memory.observe.intent.limit import (
    API,
    DEPENDENCIES,
    EVERYTHING,
    KEEP,
    NO_COMMENTS,
    NO_COMMIT,
    NO_DATABASE,
    NO_KIND,
    NO_NETWORK,
    NO_NEW,
    NO_PUSH,
    NO_READ,
    NO_REQUEST,
    NO_RUN,
    NO_SWITCH,
    NOT,
    ONLY,
    READ_ONLY,
    SELECT,
    Limit,
)

_KINDS = {
    "tests": re.compile(
        r"\b(?:pytest|vitest|jest|phpunit|rspec|tox|nox|ctest|go test|cargo (?:nextest|test)|mix test|dotnet test|mvn\b.*\btest|gradlew?\b.*\btest|make (?:test|check)|playwright test|cypress run|(?:npm|pnpm|yarn|bun)(?: run)? test\S*|unittest)\b"
    ),
    "migrations": re.compile(
        r"(?<![/\w])(?:db:migrate(?!:status)(?::\w+)?|migrate(?:up|:fresh|:refresh)?(?![/:\w.])(?!\s+(?:status|diff|--?list|--?plan|create|new|make))|alembic upgrade|ef database update|flyway migrate|goose up|dbmate up|sqlx migrate run|diesel migration run)"
    ),
    "build": re.compile(
        r"\b(?:(?:npm|pnpm|yarn|bun) run build\S*|cargo build|go build|make(?:$| build| all)|gradlew?\b.*\b(?:build|assemble)|mvn\b.*\b(?:package|install)|docker (?:buildx )?build|webpack|vite build|tsc\b(?!.*--noEmit))"
    ),
    "server": re.compile(
        r"\b(?:(?:npm|pnpm|yarn|bun)(?: run)? (?:dev|start|serve)|flask run|uvicorn|gunicorn|rails s(?:erver)?|manage\.py runserver|php artisan serve|next dev|vite(?:$| dev| --))"
    ),
    "deploy": re.compile(
        r"\b(?:deploy|(?:terraform|tofu|terragrunt)(?:\s+-\S+)*\s+(?:run-all\s+)?apply|kubectl apply|helm (?:upgrade|install)|cdk deploy|fly deploy|vercel(?:$| --prod)|serverless deploy)\b"
    ),
    "format": re.compile(
        r"\bprettier\b.*(?:--write|-w\b)|\b(?:black|isort|autopep8|yapf -i|rustfmt|dart format|mix format|swiftformat|ktlint -F|terraform fmt|cargo fmt|go fmt|stylua|rufo|php-cs-fixer fix|pint|biome (?:format|check) --(?:write|apply)|dprint fmt|clang-format -i|gofmt -w|goimports -w|ruff format|(?:eslint|stylelint|rubocop|ruff check)\b.*(?:--fix\b|\s-[aA]\b)|(?:npm|pnpm|yarn|bun)(?: run)? (?:format|fmt|prettier|lint:fix)\S*|make (?:format|fmt))"
    ),
}
_CHECKING = re.compile(r"--check\b|--diff\b|--dry-run\b|--list-different\b|\s-l\b")
_TEST_NAME = re.compile(
    r"(?:^|/)(?:tests?|__tests__|specs?|e2e)(?:/|$)|(?:^|/)(?:test_[^/]*|conftest\.py|[^/]*_test\.\w+|[^/]*[._-](?:test|spec)\.\w+)$"
)
_PLACES = {
    "migration": re.compile(r"(?:^|/)migrations?(?:/|$)|(?:^|/)alembic/versions/"),
    "fixture": re.compile(r"(?:^|/)(?:__)?fixtures?(?:__)?(?:/|$|\.)"),
    "snapshot": re.compile(r"(?:^|/)__snapshots__/|\.snap$|(?:^|/)snapshots?/"),
    "doc": re.compile(r"(?:^|/)docs?/"),
    "documentation": re.compile(r"(?:^|/)docs?/"),
    "changelog": re.compile(r"(?:^|/)changelog", re.IGNORECASE),
    "readme": re.compile(r"(?:^|/)readme", re.IGNORECASE),
    "lockfile": re.compile(r"(?:^|/)(?:package-lock\.json|[\w-]+\.lock|pnpm-lock\.yaml|go\.sum)$"),
    "workflow": re.compile(r"(?:^|/)\.github/workflows/|(?:^|/)\.gitlab-ci|(?:^|/)\.circleci/"),
    "ciworkflow": re.compile(r"(?:^|/)\.github/workflows/|(?:^|/)\.gitlab-ci|(?:^|/)\.circleci/"),
    "ciconfig": re.compile(r"(?:^|/)\.github/workflows/|(?:^|/)\.gitlab-ci|(?:^|/)\.circleci/"),
    "cipipeline": re.compile(r"(?:^|/)\.github/workflows/|(?:^|/)\.gitlab-ci|(?:^|/)\.circleci/"),
    "schema": re.compile(r"(?:^|/)schema\.\w+$"),
    "dockerfile": re.compile(r"(?:^|/)dockerfile", re.IGNORECASE),
    "makefile": re.compile(r"(?:^|/)makefile$", re.IGNORECASE),
}
_WRITES = re.compile(
    r"\b(?:insert\s+into|delete\s+from|update\s+\S+\s+set|drop\s+\w+|truncate|alter\s+\w+|create\s+\w+|merge\s+into)\b",
    re.IGNORECASE,
)
_TALK = (".md", ".rst", ".txt", ".adoc", ".json", ".html")
_COMMENT = re.compile(
    r"^\s*(?://|#(?!!|\s*(?:include|define|if|endif|else|pragma|import|\[))|/\*|<!--|--\s).*",
    re.MULTILINE,
)
_MANIFEST = re.compile(
    r"(?:^|/)(?:package\.json|pyproject\.toml|requirements[\w.-]*\.(?:txt|in)|Cargo\.toml|go\.mod|Gemfile|composer\.json|setup\.(?:py|cfg)|Pipfile|build\.gradle(?:\.kts)?|pom\.xml|mix\.exs)$"
)
_DEPENDENCY_LINE = re.compile(
    r"""^\s*(?:["']?(@?[\w./-]+)["']?\s*[:=]\s*["'{]?\s*[\^~>=<*v]*\s*\d|["']([\w.-]+)(?:\[[\w,]+\])?\s*[><=~!]=?|([\w.-]+)(?:\[[\w,]+\])?\s*[=><~]=\s*\d|gem\s+["']([\w-]+))"""
)
_NO_DEPENDENCY = frozenset(
    {
        "version",
        "python",
        "requires-python",
        "edition",
        "rust-version",
        "node",
        "npm",
        "target-version",
        "line-length",
        "go",
        "engines",
        "port",
    }
)
_SIGNATURE = re.compile(
    r"^\s*(?:export\s+(?:default\s+)?)?(?:pub(?:lic)?(?:\([\w:]+\))?\s+)?(?:static\s+)?(?:async\s+)?(?:def|function|fn|func(?:\s*\([^)]*\))?|class|interface|trait)\s+([A-Za-z]\w*)\s*(\([^{:]*)?",
    re.MULTILINE,
)


_MOVING = re.compile(r"\b(?:mov|renam)", re.IGNORECASE)
_PARTS = re.compile(r"&&|\|\||;|\n|\|")


_METHOD = re.compile(
    r"^\s*(?:public|protected|open|internal)\s+(?:(?:static|final|abstract|override|virtual|async|synchronized|suspend)\s+)*"
    r"(?:<[^>\n]*>\s*)?[\w<>\[\],.?]+(?:\s?[\w<>\[\],.?]+)*\s+(\w+)\s*(\([^)]*\))",
    re.MULTILINE,
)
"""A public method where types stand before names."""


def broken(
    limits: Sequence[Limit], view: CallView, around: CommandSurroundings
) -> Iterator[tuple[Limit, str, str]]:
    """Yield (limit, how, what) for each limit that a call breaks."""
    for limit in limits:
        for change in view.changes:
            how = _breaks(limit, change, around)
            if how:
                yield limit, how, change.path or change.what
                break
        else:
            how, what = _by_view(limit, view, around)
            if how:
                yield limit, how, what


def _by_view(limit: Limit, view: CallView, around: CommandSurroundings) -> tuple[str, str]:
    """Return how a whole call breaks a limit, and what it is about; "" if it does not."""
    if limit.kind == NO_RUN and view.command and _runs(view.command, limit.targets[0]):
        return f"it runs `{limit.targets[0]}`", limit.targets[0]
    if limit.kind == NO_KIND and view.command:
        kind = limit.targets[0]
        parts = [one for one in _PARTS.split(view.command) if _KINDS[kind].search(one)]
        if any(not _CHECKING.search(one) for one in parts):
            return f"it runs `{parts[0].strip()[:80]}`", kind
    if limit.kind == NO_READ:
        for path in view.named:
            inner = around.within(path)
            if inner and any(matches(one, inner) for one in limit.targets):
                return f"it opens {inner}", inner
    return "", ""


def _runs(command: str, forbidden: str) -> bool:
    parts = _PARTS.split(command)
    return any(one.strip() == forbidden or one.strip().startswith(forbidden + " ") for one in parts)


def _breaks(limit: Limit, change: FileChange, around: CommandSurroundings) -> str:
    """Return how a change breaks a limit, "" if it does not."""
    if change.kind not in FILE_KINDS:
        return _by_command(limit, change)
    inner = around.within(change.path)
    if inner is None:
        # Scratch files and the client's own notes are no part of the project.
        return ""
    if limit.kind == ONLY:
        return "" if any(matches(one, inner) for one in limit.targets) else f"it changes {inner}"
    if limit.kind == KEEP and change.what == MOVED and not _MOVING.search(limit.said):
        return ""
    if limit.kind == NOT or (limit.kind == KEEP and change.kind == GONE):
        return f"it changes {inner}" if any(matches(one, inner) for one in limit.targets) else ""
    if limit.kind == NO_NEW:
        return f"it makes {inner}" if change.kind == NEW else ""
    if limit.kind == READ_ONLY:
        return f"it changes {inner}"
    if limit.kind == DEPENDENCIES and change.kind == EDIT and _MANIFEST.search("/" + inner):
        added = _added(change, limit.targets)
        return f"it adds {added} to {inner}" if added else ""
    if limit.kind == NO_COMMENTS and change.after and not inner.endswith(_TALK):
        return f"it adds comments to {inner}" if _has_comments(change) else ""
    if limit.kind == API and change.kind == EDIT and change.before and not _TEST_NAME.search(inner):
        if limit.targets and not any(matches(one, inner) for one in limit.targets):
            return ""
        name = _changed_signature(change)
        return f"it changes the signature of {name} in {inner}" if name else ""
    return ""


def _by_command(limit: Limit, change: FileChange) -> str:
    if limit.kind == DEPENDENCIES and change.kind == INSTALL:
        name = re.split(r"[=<>~!@\[]", change.what.lower())[0]
        return "" if name in limit.targets else f"it installs {change.what}"
    if limit.kind == NO_NETWORK and change.kind in (INSTALL, NETWORK, PUSH):
        return f"it goes to the network: {change.what}"
    if limit.kind == NO_SWITCH and change.kind == BRANCH:
        return f"it goes to {change.what}"
    if limit.kind == SELECT and change.kind == DATABASE and _WRITES.search(change.after):
        return f"it writes with {change.what}"
    if limit.kind in (NO_COMMIT, READ_ONLY) and change.kind == COMMIT:
        return "it commits"
    if limit.kind == NO_DATABASE and change.kind == DATABASE:
        return f"it runs {change.what} against a database"
    if limit.kind == NO_REQUEST and change.kind == REQUEST:
        return "it opens a pull request"
    if limit.kind == NO_PUSH and change.kind == PUSH:
        named = change.what.replace(":", " ").replace("+", " ").split()
        return "it pushes" if not limit.targets or limit.targets[0] in named else ""
    return ""


def matches(target: str, inner: str) -> bool:
    """Whether a path within the project is what a limit's words name."""
    low = target.strip("/").removeprefix("./").lower()
    path = inner.lower()
    if low == EVERYTHING:
        return True
    if low in ("tests", "test", "specs"):
        return bool(_TEST_NAME.search(path))
    key = low.rstrip("s")
    if key in _PLACES:
        return bool(_PLACES[key].search(path))
    if "*" in low:
        return fnmatch.fnmatchcase(path, low) or fnmatch.fnmatchcase(path, low.rstrip("*") + "*")
    if (
        path == low
        or path.startswith(low + "/")
        or ("/" + path).endswith("/" + low)
        or f"/{low}/" in f"/{path}"
    ):
        return True
    # A module named without its ending, a package with dots.
    dotted = low.replace(".", "/")
    stem = path.rpartition(".")[0]
    return "/" not in low and (
        stem.rpartition("/")[2] == low or stem == dotted or stem.endswith("/" + dotted)
    )


def _has_comments(change: FileChange) -> bool:
    return not set(_COMMENT.findall(change.after)) <= set(_COMMENT.findall(change.before))


def _added(change: FileChange, allowed: Sequence[str]) -> str:
    def names(text: str) -> set[str]:
        found = (_DEPENDENCY_LINE.match(line) for line in text.splitlines())
        return {next(name for name in one.groups() if name) for one in found if one}

    new = names(change.after) - names(change.before) - _NO_DEPENDENCY - set(allowed)
    return sorted(new)[0] if new and change.before else ""


def _changed_signature(change: FileChange) -> str:
    """Return the public function that an edit takes away or gives other arguments, "" for none."""

    def of(text: str) -> dict[str, str]:
        return {
            found[1]: re.sub(r"\s", "", found[2] or "")
            for pattern in (_SIGNATURE, _METHOD)
            for found in pattern.finditer(text)
            if not found[1].startswith("_")
        }

    before, after_ = of(change.before), of(change.after)
    return next((name for name, arguments in before.items() if after_.get(name) != arguments), "")
