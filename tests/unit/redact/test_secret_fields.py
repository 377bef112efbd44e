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


UUID, HEX = (
    "3f1c2a44-09a1" + "-4f5e-9d0b-6a7a2c1d8e9f",
    "9f3c" + "7b21e0d84a6f" + "5c1e2b7d9a40c3b1",
)


@pytest.mark.parametrize("value", [UUID, UUID.upper(), HEX, HEX[:20]])
@pytest.mark.parametrize(
    "text",
    [
        '{"session_id": "@", "cwd": "/src"}',
        'kms_key_id = "@"',
        '{"use": "sig", "key-id": "@"}',
    ],
)
def test_an_id_stays(text: str, value: str) -> None:
    """Of a session or a key, told by its name and by its form."""
    whole = text.replace("@", value)
    assert clean(whole).text == whole


@pytest.mark.parametrize("value", [UUID, HEX])
@pytest.mark.parametrize(
    "text",
    [
        '{"name": "session_token", "value": "@"}',
        '{"name": "session", "value": "@"}',
        '{"name": "session_cookie", "value": "@"}',
        '{"name": "JSESSIONID", "value": "@"}',
        '{"name": "session_id", "value": "@"}',
        '{"name": "session_id", "value": "@", "secure": true}',
        '{"name": "session_id", "domain": "x.test", "value": "@"}',
        '{"name": "session_id", "value": "@", "path": "/", "httpOnly": true}',
        '"cookies": [{"name": "session_id", "value": "@"}]',
        '{"name": "Cookie", "value": "a=b; session_id=@"}',
        'session_token = "@"',
        '"sessionToken": "@"',
        'access_key = "@"',
        'secret_id = "@"',
        '{"name": "AUTH_SESSION_ID", "value": "@"}',
        "Cookie: session_id=@",
        "Set-Cookie: session_id=@; Path=/",
    ],
)
def test_a_token_or_a_cookie_of_a_session_goes(text: str, value: str) -> None:
    """Whatever its form is."""
    assert value not in clean(text.replace("@", value)).text


def test_an_id_of_another_form_goes() -> None:
    """Letters of all kinds with digits, beside a field that names a session."""
    assert MADE not in clean(f'{{"name": "session_id", "value": "{MADE}7c"}}').text
