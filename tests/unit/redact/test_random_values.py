"""Random values go wherever a name for secrets stands before them, in whatever grammar; what looks as random and
is no secret stays. All values are made at run time."""

from __future__ import annotations

import base64
import random
import string

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from vector_memory.redact import clean, together
from vector_memory.redact.automaton import (
    AUTOMATON_BYTES,
    Automaton,
    Meter,
    SecretRule,
    ascii_of,
    finder,
)
from vector_memory.redact.names import sorts
from vector_memory.redact.normalise import normalise
from vector_memory.redact.places import automata
from vector_memory.redact.shapes import automaton

HEX, LOWER = "0123456789abcdef", string.ascii_lowercase + string.digits
MIXED = string.ascii_letters + string.digits


def _drawn(chance: random.Random, letters: str, size: int) -> str:
    """Return random letters and digits, each of both as often as random values have them."""
    while True:
        value = "".join(chance.choices(letters, k=size))
        digits = sum(map(str.isdigit, value))
        if 4 <= digits <= size - 4 and "".join(value.split("-"))[:1].isalnum():
            return value


def values(chance: random.Random) -> list[str]:
    """Return one value of each form."""
    uuid = _drawn(chance, HEX, 32)
    return [
        _drawn(chance, HEX, chance.choice((24, 32, 40, 64))),
        _drawn(chance, MIXED, chance.choice((24, 32, 43, 64))),
        _drawn(chance, LOWER, chance.choice((24, 32, 40))),
        _drawn(chance, LOWER.upper(), chance.choice((24, 32, 40))),
        "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:])),
    ]


NAMES = (
    "token", "secret", "password", "api key", "api_key", "apiKey", "API_KEY", "access token", "authToken",
    "client-secret", "private key", "SECRET", "bearer", "credential", "pat", "raven token", "asana_pat",
    "ACME_TOKEN", "webhook secret", "orders.api.key", "collectTOKEN", "codatoken",
)  # fmt: skip
GRAMMARS = (
    "{} = '{}'", '{} = "{}"', "{}={}", "{}: {}", '"{}": "{}"', "'{}' => '{}'", '{} := "{}"', "{} {}", "{}\t{}",
    "<x-{}>{}</x>", "--{} {}", "--{}={}", "{} is {}", "the {} is `{}`", "{} ({})", '{}, "{}"', '{}("{}")', "{}-{}",
    '"name": "{}", "value": "{}"', "{}: |\n    {}", "{}: >-\n  {}", 'variable "{}" {{\n  default = "{}"', "Using {}={}",
    "set {} to {}", "{} -> {}", "[{}] {}", "| {} | {} |", "?{}={}&x=1", "{}/{}", "{}_{}.txt", "# {}\n{}",
)  # fmt: skip


@pytest.mark.parametrize(
    ("talk", "goes"),
    [
        ("here is the api key for the staging bucket, only into .env please: {}", True),
        ("Hier der Secret Key für den Bucket, bitte nur in die .env.local: {}", True),
        ("the token that the nightly runner of the other team uses should be {} from now on", True),
        ("The token is in the vault. The build that broke was called {}", False),
        ("the object in the bucket that nobody has looked at for a while is {}", False),
    ],
)
def test_a_sentence_about_a_secret(talk: str, goes: bool) -> None:
    """What a sentence says that it gives is a secret, however far from it the value stands; what the sentence before
    spoke of is not meant."""
    chance = random.Random(8)
    for size in (24, 32, 43):
        value = _drawn(chance, MIXED, size)
        assert (value not in clean(talk.format(value)).text) is goes


def test_a_sentence_about_a_secret_of_one_case() -> None:
    """As base32 has them; a number of a build is none."""
    chance = random.Random(9)
    for _ in range(5):
        letters = "".join(chance.choices(string.ascii_uppercase, k=21))
        value = "NX." + "".join(f"{place}{letters[3 * place :][:3]}" for place in range(7))
        said = f"Here's the access key for the server, on a Post-it until now: {value} , into .env"
        assert value not in clean(said).text
    said = "The access key has moved, see the notes of the build: RELEASE-2026-11-23-FINAL-NOTES"
    assert clean(said).text == said


def test_an_environment_variable_needs_no_telling_name() -> None:
    """A random value does; what numbers and names things, and a lower-case name, are let be."""
    chance = random.Random(10)
    value = f"sd_adm_{_drawn(chance, MIXED, 17)}7q2X"
    for line in (
        "i use `SUNDIAL_ADMIN={}` on the box",
        'Environment="SUNDIAL_ADMIN={}"',
        "echo A_B={} >> x",
    ):
        assert value not in clean(line.format(value)).text
    for line in (
        f"MAPS_CLIENT_ID={value}",
        "MODEL=claude-opus-4-6-20251101-Preview2",
        "BUILD=Release2025Candidate10Final3",
    ):
        assert clean(line).text == line


@pytest.mark.parametrize("grammar", GRAMMARS)
def test_named_values_go(grammar: str) -> None:
    """Every grammar, with every name and every form of value."""
    chance = random.Random(grammar)
    for name in NAMES:
        for value in values(chance):
            text = f"Deploy it:\n{grammar.format(name, value)}\nand go on."
            cleaned = clean(text).text
            assert value not in cleaned, text
            assert cleaned.startswith("Deploy it:\n")
            assert cleaned.endswith("and go on.")


def test_services_name_their_values() -> None:
    """Each listed service, and each word of the other sorts, is used."""
    chance = random.Random(7)
    for sort in ("secret", "hint", "service"):
        for word in sorts()[sort]:
            value = _drawn(chance, HEX, 40)
            assert value not in clean(f"ask {word} {value} for it").text, word
    for word in sorts()["else"]:
        text = f"ask {word} {_drawn(chance, HEX, 40)} for it"
        assert clean(text).text == text


def ordinary(chance: random.Random) -> list[str]:
    """Return lines that hold what looks as random, of many sorts."""
    sha, short, _, _, uuid = (*values(chance)[:4], values(chance)[4])
    sha, digest = _drawn(chance, HEX, 40), _drawn(chance, HEX, 64)
    blob = base64.b64encode(chance.randbytes(48)).decode()
    return [
        f"commit {sha}",
        f"{sha}\trefs/heads/main",
        f"index {sha[:7]}..{sha[7:14]} 100644",
        f":100644 100644 {sha} {sha[::-1]} M\tlib/tokens.py",
        f"read the secrets of it\n\n:100644 100644 {sha} {sha[::-1]} M\tlib/x.py",
        f"    --hash=sha256:{digest} \\",
        f'"integrity": "sha512-{blob}=="',
        f"numpy/core/_add.py,sha256={blob[:43]},811",
        f"session {uuid} ended",
        f'{{"uuid": "{uuid}", "parentUuid": null, "sessionId": "{uuid}"}}',
        f"memory {digest[:8]} {uuid}.jsonl:12-30",
        f"toolu_{_drawn(chance, MIXED, 24)}",
        f"image: registry.example/app@sha256:{digest}",
        f"-rw-r--r-- 1 me staff 13215 Mar 21 {uuid}.json",
        f"src/{sha[:12]}/build-{digest[:16]}.js",
        f'id="{uuid}" class="btn btn-primary"',
        f"etag: W/{sha}",
        f"data:image/png;base64,{blob}{blob}",
        f"request {short[:20]} took 12 ms",
        "MLKEM768X25519PublicKey = hpke.MLKEM768X25519PublicKey",
        "Cache restored with key: setup-uv-1-x86_64-linux-0.7.13-" + digest,
    ]


def test_ordinary_text_stays() -> None:
    """Ids, digests and names, hundreds of each."""
    chance = random.Random(3)
    for _ in range(100):
        for line in ordinary(chance):
            assert clean(f"before\n{line}\nafter").text == f"before\n{line}\nafter"


JOINTS = ('" + "', '"\n    + "', '" +\n    "', '"\n    "', '" "', "' . '", "\\\n", "\\\n    ")


@pytest.mark.parametrize("joint", JOINTS)
def test_parts_are_put_together(joint: str) -> None:
    """A value that code or a shell joins goes with all its parts, wherever it is cut."""
    chance = random.Random(joint)
    quote = "'" if "'" in joint else '"' if '"' in joint else ""
    for _ in range(40):
        key, value = "ghp_" + _drawn(chance, MIXED, 36), values(chance)[1]
        for text, whole in ((f"x = {quote}{{}}{quote}", key), (f"token={quote}{{}}{quote}", value)):
            cut = chance.randrange(8, len(whole) - 8)
            cleaned = clean(text.format(whole[:cut] + joint + whole[cut:])).text
            assert whole[:cut] not in cleaned
            assert whole[cut:] not in cleaned


@pytest.mark.parametrize("between", ["\n", "\n  ", "\n\t", "\n> ", " \\\n  "])
def test_a_value_over_two_lines(between: str) -> None:
    """What goes on with a secret on the next line goes too; the line after it stays."""
    chance = random.Random(between)
    for _ in range(40):
        value = _drawn(chance, MIXED, 48)
        cut = chance.randrange(24, 38)
        if value[cut:].isalpha():
            continue
        cleaned = clean(f"api_key: {value[:cut]}{between}{value[cut:]}\nnext line\nthird").text
        assert value[:cut] not in cleaned
        assert value[cut:] not in cleaned
        assert cleaned.endswith("\nnext line\nthird")


@pytest.mark.parametrize("width", [60, 64, 72, 76])
@pytest.mark.parametrize("joint", ["\n", "\n    ", '",\n  "', "\\n"])
def test_base64_with_a_short_last_line(width: int, joint: str) -> None:
    """Wherever in it the secret stands, the whole block goes, its last line included."""
    chance = random.Random(width)
    for size in range(10, 70, 3):
        plain = f"{'a' * size} password: hX7!{_drawn(chance, MIXED, 12)}"
        encoded = base64.b64encode(plain.encode()).decode()
        lines = [encoded[at : at + width] for at in range(0, len(encoded), width)]
        cleaned = clean(f"Here:\n{joint.join(lines)}\nEnd.").text
        assert all(line.rstrip("=") not in cleaned for line in lines if len(line) > 4)
        assert cleaned.endswith("\nEnd.")


PLACES = (
    "Cookie: theme=dark; sid={}; lang=en", "Set-Cookie: s={}; Path=/; HttpOnly", '{{"Cookie": "a=b; s={}"}}',
    "curl -b 'sid={}; a=b' https://x.test", "curl --cookie \"a={}\" https://x.test", "mysql -u root -p{} db",
    "mysql -u root -p'{}' db", 'mysqldump -h x "-p{}" db', "mysqladmin -uroot -p{} status", "mariadb -p{}",
    "redis-cli -h x -a {} ping", "mongosh -u admin -p {} x", "ldapsearch -D cn=x -w {} -b y", "sshpass -p '{}' ssh x",
    "curl -u me:{} https://x.test", "psql postgres://me:{}@db/x", "tool --password {}", "tool --password={}",
    "smbclient //h/s -U me%{}", "htpasswd -b file me {}", "7z x -p{} a.7z", "PGPASSWORD={} psql",
    "cat /tmp/token_{}.json", "https://x.test/a?token={}&b=1",
)  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_places(place: str) -> None:
    """Cookies, command lines and names of files, with values of many forms."""
    chance = random.Random(place)
    for _ in range(30):
        value = "hX7" + _drawn(chance, MIXED, chance.randrange(14, 30))
        assert value not in clean(f"run\n{place.format(value)}\nthen").text


TABLES = (automaton(), *automata())


@pytest.mark.parametrize(
    ("tried", "rule"), [(tried, rule) for tried in TABLES for rule in tried.rules]
)
@settings(max_examples=5, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_each_line_is_used(tried: Automaton, rule: SecretRule, data: st.DataObject) -> None:
    """Whatever a line's pattern allows is found by way of its clue."""
    # What looks around is held by the text around it.
    value = data.draw(st.from_regex(rule.pattern, fullmatch=False))
    text = f"x\n{value}\n"
    known = text.isascii() and normalise(text) == text and len(text) < 3_000
    if known and rule.pattern.search(text):
        found = {one.name for one, _ in tried.matches(text, ascii_of(text), Meter(1 << 30))}
        assert rule.name in found


@pytest.mark.parametrize("table", TABLES, ids=["shapes", "places", "commands"])
def test_there_is_room_for_what_texts_ask_for(table: Automaton) -> None:
    """RE2 goes on without states, fifty times as slow, where some hundred of them do not fit."""
    size = finder(table.clue, case_sensitive=False).programsize
    assert 4 * size * 200 < AUTOMATON_BYTES


def test_texts_that_belong_together() -> None:
    """A value that one text names goes from those that lost the name, whole or cut; outside it stays."""
    chance = random.Random(9)
    for _ in range(100):
        value = _drawn(chance, MIXED, 32)
        cut = chance.randrange(12, 30)
        with together():
            clean(f"export API_TOKEN={value}")
            assert value not in clean(f"deploy {value} now").text
            assert value[:cut] not in clean(f"deploy {value[:cut]}…").text
            assert value[-cut:] not in clean(f"…{value[-cut:]} now").text
        assert value in clean(f"deploy {value} now").text
