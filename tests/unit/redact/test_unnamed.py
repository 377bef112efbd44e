"""Passwords that no name tells: given to commands, and told in talk. All are made up and put together at run time."""

from __future__ import annotations

import json

import pytest

from vector_memory.redact import clean, together
from vector_memory.redact.unnamed import WEIGHTS_FILE

MADE = tuple(map("".join, (("Korn", "feld7bach"), ("vollkorn", "Drachen19!"), ("Lantern", "-river-88"))))  # fmt: skip


@pytest.mark.parametrize("value", MADE)
@pytest.mark.parametrize(
    "command",
    [
        "echo {} | sudo -S systemctl restart nginx", "echo '{}' | sudo -S -p '' ls", "echo \"deploy:{}\" | sudo chpasswd",
        "printf '%s\\n' '{}' | docker login -u bot --password-stdin", "su - deploy <<< '{}'", "kinit ann@EXAMPLE <<< {}",
        "echo -n '{}' | docker secret create db_pw -", "printf '%s' '{}' > /run/secrets/db", "echo {} | sudo tee /etc/vpn/psk/a >/dev/null",
        "gh secret set DEPLOY --body '{}'", "vault kv put secret/db dsn='{}'", "kubectl create secret generic db --from-literal=dsn='{}'",
        "curl -d 'u=ann' -d 'p={}' http://x/login", "rabbitmqctl add_user app '{}'", "wpa_passphrase HomeNet '{}'", "bw unlock '{}'",
        "ssh-keygen -t ed25519 -N '{}' -f k", "openssl enc -aes-256-cbc -k '{}' -in a -out b", "xfreerdp /u:a /p:{} /v:h",
        "lftp -u app,{} ftp://x", "expect -c 'expect \"password:\"; send \"{}\\r\"'", "keytool -list -keystore a.jks -storepass {}",
        "cypher-shell -u neo4j -p '{}' 'MATCH (n) RETURN n'", "pulumi config set --secret shop:dbPw '{}'",
    ],
)  # fmt: skip
def test_what_a_command_takes_as_a_password_goes(command: str, value: str) -> None:
    """At its standard input, behind an option, by its place, in a form or in a file that says what it holds."""
    assert value not in clean(command.format(value)).text


@pytest.mark.parametrize(
    "command",
    [
        "echo $PW | sudo -S ls", "echo hello | sudo tee /etc/motd", "docker run -u 1000 -p 8080:80 web", "sudo -u postgres psql -p 5433",
        "sudo -u deploy mkdir -p releases2", "psql -U app -p 5432 shop", "cat <<< 'release notes of 2024'", "echo 'class Token:' > src/token.py",
        "rsync -u build2 -p out", "git push -u origin feature2", "curl -d 'q=Release2024' http://x", "kubectl create configmap a --from-literal=mode=Debug2x",
    ],
)  # fmt: skip
def test_the_same_options_and_programs_with_something_else_stay(command: str) -> None:
    """Ports, folders, branches, variables, and what other programs read."""
    assert clean(command).text == command


@pytest.mark.parametrize("value", MADE)
@pytest.mark.parametrize(
    "talk",
    [
        "log in as demo@acme.example with {} and click through the checkout", "staging is behind basic auth, it's acme / {}",
        "the login there is admin / {}", "user is admin, pw is {}", "sign in w/ admin {} pls", "het wachtwoord van de testserver is nu {}",
        "la contraseña del wifi es {}", "Passwort für den Router ist {}",
    ],
)  # fmt: skip
def test_what_people_tell_without_naming_it_goes(talk: str, value: str) -> None:
    """Also in other languages, and of words that are no random letters."""
    assert value not in clean(talk.format(value)).text


@pytest.mark.parametrize(
    "text",
    [
        "log in as admin and open UserService", "the login uses Jinja2 and keycloak26", "we hash them with argon2id, as reviewers asked",
        "use OAuth2Client with PKCE", "see BSD-3-Clause and Apache-2.0", "the wifi chip is an ESP32-S3 on rev2.1",
        "run `pytest -k test_login_2024` first", "exit code 4096 of build 20241101", "GPIO pin 1017 and pin 13", "version pin 2.4.1",
        "User: Please create the instance as db.t4g.medium for staging", "for prod take db.r6g.large and cache.t4g.micro",
        "User: set it to Standard_B2ms", "User: flash the nRF52840 and log in as root", "the box is called ArchLinux2024", "log in and drop the Co-Authored-By trailer",
        "the gate code is changed monthly since November 2026", "the alarm code was last changed 12 May 2025 by Jo",
    ],
)  # fmt: skip
def test_names_numbers_and_versions_stay(text: str) -> None:
    """Beside words of logging in, too."""
    assert clean(text).text == text


@pytest.mark.parametrize(
    "name", ["admin_password", "administrator_login_password", "adminToken", "login_secret"]
)
def test_a_name_that_ends_as_a_counted_one_does_names_a_secret(name: str) -> None:
    """`min_tokens` counts, `admin_token` does not, though "admin" ends in "min"."""
    value = "x9Kd" + "!kkLp2mQ7"
    assert value not in clean(f'{name} = "{value}"').text
    assert clean("min_tokens = 4096, n_tokens: 12").text == "min_tokens = 4096, n_tokens: 12"


@pytest.mark.parametrize(
    "text",
    [
        "my pin is {}",
        'curl -d \'{{"pin":"{}"}}\' http://x',
        "die PIN für das Tor ist {}",
        "the gate code is {}",
    ],
)
def test_pins_and_codes_go(text: str) -> None:
    """A number is one by what is said of it."""
    assert "8417" + "26" not in clean(text.format("8417" + "26")).text


def test_what_a_command_tells_goes_from_what_was_said_before() -> None:
    """A PIN and words written together are known again, where nothing names them; part of a longer number is not."""
    pin, words = "8417" + "26", "schipper" + "MagIkOvervaren"
    with together():
        clean(f'curl -d \'{{"pin":"{pin}"}}\' http://x; AMQP_PASS={words} run')
        assert pin not in clean(f"staff 00001, i tap {pin} on the keypad").text
        assert clean(f"id 9{pin}0").text == f"id 9{pin}0"
        assert words not in clean(f"the phrase is {words} all in one word").text
    assert clean("name = getUserRepository").text == "name = getUserRepository"


def test_the_weights_say_what_they_stand_on() -> None:
    """Figures for each writer left out, and what is taken of ordinary text; a small file."""
    stored = json.loads(WEIGHTS_FILE.read_text(encoding="utf-8"))
    assert len(stored["figures"]) >= 4 and stored["data"].startswith("sha256:")
    assert WEIGHTS_FILE.stat().st_size < 60_000


@pytest.mark.parametrize(
    "text",
    ["PASS: test-parser-22", "compass: north-22", "bypass: rule-1234", "passing: 12-34", "password=user_42"],
)  # fmt: skip
def test_what_only_begins_or_ends_as_a_word_for_passwords_stays(text: str) -> None:
    """Results of tests, bearings, switches, names of code."""
    assert clean(text).text == text


@pytest.mark.parametrize(
    "start", ["Passwort: ", "adminPassword: ", "MARIADB_ROOT_PASSWORD: ", "DB_PASS="]
)
def test_words_with_a_number_are_a_password_where_one_is_named(start: str) -> None:
    """Outside quotes, too, also as a part of a longer name."""
    assert "chestnut" not in clean(start + "chestnut" + "Tree14").text


def test_what_was_taken_out_makes_nothing_next_to_it_secret() -> None:
    """A placeholder's own words count as nothing, and none is looked into."""
    text = "see [redacted:password] and [redacted:1password], then the host db-prod7 of the login"
    assert clean(text).text == text


def test_a_text_that_is_one_word_is_looked_at_once() -> None:
    """However many places in it look like a value's beginning."""
    text = "éa1" * 20_000
    assert clean(text).text == text
