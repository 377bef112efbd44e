"""Secrets of objects, named in another field. All are made up and put together at run time."""

from __future__ import annotations

import pytest

from vector_memory.redact import clean

MADE = "Kx7" + "dR2vQ9" + "mTz4Wn"


@pytest.mark.parametrize(
    "text",
    [
        '"Name": "/prod/db/password", "Type": "SecureString", "Value": "@"',
        '{\n  "key": "DB_PASSWORD",\n  "description": "of (prod)",\n  "value": "@"\n}',
        r"{\"name\": \"DB_PASSWORD\", \"type\": \"env\", \"value\": \"@\"}",
        '[{"value": "a", "name": "x"}, {"value": "@", "slotSetting": true, "name": "My.MailApiKey"}]',
        '{"name": "ledger_session", "path": "/", "value": "@7c"}',
        '{"name": "Cookie", "comment": "", "value": "theme=dark; sid=@7c"}',
        "- name: DB_CACHE_PASSWORD\n  description: of prod\n  value: @",
        "- value: @\n  name: DB_PASSWORD1",
        "db_password:\n  description: of prod\n  value: @",
        '{"db_password": {"sensitive": true, "value": "@"}}',
        '<add key="x" kind="contraseña" value="1"/><add name="contraseña" kind="text" value="@"/>',
    ],
)
def test_what_another_field_names_goes(text: str) -> None:
    """Whatever fields are between, and whichever is first."""
    assert MADE not in clean(text.replace("@", MADE)).text


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "DB_PASSWORD", "value": "@"}',
        r"{\"name\": \"DB_PASSWORD\", \"value\": \"@\"}",
        "'name' : 'db_password', 'value': '@'",
        'name = "DB_PASSWORD"\n value = "@"',
        '<add name="DbPassword" value="@"/>',
    ],
)
def test_a_weak_word_right_behind_its_name_goes(text: str) -> None:
    """However the name's field is quoted; behind another field a word may be anything."""
    weak = "hun" + "ter2"
    assert weak not in clean(text.replace("@", weak)).text
    other = text.replace("name", "label").replace("@", "submit")
    assert clean(other).text == other


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "password", "type": "password", "value": "", "default": "string"}',
        '{"name": "password", "description": "the password of the 2nd user", "value": "${PW_2}"}',
        '<input name="password" type="password" value=""><input name="x" value="Berlin10115b">',
        '{"name": "DB_PASSWORD", "from": "vault"}, {"name": "X", "value": "Autumn2026b"}',
        "- name: X\n  value: Autumn2026b\n- name: DB_PASSWORD\n  valueFrom: vault",
        '{value: "hamsters", name: "forgot_password"}, {label: "forgot_password", value: "hamsters"}',
        "password:\n  min: 8\nother:\n  value: Autumn2026b",
        "name: token\nkind: y\nbuild:\n  value: Autumn2026b7",
        '{"name": "max_tokens", "type": "size", "value": "Autumn2026b7"}',
        '{"name": "bypass", "value": "Autumn2026b7"}',
        "name = token; value = Autumn2026b7",
    ],
)
def test_what_belongs_to_another_object_or_is_no_secret_stays(text: str) -> None:
    """Forms, descriptions, references and neighbours."""
    assert clean(text).text == text
