"""Which names promise a secret: before a value, in a field beside it, and at the head of its column."""

from __future__ import annotations

import pytest

from vector_memory.redact import clean
from vector_memory.redact.names import promised, promised_by_head
from vector_memory.redact.normalise import folded

MADE, KEY = "Kx7" + "dR2vQ9" + "mTz4Wn", "9f3c" + "7b21e0d84a6f" + "5c1e2b7d9a40"
PASSWORDS = (
    "password", "PGPASSWORD", "dbPassword", "db-password", "passwords", "/prod/db/password1", "pass_word", "root_pw",
    "bindpw", "wpa_psk", "user_pass", "cache_password", "pub_password", "Kennwort", "contraseña", "mot de passe",
    "mot_de_passe", "motDePasse", "palavra-passe", "Hasło", "пароль", "密码", "パスワード", "비밀번호",
)  # fmt: skip
SECRETS = (
    "token", "sessionToken", "session_token", "client_secret", "secrets", "SecretAccessKey", "input_token", "apiKey",
    "encryption_key", "account_key", "public_key_secret", "credentials", "stop_token2",
)  # fmt: skip
NONE = (
    "author", "authority", "tokenizer", "max_tokens", "inputTokens", "total tokens", "passport", "bypass", "password_policy",
    "secret_name", "key_id", "keyboard", "primary_key", "cache_key", "public_key", "sshPubKey", "PUBLIC_TOKEN", "keys", "sid_of",
)  # fmt: skip


def test_what_names_promise() -> None:
    """The same in a field and at the head of a column."""
    assert {promised(folded(name)) for name in PASSWORDS} == {"password"}
    assert {promised(name) for name in SECRETS} == {"secret"}
    assert {promised(name) for name in NONE} == {None}
    for name in (*PASSWORDS, *SECRETS, *NONE):
        assert promised_by_head(folded(name)) == promised(folded(name)), name


@pytest.mark.parametrize("name", ["key", "ssh_key", "session", "connect.sid", "Set-Cookie"])
def test_a_key_may_be_that_of_each_row(name: str) -> None:
    """It is one beside a field alone, as is what a browser sends."""
    assert (promised(name), promised_by_head(name)) == ("key", None)


@pytest.mark.parametrize("name", ["auth", "OAuth2", "Authentication"])
def test_what_columns_of_other_things_are_called(name: str) -> None:
    """Ways to log in."""
    assert promised(name) and promised_by_head(name) is None


RESULTS = ("Pass", "Clave", "tests pass", "Test pass 2", "n_pass", "first_pass", "palabra clave")
WORDY = "greta" + "!2026x"
LOGINS = (
    "test_pass", "tests_pass", "tests_db_pass", "db_tests pass 2", "CI pass", "ci_pass", "last_pass", "build_clave",
)  # fmt: skip


@pytest.mark.parametrize("name", [*RESULTS, *LOGINS])
def test_below_what_may_be_a_result_the_cell_tells(name: str) -> None:
    """A result and the name of a key stay, and what is made as passwords alone are goes whatever stands before "pass"."""
    assert promised_by_head(name) == ("result" if name in RESULTS else "password")
    table = f"| suite | {name} |\n|---|---|\n| 7 | @ |"
    inserted = f"insert into t (id, `{name}`) values (7, '@')"
    for made in (MADE, "Kx7" + "!mQ" + "z9pLw2", WORDY):
        for text in (table, inserted):
            is_plain = name in LOGINS or made != WORDY
            assert (made not in clean(text.replace("@", made)).text) == is_plain
    for cell in ("12", "98 %", "yes", "✅ 10/10", "3.2s", "`UserProfile42`"):
        assert cell in clean(table.replace("@", cell)).text
    if name in RESULTS:
        for cell in (
            "12 of 14 (86%)",
            "**32 (94%)**",
            "5 found, 1 right",
            "KXD-48213",
            "<14 of 16!>",
            "build#4421",
            "3m12s(99%)",
            "12.3ms±4%",
            "chrome120+ff",
            "gbuffer+ssao2",
            "config#smtp1",
        ):
            for text in (table, inserted):
                assert cell in clean(text.replace("@", cell)).text


@pytest.mark.parametrize("name", ["pass", "Pass 2", "pass #1", "Clave", "# pass"])
@pytest.mark.parametrize(
    "who", ["user", "User name", "db_user", "E-Mail", "Login", "hostname", "Usuario", "correo"]
)
def test_beside_who_logs_in_pass_alone_is_a_password(name: str, who: str) -> None:
    """A count or a mark stays there, too; and what stands before "pass" says that it is another's still."""
    table = f"| {name} | {who} |\n|---|---|\n| @ | greta |"
    for made in (WORDY, "hunter" + "2x9", "Sommer" + "2024"):
        assert made not in clean(table.replace("@", made)).text
    for cell in ("12", "98 %", "yes", "✅ 10/10"):
        assert cell in clean(table.replace("@", cell)).text
    assert promised_by_head(f"tests {name}", is_of_logins=True) == "result"
    assert "KXD-48213" in clean(f"| {name} | hosted by |\n|---|---|\n| KXD-48213 | x |").text


@pytest.mark.parametrize("name", ["Password #2", "password (2)", "#1 password"])
def test_a_number_at_a_head_hides_no_table(name: str) -> None:
    """However it is written."""
    assert MADE not in clean(f"| at | {name} |\n|---|---|\n| x | {MADE} |").text


@pytest.mark.parametrize("name", [*PASSWORDS, *SECRETS])
def test_a_value_goes_wherever_its_name_stands(name: str) -> None:
    """Right before it, in a field, at the head of a column of a table and of what SQL inserts."""
    for text in (
        f'"{name}": "@"',
        f'{{"name": "{name}", "kind": "x", "value": "@"}}',
        f"| id | {name} | at |\n|---|---|---|\n| 7 | @ | x |",
        f"insert into t (id, `{name}`, at) values (7, '@', 'x')",
    ):
        assert KEY not in clean(text.replace("@", KEY)).text
        assert name not in PASSWORDS or MADE not in clean(text.replace("@", MADE)).text


@pytest.mark.parametrize(
    "text",
    [
        "| API | Authentication |\n|---|---|\n| v2 | Bearer-JWT-RS256-x5t |",
        "| Clave | Resumen |\n|---|---|\n| KXD-48213 | uno |",
        "| Model | Input tokens | Tokens |\n|---|---|---|\n| a | gpt-4o-2024-08-06 | b |",
        "| 密码策略 | 说明 |\n|---|---|\n| NIST800-63B | x |",
        '{"name": "密码策略", "kind": "x", "value": "NIST800-63B"}',
        "说明:\n  value: Autumn2026b\n名称:\n  value: Autumn2026c",
    ],
)
def test_other_columns_and_fields_stay(text: str) -> None:
    """Ways to log in, keys, numbers, and what more is said of a password."""
    assert clean(text).text == text
