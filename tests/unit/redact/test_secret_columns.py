"""Secrets of tables, named by the head of their column. All are made up and put together at run time."""

from __future__ import annotations

import pytest

from vector_memory.redact import clean

MADE, KEY = "Fjell" + "rev!" + "1987", "9f3c" + "7b21e0d84a6f" + "5c1e2b7d9a40"


@pytest.mark.parametrize(
    "table",
    [
        "| service | user | password |\n|---|---|---|\n| db | anna | {made} |\n| web | bob | `{made}x` |",
        " id | api_key \n----+---------\n  1 | {key}\n(1 row)",
        "+----+-----------+\n| id | api_token |\n+----+-----------+\n|  1 | {key} |\n+----+-----------+",
        " id |             password             | role \n----+----------------------------------+------\n  1 | {made}              | a",
        "| service | password                 | for |\n|---------|--------------------------|-----|\n| db      | {made}           | ci  |",
        "┌────┬──────────────────────┐\n│ id │ api_token            │\n├────┼──────────────────────┤\n│  1 │ {key} │\n└────┴──────────────────────┘",
        "┏━━━━┳━━━━━━━━━━━┓\n┃ id ┃ api_token ┃\n┡━━━━╇━━━━━━━━━━━┩\n│ 1  │ {key} │\n└────┴───────────┘",
        "┌────┬──────────┐\n│ id ┆ password │\n╞════╪══════════╡\n│ 1  ┆ {made} │\n└────┴──────────┘",
        " id | api_key" + " " * 300 + "\n----+--------\n  1 | {key}\n(1 row)",
        "| **Token** | for |\n|---|---|\n" + "| - | x |\n" * 900 + "| {key} | ci |",
    ],
)
def test_what_stands_below_a_name_for_secrets_goes(table: str) -> None:
    """In Markdown, and as clients of databases print it, however far below; the head stays."""
    text = clean(table.format(made=MADE, key=KEY)).text
    assert MADE not in text and KEY not in text
    assert text.split("\n")[:2] == table.split("\n")[:2]


@pytest.mark.parametrize(
    "text",
    [
        "| field | type | token |\n|---|---|---|\n| a | string | required |\n| b | int | optional |",
        "| name | size |\n|---|---|\n| password | 12 |\n| build-2211b | 30 |",
        "| password | n |\n|---|---|\n| none | 3 |\n\nThe parser2b | is | new",
        "| Suite | Result | Pass |\n|---|---|---|\n| unit | ok | 128/128 |\n| e2e | ok | 90.2% |",
        "| Token | Value |\n|---|---|\n| spacing-4xl | 64px |\n| color-blue-500 | #3b82f6 |",
        "What is the password?\n---\nIt is │ build-2211b │ here",
        "┃ Token ┃ Value ┃\n┡━━━━━━━╇━━━━━━━┩\n│ spacing-4xl │ 64px │",
        "| Scheme | Password |\n|---|---|\n| default | scram-sha-256 |",
        "| NAME | SECRET |\n|---|---|\n| api | api-tls-cert-v3 |",
        "test,status,pass\nbuild-1234,ok,flaky_3x\n",
        "import {\n  password,\n  Base64Str,\n  Sha256,\n  ipv4pool,\n} from 'x'",
        "name\ttoken\nci\tbuild-1234-x2",
        "a password, a token, and\nNode18, tools, and\nless",
    ],
)
def test_other_tables_and_lists_stay(text: str) -> None:
    """A word about secrets in a cell or a sentence names no column, where a table ends its columns do, and names with
    digits are no secrets."""
    assert clean(text).text == text


@pytest.mark.parametrize(
    "text",
    ["test_login,ok,pass\n" * 3_000, "the token? " * 3_000, "token" + " " * 400_000, "| x | token |\n" * 3_000, "if(a,token|b)c1(token|d);" * 1_500, "token| " * 3_000],
)  # fmt: skip
def test_many_heads_do_not_make_a_text_too_dense(text: str) -> None:
    """What is no table costs next to nothing."""
    assert clean(text).text == text
