"""Secrets go, everything else stays. All secrets here are made up and put together at run time."""

from __future__ import annotations

import contextlib
import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vector_memory.errors import UnsafeTextError
from vector_memory.model import CleanText
from vector_memory.redact import clean
from vector_memory.redact.automaton import Meter, ascii_of
from vector_memory.redact.normalise import folded
from vector_memory.redact.places import COMMANDS, PLACES
from vector_memory.redact.secrets import finders
from vector_memory.redact.shapes import RULES
from vector_memory.redact.spans import Span

MIXED = "aB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzA7b"
HEX = "0123456789abcdef" * 4
BASE64 = "MIIEpAIBAAKCAQEA7bq9Zx8w" * 3

SHAPES = {
    "aws-key-id": "AKIA" + "Q4" * 8,
    "google-api-key": "AIza" + MIXED[:35],
    "github": "ghp_" + MIXED,
    "gitlab": "glpat-" + MIXED[:20],
    "slack": "xoxb-" + "123456789012-" + MIXED[:24],
    "stripe": "sk_" + "live_" + MIXED[:24],
    "anthropic": "sk-" + "ant-api03-" + MIXED,
    "openai": "sk-" + "proj-" + MIXED,
    "npm": "npm_" + MIXED,
    "pypi": "pypi-" + "AgE" + MIXED * 2,
    "huggingface": "hf_" + "abcdEFGHij" * 3 + "klmn",
    "twilio": "AC" + HEX[:32],
    "sendgrid": "SG." + MIXED[:22] + "." + MIXED + "1234567",
    "azure-secret": "abc8" + "Q~" + MIXED[:34],
    "jwt": "eyJ" + MIXED + ".eyJ" + MIXED + "." + MIXED,
    "digitalocean": "dop_v1_" + HEX,
    "telegram": "123456789:AA" + MIXED[:33],
    "password-hash": "$2b$12$" + "abcdefghijklmnopqrstuvABCDEFGHIJKLMNOPQRSTUVWXYZ01234",
    "age-key": "AGE-SECRET-KEY-" + "1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
}


@pytest.mark.parametrize("rule", sorted(SHAPES))
def test_known_shapes(rule: str) -> None:
    """A key of known shape goes wherever it stands, and its rule is named."""
    secret = SHAPES[rule]
    text, count = clean(f"use {secret}, or ({secret}) instead")
    assert (text, count) == (f"use [redacted:{rule}], or ([redacted:{rule}]) instead", 2)


def test_rule_names_can_stand_in_a_placeholder() -> None:
    """Placeholders are found by their form, so every rule's name keeps to it."""
    for rule in (*RULES, *PLACES, *COMMANDS):
        assert re.fullmatch("[a-z0-9-]+", rule.name)


@pytest.mark.parametrize(
    "disguise",
    [
        lambda s: s[:6] + "\u200b" + s[6:],
        lambda s: s[:6] + "\x1b[0m" + s[6:],
        lambda s: "".join(chr(ord(c) + 0xFEE0) if c.isalnum() else c for c in s),
        lambda s: s[:9] + "\x00" + s[9:],
    ],
)
def test_disguised_shapes(disguise: object) -> None:
    """Invisible characters and full-width letters hide no key."""
    assert callable(disguise)
    assert clean(disguise(SHAPES["aws-key-id"])).text == "[redacted:aws-key-id]"


SECRET = "hX7" + "!q2Rz" + "9wT"


@pytest.mark.parametrize(
    "line",
    [
        "DB_PASSWORD={} make run",
        "docker run -e 'DB_PASSWORD={}' img",
        "printf 'DB_PASSWORD={}\\n' >> .env",
        '["DB_PASSWORD={}"]',
        "export PASSWORD={}",
        "export password={} && make",
        "please run PASSWD={}; make",
        "(PGPASSWORD={} psql)",
        "MYSQL_PWD={} mysql",
    ],
)
def test_a_weak_word_is_taken_out_of_an_environment(line: str) -> None:
    """`NAME=value`, within quotes too; what only looks for it, fills it in or stands for it is none."""
    for weak in ("open" + "sesame", "Tr" + "!cky" + "One"):
        assert weak not in clean(line.format(weak)).text
    for harmless in (
        "$PW",
        "%s",
        "",
        ".*",
        "changeme",
        "None",
        "os.environ['X']",
        "OTHER_PASSWORD",
    ):
        assert clean(line.format(harmless)).text == line.format(harmless)


@pytest.mark.parametrize(
    "line", ["the share: user ann password {} at files.test", "Passwort {}, danke"]
)
def test_a_password_in_plain_talk_needs_no_colon(line: str) -> None:
    """Letters, digits and a sign together are no word of a sentence; what else stands behind the word may be."""
    value = "Fjell" + "rev!" + "1987"
    assert clean(line.format(value)).text == line.format("[redacted:password]")
    for word in ("policy", "strict-2024", "sha256(salt)", "length>=12", "&&"):
        assert clean(line.format(word)).text == line.format(word)


@pytest.mark.parametrize("line", ["PWD=walrus", "OLDPWD=walrus", "PASS=walrus", "MIN_PASSWORD=12"])
def test_what_a_password_is_like_in_name_alone_stays(line: str) -> None:
    """A folder, what tests count, a bound."""
    assert clean(line).text == line


@pytest.mark.parametrize(
    "line",
    [
        'password = "{}"',
        "password: {}",
        "DB_PASSWORD={}",
        '"password": "{}"',
        "'passwd' => '{}',",
        "mysql --password {} -u me",
        "tool --db-password={} run",
        "-Password '{}'",
        'const apiKey = "{}";',
        "api_key: '{}'",
        "export SECRET_TOKEN={}",
        'def connect(passwd: str = "{}"):',
        '{{\\"token\\": \\"{}\\"}}',
        "the password is {}",
        "login with pw:{}",
        "postgres://app:{}@db.test:5432/main",
        "jdbc;User=sa;Password={};Encrypt=true",
        "curl -u admin:{} https://x.test",
        "sshpass -p {} ssh host",
        "CREATE USER app IDENTIFIED BY '{}';",
        "ALTER ROLE app WITH PASSWORD '{}';",
        "machine x.test login me password {}",
        "<password>{}</password>",
        'os.environ["API_TOKEN"] = "{}"',
        'password = os.environ.get("PW") or "{}"',
        "비밀번호: {}",
        "the password for the staging database is {}, do not print it",
        "password of the admin user: {}",
        "the token to our own registry is {}",
        "secret for the test webhook = {}",
        "db pw for hq reports {} user rpt, put it in the config",
        "mosquitto_sub -h broker.test -p 8883 -u backend -P '{}' -t state -C 1",
        "- name: DB_PASSWORD\n  value: {}",
        '{{"name": "API_TOKEN", "value": "{}"}}',
        "password: |\n  {}\nuser: x",
        'variable "db_password" {{\n  type = string\n  default = "{}"\n}}',
        "jdbc:oracle:thin:scott/{}@//h:1521/x",
    ],
)
def test_named_values(line: str) -> None:
    """A value that a telling name is given goes, the name stays."""
    before = line.split("{}")[0].replace("{{", "{")
    text, count = clean(line.format(SECRET))
    assert SECRET not in text
    assert text.startswith(before)
    assert count == 1


@pytest.mark.parametrize(
    "header",
    [
        "Authorization: Bearer {}",
        "-H 'Authorization: Basic {}'",
        '"authorization": "token {}"',
        "Cookie: session={}",
        "https://x.s3.test/f?X-Amz-Signature={}&a=1",
    ],
)
def test_headers_and_addresses(header: str) -> None:
    """What authorises a request goes."""
    assert MIXED not in clean(header.format(MIXED)).text


@pytest.mark.parametrize(
    "text",
    [
        "git clone https://{}@dev.azure.test/acme/_git/shop",
        "SENTRY_DSN=https://{}@o12.ingest.test/45",
        "Here is the API key:\n\n```\n{}\n```",
        "The token for staging:\n\n{}\n",
        "(0) 0x{}{}",
    ],
)
def test_keys_named_by_where_they_stand(text: str) -> None:
    """As the user of an address, alone under a line that names them, in the list of a chain's accounts."""
    key = "9f3c" + "7b21e0d84a6f" + "5c1e2b7d9a40" + "66d0"
    assert key not in clean(text.format(key, key)).text


@pytest.mark.parametrize(
    "line",
    [
        'password = os.environ["DB_PASSWORD"]',
        "password = getpass.getpass()",
        "token: str",
        "max_tokens=500, prompt_tokens: 1234",
        "secret_name = config.secret_name",
        "self.password = password",
        'password: "${DB_PASSWORD}"',
        "password: <your password>",
        "password=********",
        "api_key = None",
        'type="password" name="password"',
        "the token is stored in the keyring",
        "tokens = tokenizer.tokenize(text)",
        "key: value, primary_key=True, keys = dict.keys()",
        "pass: the tests pass: 14 of 14",
        "https://user@x.test/path and http://localhost:8080/a@b",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "uuid 01cc930d-253a-4632-831c-ee2567287ac8",
        "see src/auth/token_store.py:120 and sk-learn",
        "use a Bearer token in the Authorization header",
        "the pattern is -----BEGIN PRIVATE KEY----- here",
        "users identified by name and basic authentication",
        "the key for the cache is user_id:region",
        "the key for the lookup is the commit 0123456789abcdef0123456789abcdef01234567",
        "the secret for good tests is isolation, the token for the parser is IDENTIFIER",
        "the password for the demo is in the vault",
        "- name: USE_TOKEN\n  value: true",
        "- name: DB_PASSWORD\n  valueFrom: shop",
        "https://continuous-integration-bot@x.test/path",
        "The key point:\n\n```\n0123456789abcdef0123456789abcdef01234567\n```",
    ],
)
def test_ordinary_text_stays(line: str) -> None:
    """Code and prose about secrets keep their words."""
    assert clean(line) == (line, 0)


@pytest.mark.parametrize(
    "kind", ["RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
@pytest.mark.parametrize("line_break", ["\n", "\\n", "\r\n"])
@pytest.mark.parametrize("whole", [True, False])
def test_private_keys(kind: str, line_break: str, whole: bool) -> None:
    """Private keys go, on lines or with literal line breaks, whole or cut short."""
    lines = [
        f"-----BEGIN {kind}-----",
        BASE64,
        BASE64,
        *([f"-----END {kind}-----"] if whole else []),
    ]
    text, count = clean(f"before {line_break.join(lines)} after")
    assert count == 1
    assert text == "before [redacted:private-key] after"


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        ("a <private>x\ny</private> b", "a [redacted:private] b"),
        ("a <PRIVATE >x</Private > b", "a [redacted:private] b"),
        ("a <private>x", "a [redacted:private]"),
        ("<private>a<private>b</private>c</private>d", "[redacted:private]d"),
        ("<private>a</private> b <private>c</private>", "[redacted:private] b [redacted:private]"),
        ("private: <privateer>", "private: <privateer>"),
    ],
)
def test_private_blocks(raw: str, left: str) -> None:
    """What the user marked goes; a block that is never closed reaches to the end."""
    assert clean(raw).text == left


@pytest.mark.parametrize("joint", ["", "!"])
def test_an_odd_password_without_digits(joint: str) -> None:
    """Letters alone, outside quotes, are a password where no word is like them."""
    odd = "QDhBZjTS" + joint + "aRmRCDgXB"
    assert odd not in clean(f"password={odd}").text
    assert clean("password=getStoredPassword").redactions == 0


def test_result_is_clean_text() -> None:
    """The result has the type that the journal takes, and the count of what went."""
    result = clean("password=" + SECRET + " token: " + MIXED)
    assert type(result.text) is CleanText
    assert result.redactions == 2


def test_failing_scanner_drops_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in a scanner never lets the text through, nor repeats it in its message."""

    def broken(text: str, *_: object) -> list[Span]:
        raise ValueError(text)

    monkeypatch.setattr(sys.modules["vector_memory.redact"], "find_secrets", broken)
    with pytest.raises(UnsafeTextError) as caught:
        clean("words that matter")
    assert "matter" not in str(caught.value)


_PIECES = st.sampled_from(
    ["password", "=", ": ", '"', "'", "\n", "\\n", "<private>", "</private>", "token", "://", "@"]
    + ["-----BEGIN " + "RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----", BASE64[:40]]
    + [SECRET, MIXED, *SHAPES.values(), "[redacted:", "]", "\u200b", "\x1b[0m", "\u0338", "Bearer "]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(_PIECES, max_size=14).map("".join))
def test_idempotent(text: str) -> None:
    """Cleaning what is clean changes nothing, however secrets and marks stand together."""
    once = clean(text)
    assert clean(once.text) == (once.text, 0)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(), max_size=80))
def test_any_text_can_be_cleaned(text: str) -> None:
    """No text at all makes it fail or keep on changing."""
    once = clean(text)
    assert clean(once.text) == (once.text, 0)


SAID = tuple(map("".join, (("Kr4n", "ich!mX82-qeLo"), ("acme_", "prod_9fKd2LqTz81vXwPo4eRmY0"), ("Tq4zB", "-81nWkk_vE7x"), ("qf-Hm", "47tePz_veld"))))  # fmt: skip


@pytest.mark.parametrize("value", SAID)
@pytest.mark.parametrize(
    "talk",
    [
        "user crm pw {} put it in .env", "60 a minute at most, key {} into the credentials", "my password {} is old",
        "the ftp login of the shop is tienda / {} guárdalo", "Zugangsdaten: lena | `{}`",
        "log in as tienda with {} , it is mine alone", "der Login ist lena mit {}", "login tienda / {}",
    ],
)  # fmt: skip
def test_a_value_right_behind_what_it_is_goes(talk: str, value: str) -> None:
    """Talk gives a secret without a colon: `pw VALUE`."""
    assert value not in clean(talk.format(value)).text


@pytest.mark.parametrize(
    "text",
    [
        "the key AES-256-GCM is used", "primary key user_id2", "pwd /home/x/Y2Z9", "pass TestFoo23Bar to it",
        "auth OAuth2.0+PKCE flow", "secret k8sSecretRef01 in helm", "key Ctrl+Shift+F12", "user stories / backlog-2024Q3", "login via oauth2 / keycloak26", "credentials come from vault / kv-v2/data/app1",
        "the login works with OAuth2Client", "log in as root and apt-get upgrade", "pw hashed with Argon2id", "token 2026-11-27T10:00:00Z",
    ],
)  # fmt: skip
def test_a_name_right_behind_such_a_word_stays(text: str) -> None:
    """What follows "key" or "token" in talk is mostly what something is called."""
    assert clean(text).text == text


@pytest.mark.parametrize(
    "unit",
    [
        "a", "password=", "pw: ", "<private>", "-----BEGIN " + "PRIVATE KEY-----", "://", "a:", "\\",
        "https://a:", "\x1b[", "\x1b]", "eyJ", "login -p ", 'token: "', "token=&quot;a&b", "AKIA",
        "create user password ", "kennwort:", "-", "hex0", "e\u0301\u0323", "\uff41", "curl -u ", "key_", " ", '"kty": bearer aaaaaaaaaaaa ',
        "recovery codes ", "2fa ",
    ],
)  # fmt: skip
def test_hostile_repetition_ends(unit: str) -> None:
    """A long repetition of anything is handled in linear time, or dropped: a quadratic pattern would not
    end."""
    with contextlib.suppress(UnsafeTextError):
        clean(unit * (200_000 // len(unit)))


@pytest.mark.parametrize(
    "text",
    [
        "<PRIVATE x>inner", f"-----BEGIN {'PRIVATE'} KEY-----\n{'aB3dE5fG' * 8}", f"pwd: {SECRET}",
        f"密码: {SECRET}", f"пароль: {SECRET}", f"curl -u me:{SECRET} x", f"ftp://me:{SECRET}@host/x",
        f"mysql -u me -p{SECRET}", f"Cookie: a={SECRET}", f"ALTER USER me IDENTIFIED BY '{SECRET}'",
        "4111 1111 1111 1111", "SSN 219099999", "DE89 3704 0044 0532 0130 00", "Me@Example.com", "+49 30 901820",
    ],
)  # fmt: skip
def test_gate(text: str) -> None:
    """The gate sends a text to every finder that finds something in it."""
    gate, found = finders()
    read = folded(text)
    plain = ascii_of(read)
    finding = {
        place for place, (_, find) in enumerate(found) if list(find(read, plain, Meter(len(read))))
    }
    assert finding and finding <= set(gate.Match(plain))
