"""Passwords that their place tells: in a file's fields, a driver's address, the rows that SQL inserts. All are made up."""

from __future__ import annotations

import pytest

from vector_memory.redact import clean

MADE, WORDS = "Kx7" + "dR2vQ9" + "mTz4Wn", "harbor-" + "Maple" + "47"


@pytest.mark.parametrize("value", [MADE, WORDS])
@pytest.mark.parametrize(
    "text",
    [
        "$ cat ~/.pgpass\ndb.internal:5432:ledger:app_rw:{}",
        "*:*:*:replicator:{}\n",
        "# of the lab\n> db.internal:*:ledger:app_rw:{}",
        "cat > x <<E\nlocalhost:*:*:postgres:{}\nE",
        r'{"text": "db.a:*:*:app:x2y3z4\nlocalhost:*:*:postgres:{}"}'.replace(
            "x2y3z4", "[redacted:password]"
        ),
        r'{"file_path": ".pgpass", "content": "localhost:*:*:app:{}\n"}',
        r'{"content": "# of the lab\ndb:*:*:app:{}\n"}',
        "     1\t*:*:*:postgres:{}\n",
        "1→postgres:*:ledger:app:{}\n",
        "Add `localhost:*:ledger:app:{}` to ~/.pgpass",
        'the line:\n- "db.internal:*:ledger:app:{}"',
        "line: |\n                  db.internal:*:ledger:app:{}",
        "DSN=app:{}@tcp(db:3306)/shop?parseTime=true",
        'dsn := "root:{}@unix(/run/mysqld.sock)/x"',
        "INSERT INTO users (name, password) VALUES ('anna', '{}')",
        "replace into `u` (`a`,`b`,\n`passwd`) values (1, now(), '{}');",
        "INSERT INTO u (name, password, n) VALUES ('it''s, (a)', 'none', 1),\n  ('b', '{}', 2)",
        r"""{"sql": "INSERT INTO u (\"n\", \"password\")\nVALUES ('a', '{}')"}""",
        "run('INSERT INTO u (n, password) VALUES (\\'a\\', \\'{}\\')')",
    ],
)
def test_what_stands_where_a_password_does_goes(text: str, value: str) -> None:
    """No name stands beside it."""
    name = "url-password" if "@" in text else "password"
    assert clean(text.replace("{}", value)).text == text.replace("{}", f"[redacted:{name}]")


@pytest.mark.parametrize("before", ['{"content":"', "     1\t", "echo '", " " * 18])
def test_a_word_for_a_database_of_this_machine_goes(before: str) -> None:
    """What has such a host is a line of .pgpass wherever it stands."""
    word = "meadow" + "lark"
    assert word not in clean(f"{before}localhost:*:*:app:{word}").text


def test_the_secret_of_a_line_for_ppp_goes() -> None:
    """Client, server, secret, address."""
    assert MADE not in clean(f"# client server secret IP\nledger * {MADE} *").text


def test_many_rows_do_not_make_a_text_too_dense() -> None:
    """A dump is long; its passwords go, and the rest stays."""
    rows = [f"({number},'{WORDS}{number}','x')" for number in range(12_000)]
    cleaned = clean(f"INSERT INTO u (id, password, n) VALUES {','.join(rows)};")
    assert cleaned.redactions == 12_000 and WORDS not in cleaned.text
    empty = f"INSERT INTO u (password) VALUES {','.join(['(1)'] * 90_000)}"
    assert clean(empty).redactions == 0


@pytest.mark.parametrize(
    "text",
    [
        "INSERT INTO users (name, password, room) VALUES ('a', NULL, 'Room4East'), ('b', ?, 'x'), ('c', crypt($1, gen_salt('bf')), 'y')",
        "INSERT INTO builds (name, token_count, image) VALUES ('ci', 4096, 'node18-alpine3b')",
        "INSERT INTO users (name, password) SELECT name, 'hall' FROM old",
        "app.py:5432:12:error:unused2name src/app.py:5432:a:b:unused2name",
        "127.0.0.1:5432:5432:tcp:x, kafka:9092:a:broker:leader3x, db:5432:ledger:app:",
        "Address6.fromWildcard('*:*:*:*:*:*:*:*')\n*:*:*:*:*:*:*:*",
        "redis-cli --pattern 'app:*:cart:items:2024*'",
        "cron:*:daily:backup:job2run",
        "keys '*:*:cart:items:2024*', `user:*:cart:items:v22*` and \"job:*:run:log:*v22\"",
        "acl 'team:*:queue:jobs:read22:own' and db:*:ledger:app:${PG_PASS2} or db:*:ledger:app:<pw22>",
        "the topic a.b:*:cart:items:job2run",
        "user:password@tcp(localhost:3306)/db and %s:%s@tcp(%s)/%s and app:${DB_PASS}@tcp(db)/x",
        "/**\n * the base64Length * 4\n * size2x\n */ area = width * Base64Size *\n depth",
    ],
)  # fmt: skip
def test_what_only_looks_alike_stays(text: str) -> None:
    """Other columns, places of compilers, ports, placeholders, products."""
    assert clean(text) == (text, 0)
