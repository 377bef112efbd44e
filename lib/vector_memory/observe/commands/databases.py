"""What would be dropped from a database: by SQL, by a client's own commands, by a framework's tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from vector_memory.observe.commands import rules
from vector_memory.observe.commands.command_line import Act, CommandLine
from vector_memory.observe.commands.findings import DATA, HIGH, LOW, Finding
from vector_memory.text.shell import SHELLS

SQL_CLIENTS = frozenset(
    {"psql", "mysql", "mariadb", "sqlite3", "duckdb", "sqlcmd", "clickhouse-client", "snowsql", "cqlsh", "pgcli",
     "mycli", "litecli", "usql", "cockroach", "bq", "trino", "presto", "beeline", "sqlplus", "isql", "spark-sql",
     "hive", "impala-shell", "vsql", "sqlline", "nzsql", "bteq", "tsql", "clickhouse", "chdb", "tidb", "ysqlsh"}
)  # fmt: skip
MONGO_CLIENTS = frozenset({"mongosh", "mongo"})
REDIS_CLIENTS = frozenset({"redis-cli", "valkey-cli"})
_STATEMENT_OPTIONS = frozenset(
    {"-c", "--command", "-e", "--execute", "-Q", "-q", "--query", "--eval", "--sql"}
)
MOST_SQL = 65_536

_TALK = re.compile(r"--[^\n]*|/\*.*?\*/|^\s*[#\\.][^\n]*", re.DOTALL | re.MULTILINE)
"""Comments, and lines with what a client is told beside SQL, such as `\\c db`."""
_LITERAL = re.compile(r"'(?:[^'\\]|''|\\.)*'|\$\$.*?\$\$", re.DOTALL)
_NAME = r"\s+(?:(?:CONCURRENTLY|IF\s+EXISTS|ONLY)\s+)*([\w.\"`\[\]{}$-]+)"
_MAYBE = _NAME.replace("]+", "*]*")
_DESTRUCTIVE = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), severity, why)
    for pattern, severity, why in (
        (r"DROP\s+(VIEW|INDEX|FUNCTION|PROCEDURE|TRIGGER|USER|ROLE|CONSTRAINT|EXTENSION|TYPE)" + _MAYBE,
         LOW, "It drops a {} with what is in it."),
        (r"DROP\s+(TABLE|DATABASE|SCHEMA|COLLECTION|KEYSPACE|OWNED|TABLESPACE|MATERIALIZED VIEW|SEQUENCE|PARTITION)" + _MAYBE,
         HIGH, "It drops a {} with what is in it."),
        (r"(TRUNCATE)(?:\s+TABLE)?" + _NAME, HIGH, "It empties a table."),
        (r"(?:WITH\b.*?\)\s*)?(DELETE)\s+FROM" + _NAME, HIGH, "Without a condition it deletes every row."),
        (r"(UPDATE)" + _NAME + r"\s+(?:AS\s+\w+\s+)?SET\b", HIGH, "Without a condition it changes every row."),
        (r"(ALTER)\s+TABLE" + _NAME + r".*?\bDROP\s+(?:COLUMN\s+)?(?!CONSTRAINT|INDEX|DEFAULT|NOT|KEY|FOREIGN|PRIMARY)",
         HIGH, "It drops a column with what is in it."),
        (r"()(GRANT\s+.{1,200}?\sTO\s+PUBLIC\b|ALTER\s+(?:USER|ROLE)\s+\S+\s.*?\bSUPERUSER\b)",
         HIGH, "It gives rights to everybody, or all rights to one."),
    )
)  # fmt: skip
"""How a statement begins that destroys something: what, and its name."""
_WHERE = re.compile(r"\bWHERE\b(.*)", re.IGNORECASE | re.DOTALL)
_ALWAYS = re.compile(
    r"^\s*\(?\s*(?:1\s*=\s*1|true|1|'?\w'?\s*=\s*'?\w'?(?<=1=1))\s*\)?\s*$", re.IGNORECASE
)
_MONGO = re.compile(
    r"\bdropDatabase\s*\(|\.drop\s*\(\s*\)|\.(?:deleteMany|remove|deleteOne)\s*\(\s*(?:\{\s*\}\s*)?[,)]|\.dropUser\(",
    re.IGNORECASE,
)
_KEYS = {"flushall", "flushdb"}


def in_sql(what: str, script: str) -> Iterator[Finding]:
    """Yield what SQL would destroy, statement by statement. `what`: the words of the call."""
    plain = _LITERAL.sub("''", _TALK.sub(" ", script[:MOST_SQL]))
    statements = [one.strip() for one in plain.split(";") if one.strip()]
    words = [one.split()[0].upper() for one in statements]
    if "ROLLBACK" in words and "COMMIT" not in words:
        return
    for one in statements:
        yield from _statement(what, one)


def _statement(what: str, sql: str) -> Iterator[Finding]:
    for pattern, severity, why in _DESTRUCTIVE:
        if found := pattern.match(sql):
            if not (why.startswith("Without") and _is_limited(sql)):
                name = found[2].strip('"`[]')
                yield Finding(DATA, severity, what, why.format(found[1].lower()), name)
            return


def _is_limited(sql: str) -> bool:
    where = _WHERE.search(sql)
    return not _ALWAYS.match(where[1]) if where else bool(re.search(r"\bUSING\b", sql, re.I))


_EXECUTED = re.compile(
    r"""\b(?:execute\w*|exec|query\w*|raw|\$\w*Raw\w*|run|unsafe|sql)\s*\(\s*(?:\w+\(\s*)?[rbf]?"""
    r"""(?:\"{3}(.*?)\"{3}|'{3}(.*?)'{3}|"([^"\n]*)"|'([^'\n]*)'|`([^`]*)`)""",
    re.DOTALL,
)


_STRING = re.compile(r"\"[^\"\n]*\"|'[^'\n]*'")
_METHOD = re.compile(
    r"\.\s*(?:drop_all|drop_tables?|dropDatabase|drop_database|delete_all|destroy_all|flushall|flushdb|flushAll|truncate_all)\s*(?:\(|$|[;\s])"
    r"|\.objects\.all\(\)\s*\.delete\(|\bdelete_?[mM]any\s*\(\s*(?:\{\s*\}\s*)?\)|\bsync\s*\(\s*\{\s*force:\s*true"
)


def scripted(act: Act, script: str) -> Iterator[Finding]:
    """Yield what SQL that a script of another language has run would destroy, and what its own methods would."""
    # What stands in quotes is talk; SQL is looked for below.
    method = _METHOD.search(_STRING.sub('""', script[:MOST_SQL]))
    if method and ":memory:" not in script:
        yield act.found(DATA, HIGH, "It deletes all of a table or a database.", method[0].strip())
    code = script[:MOST_SQL]
    said = [found[found.lastindex or 0] for found in _EXECUTED.finditer(code)]
    if said and not re.search(r":memory:|rollback\(", code):
        yield from in_sql(act.what, ";".join(said))


_TEXTUAL = frozenset(
    {"echo", "printf", "cat", "grep", "egrep", "fgrep", "rg", "ag", "ack", "sed", "awk", "gawk", "git", "gh", "glab", "hub",
     "jira", "logger", "say", "notify-send", "test", "[", "[[", "export", "read", "jq", "yq", "tee", "find", "fd", "less", "head",
     "tail", "diff", "sort", "cut", "tr", "wc", "xargs", "vim", "code", "claude", "vector-memory", ":", "true", "perl", "python",
     "python3", "node", "ruby", "php", "sqlfluff", "sqlformat", "sqlglot", "pg_format", "expect", "slack", "man", "apropos"}
)  # fmt: skip
_STARTS = re.compile(r"\s*(?:DROP|TRUNCATE|DELETE\s+FROM)\s", re.IGNORECASE)
_SAYS_SO = _STATEMENT_OPTIONS | {
    "--query-string", "--statement", "--sql-statement", "-d", "--data", "--data-binary"
}  # fmt: skip


def stated(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what a statement of SQL would destroy that any program is given as a word of its own."""
    if act.name in SQL_CLIENTS or act.name in _TEXTUAL or act.name in SHELLS:
        return
    for place, one in enumerate(act.args):
        option, _, rest = one.partition("=") if one.startswith("--") else ("", "", one)
        option = option or (act.args[place - 1] if place else "")
        said = rest if _STARTS.match(rest) else ""
        # In small letters it may be talk.
        if said and (
            option in _SAYS_SO or said.rstrip().endswith(";") or said.split()[0].isupper()
        ):
            yield from in_sql(act.what, said)


# -- clients ---------------------------------------------------------------------------------------


def sql_client(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what a client of a SQL database is told to destroy."""
    database = _database(act)
    if _is_scratch(act, line, database):
        return
    for script in scripts(act):
        for found in in_sql(act.what, script):
            yield found._replace(severity=LOW) if rules.is_for_tests(database) else found
    for one in _files(act):
        name = one.rsplit("/", 1)[-1].lower()
        if re.search(r"(?:^|[_.-])(?:drop|wipe|truncate|reset|nuke|purge)(?:[_.-]|$)", name):
            yield act.found(DATA, LOW, "By its name, the script it runs destroys data.", one)


def _is_scratch(act: Act, line: CommandLine, database: str) -> bool:
    if act.name not in ("sqlite3", "duckdb", "litecli") or not database:
        return False
    path = line.around.path(database, act.folder)
    return database == ":memory:" or line.around.is_scratch(path) or line.around.was_made(path)


def _database(act: Act) -> str:
    named = act.value("-d", "--dbname", "--database", "-D")
    return named or next(
        iter(act.texts("-c -e -h -p -U -u -P -f --command --host --port --username --user --file")),
        "",
    )


def scripts(act: Act) -> Iterator[str]:
    """Yield the SQL that a client is given: in an option, a word, a here-document, another's output."""
    for place, one in enumerate(act.args):
        name, sign, rest = one.partition("=")
        if name in _STATEMENT_OPTIONS and sign:
            yield rest
        elif one in _STATEMENT_OPTIONS or re.match(r"^-[a-zA-Z]*[ceQq]$", one):
            yield from act.args[place + 1 : place + 2]
        elif one.startswith("-e") and len(one) > 3 and not one.startswith("--"):
            yield one[2:]
    if act.name in ("sqlite3", "duckdb", "bq", "usql"):
        yield from [one for one in act.texts() if " " in one.strip()]
    yield from fed(act)


def fed(act: Act) -> Iterator[str]:
    """Yield what an act reads from its input, where it stands in the line."""
    if act.command.given:
        yield act.command.given
    feeding = act.feeding
    if feeding is not None and feeding.name in ("echo", "printf", "cat"):
        yield feeding.command.given
        if feeding.name != "cat":
            yield "\n".join(one.replace("\\n", "\n") for one in feeding.texts())


def _files(act: Act) -> Iterator[str]:
    named = act.value("-f", "--file", "-i")
    if named:
        yield named
    yield from (target.text for sign, target in act.command.redirects if sign == "<")
    if act.feeding is not None and act.feeding.name == "cat":
        yield from act.feeding.texts()


def mongo(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what a mongo shell is told to destroy."""
    for script in [act.value("--eval"), *fed(act)]:
        for found in _MONGO.finditer(script):
            severity = LOW if rules.is_for_tests(" ".join(act.texts("--eval"))) else HIGH
            yield act.found(
                DATA, severity, "It drops a collection or a database, or empties it.", found[0]
            )


def redis(act: Act, line: CommandLine) -> Iterator[Finding]:
    """Yield what a Redis client is told to destroy."""
    takes = "-h -p -a -n -u --user --pass --pattern -i -r"
    words = [one.lower() for one in act.texts(takes)]
    words += [
        one.split()[0].lower() for text in fed(act) for one in text.splitlines() if one.split()
    ]
    if words[:1] in (["command"], ["help"], ["acl"]):
        return
    for one in words:
        if one in _KEYS:
            yield act.found(DATA, HIGH, "It deletes all keys.", one)
    if words[:1] in (["del"], ["unlink"]):
        severity = HIGH if act.command.via[-1:] == ("xargs",) else LOW
        yield act.found(DATA, severity, "It deletes keys.", " ".join(words[1:]) or "keys")


PROGRAMS = SQL_CLIENTS | MONGO_CLIENTS | REDIS_CLIENTS | rules.programs(DATA) | {"createdb"}
"""All that speaks to a database."""
