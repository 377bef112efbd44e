"""The forms in which secrets are planted: shapes of issuers, grammars that name a value, encodings, and what
the user's own rules forbid. Values are made when it runs; none is anybody's."""

from __future__ import annotations

import base64
import json
import random
import string
import urllib.parse
from collections.abc import Callable
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + "234567"
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
RULES = r"""# Mine

## Privacy
- /qz-client-[a-z0-9]{16}/
- `Nightjar-[A-Z0-9]{16}`
- employer
"""
"""The user's CLAUDE.md while this runs."""


class Secret(NamedTuple):
    """`text` is what is planted; each of `values` must be nowhere afterwards."""

    text: str
    values: tuple[str, ...]


class Chance:
    """Makes random words."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def word(self, size: int, letters: str = ALNUM) -> str:
        """Return a random word with a digit and letters of both cases, where the letters have them."""
        while True:
            made = "".join(self._random.choices(letters, k=size))
            classes = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
            wanted = [one for one in classes if set(one) & set(letters)]
            if all(set(made) & set(one) for one in wanted):
                return made

    def digits(self, size: int) -> str:
        """Return random digits that begin with none of zero."""
        return str(self._random.randrange(10 ** (size - 1), 10**size))

    def card(self) -> str:
        """Return a card's number with its check digit."""
        body = "4" + self.digits(14)
        total = 0
        for place, char in enumerate(reversed(body)):
            digit = int(char) * (2 if place % 2 == 0 else 1)
            total += digit - 9 if digit > 9 else digit
        return body + str(-total % 10)


def shaped(
    make: Callable[[Chance], str], form: str = "use {} for it"
) -> Callable[[Chance], Secret]:
    """A value whose shape alone tells it."""

    def planted(chance: Chance) -> Secret:
        value = make(chance)
        return Secret(form.format(value), (value,))

    return planted


def named(form: str, size: int = 24, letters: str = ALNUM) -> Callable[[Chance], Secret]:
    """A value that its surroundings name; the form's `%s` is where it stands."""

    def planted(chance: Chance) -> Secret:
        value = chance.word(size, letters)
        return Secret(form.replace("%s", value), (value,))

    return planted


def _b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _jwt(chance: Chance) -> str:
    head = _b64(json.dumps({"alg": "HS256", "typ": "JWT"})).rstrip("=")
    body = _b64(json.dumps({"sub": chance.word(24)})).rstrip("=")
    return f"{head}.{body}.{chance.word(43, URLSAFE)}"


def _basic(chance: Chance) -> Secret:
    value = chance.word(20)
    encoded = _b64(f"deploy:{value}")
    return Secret(f"Authorization: Basic {encoded}", (value, encoded))


def _joined(chance: Chance) -> Secret:
    first, second = chance.word(16), chance.word(16)
    return Secret(f'password = "{first}" + "{second}"', (first, second))


def _two_lines(chance: Chance) -> Secret:
    first, second = chance.word(16), chance.word(16)
    return Secret(f'api_secret = "{first}\\\n{second}"', (first, second))


def _pem(chance: Chance) -> Secret:
    lines = [chance.word(64, ALNUM + "+/") for _ in range(5)]
    kind = "RSA PRIVATE KEY"
    body = "\n".join(lines)
    return Secret(f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----", tuple(lines))


def _encoded(chance: Chance) -> Secret:
    value = chance.word(24)
    text = _b64(f'db_password = "{value}"\n')
    return Secret(f"config: {text}", (value, text))


def _encoded_lines(chance: Chance) -> Secret:
    value = chance.word(24)
    whole = f'user = "app"\nhost = "db"\nport = 5432\nname = "ledger"\ndb_password = "{value}"\n'
    text = base64.encodebytes(whole.encode()).decode()
    # The lines before the last are nobody's secret.
    return Secret(text, (value, text.split("\n")[-2]))


def _percent(chance: Chance) -> Secret:
    value = chance.word(24)
    return Secret(urllib.parse.quote(f'user="app" password="{value}"', safe=""), (value,))


def _in_json(chance: Chance) -> Secret:
    value = chance.word(24)
    return Secret(json.dumps(json.dumps({"password": value})), (value,))


def _escaped(chance: Chance) -> Secret:
    value = chance.word(20)
    text = "".join(f"\\u{ord(char):04x}" for char in value)
    return Secret(f'{{"password": "{text}"}}', (value,))


def _private(chance: Chance) -> Secret:
    value = f"{chance.word(18)} {chance.word(18)}"
    return Secret(f"<private>the figures {value} of May</private>", tuple(value.split()))


def _employer(chance: Chance) -> Secret:
    value = chance.word(1, string.ascii_uppercase) + chance.word(16, string.ascii_lowercase)
    return Secret(f"I work for {value} Ltd since May.", (value,))


def _iban(chance: Chance) -> Secret:
    body = chance.digits(18)
    check = 98 - int(body + "131400") % 97
    value = f"DE{check:02d}{body}"
    return Secret(f"Pay it to {value}, please.", (value,))


FORMATS: dict[str, Callable[[Chance], Secret]] = {
    "AWS access key": shaped(lambda c: "AKIA" + c.word(16, UPPER)),
    "GitHub token": shaped(lambda c: "ghp_" + c.word(36)),
    "GitHub fine-grained": shaped(lambda c: f"github_pat_{c.word(22)}_{c.word(59)}"),
    "GitLab token": shaped(lambda c: "glpat-" + c.word(20)),
    "Slack token": shaped(lambda c: f"xoxb-{c.digits(12)}-{c.digits(12)}-{c.word(24)}"),
    "Stripe key": shaped(lambda c: "sk_live_" + c.word(24)),
    "OpenAI key": shaped(lambda c: f"sk-proj-{c.word(58)}T3BlbkFJ{c.word(58)}"),
    "Anthropic key": shaped(lambda c: f"sk-ant-api03-{c.word(93, URLSAFE)}AA"),
    "Google key": shaped(lambda c: "AIza" + c.word(35)),
    "npm token": shaped(lambda c: "npm_" + c.word(36)),
    "PyPI token": shaped(lambda c: "pypi-AgEIcHlwaS5vcmc" + c.word(70)),
    "SendGrid key": shaped(lambda c: f"SG.{c.word(22)}.{c.word(43)}"),
    "Hugging Face token": shaped(lambda c: "hf_" + c.word(34, string.ascii_letters)),
    "DigitalOcean token": shaped(lambda c: "dop_v1_" + c.word(64, HEX)),
    "Telegram token": shaped(lambda c: f"{c.digits(10)}:AA{c.word(33)}", "the bot's token is {}"),
    "JWT": shaped(_jwt),
    "assignment, quoted": named('password = "%s"'),
    "assignment, .env": named("export DB_PASSWORD=%s"),
    "assignment, hexadecimal": named("token = '%s'", 40, HEX),
    "assignment, spaced": named("raven token = %s", 32, HEX),
    "AWS secret": named("aws_secret_access_key = %s", 40, ALNUM + "+/"),
    "JSON": named('{"user": "app", "client_secret": "%s"}'),
    "YAML": named("database:\n  user: app\n  api_token: %s"),
    "TOML": named("[service]\nsecret_key = '%s'"),
    "XML": named("<login><user>app</user><secret>%s</secret></login>"),
    "properties": named("spring.datasource.password=%s"),
    "code": named('const apiKey = "%s";'),
    "SQL": named("ALTER USER app IDENTIFIED BY '%s';"),
    "ODBC": named("Server=db;Database=main;Uid=app;Pwd=%s;"),
    "concatenation": _joined,
    "over two lines": _two_lines,
    "header, bearer": named("Authorization: Bearer %s", 40),
    "header, basic": _basic,
    "header, X-Api-Key": named("X-Api-Key: %s", 32),
    "cookie": named("Cookie: theme=dark; sessionid=%s", 32),
    "set-cookie": named("Set-Cookie: auth=%s; HttpOnly; Path=/", 32),
    "URL with credentials": named("postgres://app:%s@db.example:5432/main"),
    "URL, query": named("https://api.example/v1/items?access_token=%s&page=2", 32),
    "URL, signed": named("https://files.example/a.zip?X-Amz-Date=20260503&X-Amz-Signature=%s", 64, HEX),
    "curl -u": named("curl -u deploy:%s https://api.example/v1", 20),
    "mysql -p": named("mysql -u app -p%s ledger", 20),
    "flag": named("deploy --user app --password %s --region eu", 20),
    "PEM": _pem,
    "base64": _encoded,
    "base64 on lines": _encoded_lines,
    "percent signs": _percent,
    "JSON in JSON": _in_json,
    "JSON escapes": _escaped,
    "prose": named("By the way, the password is %s and it works.", 18),
    "<private>": _private,
    "the user's rule, pattern": shaped(lambda c: "qz-client-" + c.word(16, string.ascii_lowercase + string.digits), "the case of {}"),
    "the user's rule, backticks": shaped(lambda c: "Nightjar-" + c.word(16, string.ascii_uppercase + string.digits), "the case of {}"),
    "the user's rule, category": _employer,
    "card": lambda chance: (lambda value: Secret(f"Pay with {value}, it expires in May.", (value,)))(chance.card()),
    "IBAN": _iban,
}  # fmt: skip
