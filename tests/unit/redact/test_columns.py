"""Secrets of tables, named by the head of their column. All are made up and put together at run time."""

from __future__ import annotations

import pytest

from vector_memory.redact import clean

MADE, KEY = "hunter" + "42", "9f3c" + "7b21e0d84a6f" + "5c1e2b7d9a40"


@pytest.mark.parametrize(
    "table",
    [
        "| service | user | password |\n|---|---|---|\n| db | anna | {made} |\n| web | bob | `{made}x` |",
        " id | api_key \n----+---------\n  1 | {key}\n(1 row)",
        "+----+-----------+\n| id | api_token |\n+----+-----------+\n|  1 | {key} |\n+----+-----------+",
        "id,email,password\n1,a@b.example,{made}\n2,c@d.example,{made}x\n",
        "name\ttoken\nci\t{key}",
    ],
)
def test_what_stands_below_a_name_for_secrets_goes(table: str) -> None:
    """In Markdown, as clients of databases print it, and parted by commas or tabs; the other cells stay."""
    text = clean(table.format(made=MADE, key=KEY)).text
    assert MADE not in text and KEY not in text
    assert text.split("\n")[0] == table.split("\n")[0]


@pytest.mark.parametrize(
    "text",
    [
        "| field | type | token |\n|---|---|---|\n| a | string | required |\n| b | int | optional |",
        "user, password and token,\nall of them, are needed",
        "| name | size |\n|---|---|\n| password | 12 |\n| build-2211b | 30 |",
        "| password | n |\n|---|---|\n| none | 3 |\n\nThe parser2b | is | new",
    ],
)
def test_other_tables_stay(text: str) -> None:
    """A word about secrets in a cell or a sentence names no column, and where a table ends its columns do."""
    assert clean(text).text == text


def test_a_long_table_is_bounded() -> None:
    """Rows without end take no time without end."""
    table = "a,password\n" + "1,x\n" * 20_000
    assert clean(table).text == table
