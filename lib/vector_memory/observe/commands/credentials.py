"""Where credentials live, and what would show or change them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from vector_memory.observe.commands.command_line import MOST_WHAT, Act, CommandLine
from vector_memory.observe.commands.findings import (
    CREDENTIALS,
    HIGH,
    LOW,
    CommandSurroundings,
    Finding,
)

_EXAMPLE = re.compile(
    r"\.(?:example|sample|template|dist|tpl|defaults?|schema|md)$|example|sample|template|fixture|/testdata/|/mocks?/"
)
_ENV = re.compile(r"^\.env(?:rc)?(?:\..+)?$|^.+\.env$")
_FILES = frozenset(
    {".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".git-credentials", ".htpasswd", ".dockercfg",
     ".vault-token", ".terraformrc", ".s3cfg", ".boto", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "credentials.json",
     "secrets.yml", "secrets.yaml", "secrets.json", "master.key", "shadow", "sudoers", "client_secret.json",
     "application_default_credentials.json", "service-account.json", "service_account.json", "authorized_keys",
     ".secrets", "kubeconfig", "secrets.toml", "credentials.toml", "keystore.jks"}
)  # fmt: skip
_ENDINGS = (".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".kdbx", ".ppk")
_AT_HOME = (".ssh/", ".aws/credentials", ".aws/sso/", ".gnupg/", ".docker/config.json", ".kube/config", ".config/gcloud/",
            ".config/gh/hosts.yml", ".azure/", ".cargo/credentials", ".gem/credentials", ".terraform.d/credentials",
            "Library/Keychains/", ".config/op/", ".claude/.credentials.json", ".local/share/keyrings/", ".oci/")  # fmt: skip
_HARMLESS = re.compile(
    r"\.pub$|/known_hosts(?:\.old)?$|/\.ssh/config$|/\.ssh/?$|\.pub\.pem$|/(?:ca|cert|certs?|public|chain|fullchain|ca-bundle|cacert)\.(?:pem|key)$|-cert\.pem$|_pub\.pem$|public[\w-]*\.(?:pem|key)$|/node_modules/|/site-packages/|certifi"
)
_LESSER_ENV = re.compile(r"\.(?:test|testing|ci)$")

_PRINTERS = frozenset(
    {"cat", "less", "more", "head", "tail", "bat", "batcat", "nl", "tac", "xxd", "hexdump", "od", "strings", "base64",
     "sed", "awk", "cut", "sort", "jq", "yq", "column", "fold", "rev", "paste", "pr", "view", "openssl", "type", "get-content", "gc"}
)  # fmt: skip
_SEARCHERS = frozenset({"grep", "rg", "egrep", "fgrep", "ag", "ack"})
_SENDERS = frozenset(
    {"curl", "wget", "scp", "rsync", "nc", "ncat", "http", "ftp", "sftp", "gh", "aws", "socat", "telnet", "mail", "mailx",
     "mutt", "sendmail", "croc", "wormhole", "rclone", "gsutil", "netcat", "https", "xh", "lftp", "magic-wormhole"}
)  # fmt: skip
_PIPED_TO = _SENDERS - {"gh"}
_ARCHIVERS = frozenset({"tar", "zip", "7z", "cpio", "bsdtar", "gtar", "ditto"})
_ENVIRONMENT = frozenset({"env", "printenv", "export", "set", "declare"})
_FOLDERS = (
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".azure",
    ".config/gcloud",
    ".config/gh",
    ".docker",
    ".password-store",
)
_COPIERS = frozenset({"cp", "mv", "install", "ln"})
_SECRET_NAME = re.compile(
    r"\$\{?\w*(?:SECRET|TOKEN|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY|PRIVATE_KEY|CREDENTIALS?)\w*",
    re.I,
)
_LENGTH = re.compile(r"\$\{#|\$\{\w+:[+]|\$\{\w+:0:\d\}")


def sensitivity(path: str, around: CommandSurroundings) -> str:
    """Return how a file at an absolute path is to be taken: HIGH or LOW for credentials, "" for others."""
    path = path.rstrip("*")
    name = posixpath.basename(path)
    if not path or _EXAMPLE.search(name) or _HARMLESS.search(path):
        return ""
    if _ENV.match(name):
        return LOW if _LESSER_ENV.search(name) or name == ".envrc" else HIGH
    home = (
        path[len(around.home) + 1 :]
        if path.startswith(around.home + "/")
        else path.partition("/root/")[2]
    )
    if home and any(home.startswith(one) for one in _AT_HOME):
        return HIGH
    if name == ".npmrc" and around.within(path) is not None:
        return LOW
    if name == "shadow" or name == "sudoers":
        return HIGH if path.startswith("/etc/") else ""
    if name in _FILES:
        return HIGH
    if name.endswith(_ENDINGS):
        return LOW if "/test" in path or "/fixtures/" in path else HIGH
    return HIGH if "/.ssh/" in path or re.search(r"service[-_]account.*\.json$", name) else ""


def _sensitive(act: Act, line: CommandLine) -> Iterator[tuple[str, str]]:
    """Yield (severity, path) of the credentials that an act is given as words."""
    for one in act.words:
        text = one.text
        if not one.plain or not text or len(text) > 300 or " " in text:
            continue
        for part in dict.fromkeys(
            (text, text.partition("@")[2], text.rpartition(":")[2], text.partition("=")[2])
        ):
            if part and not part.startswith(("-", "http", "s/", "/^")):
                path = line.around.path(part, act.folder)
                found = sensitivity(path, line.around)
                if found:
                    yield found, path
                    break


def touched(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials an act shows, sends, changes or copies."""
    yield from _written(act, line)
    if act.name in _PIPED_TO and act.feeding is not None:
        yield from _sent(act, line)
    if act.name in _ARCHIVERS or act.name in _SENDERS or act.name in _COPIERS:
        severity = HIGH if act.name in ("scp", "rsync", "rclone", "sftp") else LOW
        yield from _each(
            act,
            [(severity, one) for one in _folders(act, line)],
            "It copies a folder of credentials.",
        )
    read = [
        (sensitivity(path, line.around), path)
        for sign, target in act.command.redirects
        if sign == "<" and (path := line.around.path(target.text, act.folder))
    ]
    paths = [*_sensitive(act, line), *(one for one in read if one[0])]
    if not paths or act.has("--help"):
        return
    name = act.name
    if name in _PRINTERS and not _is_quiet(act, line):
        yield from _each(act, paths, "It shows credentials.")
    elif name in _SEARCHERS and not act.has(
        "-q", "--quiet", "-c", "--count", "-l", "--files-with-matches", "-L"
    ):
        # The first word is what is searched for.
        searched = act.texts("-A -B -C -m -e -f --include --exclude")
        if "-e" in act.args or any(
            line.around.path(one, act.folder) == paths[0][1] for one in searched[1:]
        ):
            yield from _each(act, paths, "It shows credentials.")
    elif name in _SENDERS:
        yield from _each(act, paths, "It sends credentials to a server.") if name != "aws" else ()
    elif name in _COPIERS:
        yield from _copied(act, paths, line)
    elif name == "tee" or (name in ("rm", "unlink", "shred", "truncate")):
        verb = "writes" if name == "tee" else "deletes"
        yield from _each(act, paths, f"It {verb} credentials.")
    elif name == "ssh-keygen" and act.value("-f") and not act.has("-l", "-y", "-R", "-F", "-e"):
        yield from _each(
            act, [(LOW, one) for _, one in paths], "It writes a key, over one that may be there."
        )
    elif (
        name == "git"
        and act.args[:1] in (("show",), ("cat-file",))
        or read
        and (
            name in ("echo", "printf")
            or name == "read"
            and any(one.name in ("echo", "printf") for one in line.acts)
        )
    ):
        yield from _each(act, paths, "It shows credentials.")
    elif name == "git" and act.args[:1] == ("add",):
        yield from _each(act, paths, "It puts credentials under version control.")


def _folders(act: Act, line: CommandLine) -> Iterator[str]:
    """Yield the folders of credentials that an act is given as words."""
    for one in act.words:
        path = line.around.path(one.text, act.folder) if one.plain and len(one.text) < 300 else ""
        if path and any(path == f"{line.around.home}/{name}" for name in _FOLDERS):
            yield path


def _sent(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials come to a sender through a pipe: a file's, a folder's, the environment's."""
    source = act.feeding
    for _ in range(8):
        if source is None:
            return
        given = [path for _, path in _sensitive(source, line)] + list(_folders(source, line))
        if source.name in _ENVIRONMENT and not source.texts() and not source.command.redirects:
            given.append("environment")
        if given:
            yield from _each(
                act, [(HIGH, one) for one in given], "It sends credentials to a server."
            )
            return
        source = source.feeding


def _each(act: Act, paths: list[tuple[str, str]], why: str) -> Iterator[Finding]:
    for severity, path in paths:
        yield act.found(CREDENTIALS, severity, why, path)


def _is_quiet(act: Act, line: CommandLine) -> bool:
    """Whether a program that prints changes files in place, or prints what a next one only counts."""
    if act.name == "openssl":
        return (
            not act.has("-text") and act.args[:1] not in (("rsa",), ("pkey",)) or act.has("-noout")
        )
    if act.name == "sed" and act.has("-i", "--in-place"):
        return True
    if act.name in ("sed", "awk") and any(
        re.search(r"(?:=\.\*/=|\*{3}|REDACTED|print \$1\b|^s/=.*)", one) for one in act.args
    ):
        return True
    if act.name == "cut" and act.value("-f") == "1" or (act.name == "cut" and "-f1" in act.args):
        return True
    following = [one for one in line.acts if one.feeding is act]
    counting = {"wc", "sha256sum", "md5sum", "shasum", "cmp", "diff"}
    return any(
        one.name in counting
        or (one.name in _SEARCHERS and one.has("-q", "-c", "-l"))
        or (one.name == "cut" and ("-f1" in one.args or one.value("-f") == "1"))
        or (one.name in ("sed", "awk") and _is_quiet(one, line))
        for one in following
    )


def _copied(act: Act, paths: list[tuple[str, str]], line: CommandLine) -> Iterator[Finding]:
    words = act.texts("-t -m -o -g -S")
    target = line.around.path(words[-1], act.folder) if words else ""
    into = sensitivity(target, line.around)
    if (
        into
        and len(words) == 2
        and not sensitivity(line.around.path(words[0], act.folder), line.around)
    ):
        # `cp .env.example .env` is how a project is set up; over one that is there it destroys.
        severity = HIGH if line.around.exists(target) and not act.has("-n", "--no-clobber") else ""
        if severity:
            yield act.found(CREDENTIALS, severity, "It writes over credentials.", target)
        return
    yield from _each(act, [(LOW, path) for _, path in paths[:1]], "It copies or moves credentials.")


def _written(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials a redirection or an edit in place changes."""
    for sign, target in act.command.redirects:
        path = line.around.path(target.text, act.folder) if target.plain else ""
        found = sensitivity(path, line.around) if sign in (">", ">>", "&>", ">|", "&>>") else ""
        if found:
            severity = (
                LOW if sign in (">>", "&>>") and _ENV.match(posixpath.basename(path)) else found
            )
            yield act.found(CREDENTIALS, severity, "It writes credentials.", path)
    if act.name in ("sed", "perl") and any(
        re.match(r"^-\w*i", one) or one.startswith("--in-place") for one in act.args
    ):
        for found, path in _sensitive(act, line):
            yield act.found(CREDENTIALS, found, "It changes credentials.", path)


_QUOTED = re.compile(r"""["']([^"'\n]{3,200})["']""")
_PRINTS = re.compile(r"print|console\.log|puts\b|echo|stdout|requests\.|fetch\(|urlopen")


def scripted(act: Act, script: str, line: CommandLine) -> Iterator[Finding]:
    """Yield which credentials a script of another language in the line shows."""
    if not _PRINTS.search(script) or "dotenv" in script:
        return
    for found in _QUOTED.finditer(script):
        path = line.around.path(found[1], act.folder)
        sensitive = sensitivity(path, line.around) if " " not in found[1] else ""
        if sensitive:
            yield act.found(CREDENTIALS, sensitive, "It shows credentials.", path)


def is_consumed(act: Act, line: CommandLine) -> bool:
    """Whether another program takes what an act prints, so that nobody sees it."""
    taken = any(one.feeding is act and one.name not in _PRINTERS for one in line.acts)
    return taken or "$()" in act.command.via


def shown(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield which variables that hold a secret are printed."""
    if act.name in ("echo", "printf") and not act.command.redirects:
        for one in act.words:
            if (
                not one.plain
                and _SECRET_NAME.search(one.text)
                and not _LENGTH.search(one.text)
                and not is_consumed(act, line)
            ):
                yield act.found(CREDENTIALS, LOW, "It prints a secret.", one.text[:MOST_WHAT])
