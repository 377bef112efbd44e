"""What would be dropped from a database by SQL, whatever program is given it. What clients and frameworks do by their
verbs stands in `rules.txt`, the statements, too."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.observe.commands import rules
from vector_memory.observe.commands.command_line import CommandLine
from vector_memory.observe.commands.findings import DATA, LOW, CallSite, Finding
from vector_memory.observe.commands.simple_command import Act
from vector_memory.observe.commands.words import WORDS

MOST_SQL = 65_536
_CLIENTS = WORDS["sql-client"]
_STATEMENT_OPTIONS = WORDS["sql-option"]
_FILE_CLIENTS = frozenset({"sqlite3", "duckdb", "litecli"})
_TALK = re.compile(r"--[^\n]*|/\*.*?\*/|^\s*[#\\.][^\n]*", re.DOTALL | re.MULTILINE)
"""Comments, and lines with what a client is told beside SQL, such as `\\c db`."""
_LITERAL = re.compile(r"'(?:[^'\\]|''|\\.)*'|\$\$.*?\$\$", re.DOTALL)
_WRITES = re.compile(
    r"(?:with\b.*\)\s*)?(?:insert\s+into|delete\s+from|update\s+\S+\s+set|drop\s+\w+|truncate|alter\s+\w+"
    r"|create\s+(?!temp)\w+|merge\s+into|replace\s+into)\b",
    re.IGNORECASE | re.DOTALL,
)
_STATEMENTS = ("DROP ", "TRUNCATE ", "DELETE FROM ")
_EXECUTED = re.compile(
    r"""\b(?:execute\w*|exec|query\w*|raw|\$\w*Raw\w*|run|unsafe|sql)\s*\(\s*(?:\w+\(\s*)?[rbf]?"""
    r"""(?:\"{3}(.*?)\"{3}|'{3}(.*?)'{3}|"([^"\n]*)"|'([^'\n]*)'|`([^`]*)`)""",
    re.DOTALL,
)


def in_sql(words: str, script: str) -> Iterator[Finding]:
    """Yield what SQL would destroy, statement by statement. `words`: those of the call."""
    statements = _statements(script)
    verbs = {statement.split()[0].upper() for statement in statements}
    if "ROLLBACK" in verbs and "COMMIT" not in verbs:
        return
    for statement in statements:
        for rule in rules.RULES["*sql"]:
            if match := rule.compiled.match(statement):
                if rule.conditions != "unlimited" or not _is_limited(statement):
                    why = rule.why.format(match[1].lower())
                    yield Finding(DATA, rule.severity, words, why, match[2].strip('"`[]'))
                break


def _statements(script: str) -> list[str]:
    """Return the statements of SQL, without comments and what stands in literals."""
    plain = _LITERAL.sub("''", _TALK.sub(" ", script[:MOST_SQL]))
    return [part.strip() for part in plain.split(";") if part.strip()]


def _is_limited(sql: str) -> bool:
    words, where, condition = " ".join(sql.upper().split()).partition(" WHERE ")
    is_always = condition.replace(" ", "").strip("()") in ("1=1", "TRUE", "1")
    return not is_always if where else " USING " in words


def executed(act: Act, script: str) -> Iterator[Finding]:
    """Yield what the SQL would destroy that a script of another language has run."""
    queries = [match[match.lastindex or 0] for match in _EXECUTED.finditer(script)]
    if queries and ":memory:" not in script and "rollback(" not in script:
        yield from in_sql(act.excerpt, ";".join(queries))


def judge(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what a client of a SQL database is told to destroy, or any program by a statement as a word of its own."""
    if act.name not in _CLIENTS:
        words = () if act.name in WORDS["textual"] else act.args
        for argument in (
            word.partition("=")[2] if word.startswith("--") else word for word in words
        ):
            # In small letters it may be talk.
            if argument.startswith(_STATEMENTS):
                yield from in_sql(act.excerpt, argument)
        return
    database = _database(act)
    path = file_of(act, line.site)
    if path and (":memory:" in path or line.site.is_scratch(path) or line.site.was_made(path)):
        return
    for script in scripts(act):
        for finding in in_sql(act.excerpt, script):
            yield finding._replace(severity=LOW) if rules.is_for_tests(database) else finding


def _database(act: Act) -> str:
    takes = "-c -e -h -p -U -u -P -f --command --host --port --username --user --file"
    return act.value("-d", "--dbname", "--database", "-D") or "".join(act.texts(takes)[:1])


def file_of(act: Act, site: CallSite) -> str:
    """Return the path of the file that a client opens, "" for what is no file here."""
    database = _database(act)
    is_file = act.name in _FILE_CLIENTS and not act.elsewhere and database
    return site.path(database, act.folder) if is_file else ""


def writes(act: Act) -> bool:
    """Whether a client is told to change what stays: not where it is asked to show or explain, what is undone, and what
    is temporary or in memory."""
    statements = [sql for script in scripts(act) for sql in _statements(script)]
    if ":memory:" in act.args or any(sql.lower().startswith("rollback") for sql in statements):
        return False
    return any(_WRITES.match(sql) for sql in statements)


def scripts(act: Act) -> Iterator[str]:
    """Yield the SQL that a client is given: in an option, a word, a here-document, another's output."""
    for place, text in enumerate(act.args):
        name, sign, assigned = text.partition("=")
        if name in _STATEMENT_OPTIONS and sign:
            yield assigned
        elif text in _STATEMENT_OPTIONS or _is_code(text):
            yield from act.args[place + 1 : place + 2]
    if act.name in ("sqlite3", "duckdb", "bq", "usql"):
        yield from [text for text in act.texts() if " " in text.strip()]
    yield from act.inputs()


def _is_code(option: str) -> bool:
    """Whether a statement stands behind an option: `-c`, `-Atqc`."""
    return option[:1] == "-" and option[1:].isalpha() and option[-1] in "ceQq"


_RULED = {
    program
    for program, program_rules in rules.RULES.items()
    if DATA in {rule.category for rule in program_rules}
}
PROGRAMS = (_CLIENTS | _RULED | {"createdb"}) - WORDS["package-manager"] - {"*sql", "*script"}
"""All that speaks to a database."""
