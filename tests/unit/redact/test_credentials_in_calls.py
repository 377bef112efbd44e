"""Secrets that a call, a short option or the name of a setting tells. All are made up and put together at run time."""

from __future__ import annotations

import pytest

from vector_memory.redact import clean

MADE, SIGNED = "Kx7" + "dR2vQ9" + "mTz4Wn", "Fjell" + "rev!" + "1987"


@pytest.mark.parametrize("value", [MADE, SIGNED])
@pytest.mark.parametrize(
    "text",
    [
        "curl -fsSLu deploy:{} https://files.dev",
        "curl -ku 'ci-bot:{}' https://10.1.1.2/api",
        "curl -H 'Accept: a; q=1 | b' -sSu=ops:{} https://a.dev",
        "curl -uops:{} https://a.dev",
        "curl -sSuops:{} https://a.dev",
        "curl -X POST https://a.dev -ku'ops:{}'",
        "http --auth=ops:{} a.dev",
        "pw for ann is at postgres://app:{}@db.example:5432/main",
        "psk={}",
        'gw.dev : PSK "{}"',
        "bindpw {}",
        "olcRootPW: {}",
        "snmp-server community {} RW",
        'DriverManager.getConnection(url, user, "{}");',
        "new PDO($dsn, $user, '{}')",
        "mysqli_connect($host, 'wp', '{}', 'wp')",
        "get(u, auth=('svc', '{}'))",
        'smtp.login(\n    "me@a.dev",\n    "{}",\n)',
        'DriverManager.getConnection(\n    url,\n    user,\n    "{}")',
        "jwt.sign(\n  {{ sub: user.id }},\n  '{}',\n)",
        "smtp.login(user, '{}')",
        "jwt.sign({{sub: user.id}}, '{}', {{expiresIn: '1h'}})",
        "crypto.createHmac('sha256', '{}')",
    ],
)
def test_what_is_told_as_a_secret_goes(text: str, value: str) -> None:
    """Whatever stands between the value and what it is; what stands for it is whole."""
    cleaned = clean(text.format(value)).text
    assert value not in cleaned and "[redacted:[" not in cleaned


def test_words_before_a_key_in_groups_stay() -> None:
    """They have as many letters as its groups, but in the other case."""
    value = "JBSW Y3DP " + "EHPK 3PXP"
    for words in ("TOTP code step", "TOTP. Code step"):
        assert clean(f"{words} {value}").text == f"{words} [redacted:secret]"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SecretID:         {}", "583fd83d-2e1b-" + "4b57-ac36-4701d0f642f5"),
        ("A temporary password is generated for root@localhost: {}", "k;Yw3" + "sP+u" + "Rq9"),
        ("Your new API token is: {}", MADE),
        ("Password for the [elastic] user successfully reset.\nNew value: {}", MADE),
        ("Token created. Copy it now, it is not shown again:\n\n```\n{}\n```", MADE),
        ("Generated password: {}.", "o;F3" + "k(Wq,7R"),
        ("TOTP secret: {}", "7sm6 zhd4 abky yssk " + "4ado alq2 mxmj l53o"),
        ("A temporary password is generated for root@localhost: {}", "o,F3" + "k+Wq;7,R"),
        ("The root password for the server is this one: {}", "zR7#" + "kQ,m#4Tp"),
        ("The admin password of the wiki, again: {}", "kX9!" + "mQ,2!vT"),
        ("The token of the CI job is this one: {}", "aB3/dE5f" + "G7hJ9k,L1mN/pQ4r" + "S6tU8v"),
        ("Use this secret key in your app:\n\n  {}", "JBSW Y3DP " + "EHPK 3PXP"),
        ("authenticator setup key: {}", "Abcd efg2 " + "hijk lmno"),
        ("GitHub recovery codes, keep them:\n{}", "phxeg-" + "nlvoz\n1ddyo-" + "46huc"),
        ("Backup codes:\n\n1. {}", "A1B2-" + "C3D4\n2. 9XK2-" + "77QP"),
        ("https://api.telegram.org/bot{}/getMe", "7123456789:AA" + "T-PZll5FE13exK6Dys6L_xhotrzFVdRrJ"),
    ],
)  # fmt: skip
def test_codes_and_tokens_go(text: str, value: str) -> None:
    """In the forms that services print them in."""
    assert value not in clean(text.format(value)).text


@pytest.mark.parametrize(
    "text",
    [
        "curl -sSu $USER:$PASS https://a.dev",
        "curl -sku https://a.dev:8443/x",
        "iwr https://a.dev/f.zip -OutFile:file.zip",
        "curl https://a.dev/f.zip -OutFile:file.zip",
        "curl https://a.dev/x | rsync -vuhost:dirname . && curl https://a.dev; ls -luhost:dirname",
        "curl https://a.dev/x | tar xz && rsync -azu host:backup/dir .",
        "curl https://a.dev; docker run -itu node:nodegroup img",
        "bindpw: ${LDAP_BINDPW}",
        "PSK: wpa2-enterprise",
        "snmp-server community public RO",
        "snmp-server community COMMUNITY_NAME RO",
        "psycopg2.connect(a, b, 'dbname=billing2')",
        "psycopg2.connect(a, b,\n    'host=db1 user=x')",
        "s.login(\n    user,\n    password2,\n)",
        "mfa secret that must have been used",
        "setup key that took 2345 more than this must",
        "two-factor code step that must have 2nd user form",
        "Two-factor: Code step that must have 2nd user form",
        "mfa code step that must 3 form user",
        "backup codes:\n12345678\n87654321\nsave-them",
        "Exit codes below, the recovery codes too:\n404\n502-5033\nlogin-flows\nadmin-2026",
        "Token usage is in: src/a.py#L20",
        "The password must contain: A-Z,a-z,0-9!",
        "Password hashing took: 12ms/op,4B/op+2",
        "The password lengths are these: 8-12B,16-32B",
        "The password may have all of these: A+Z,a+z,0+9!",
        'The password field has: type="password",Length=8',
        "The key bindings are: Ctrl+Alt+F5,Ctrl+F6",
        "The token hash:\nAbC1dEf2" + "GhJ3kLm4",
        "Reset your password here: https://a.dev/Reset?Id=42&x=1",
        "The token map is: Map<String,Int2>",
        "recovery codes: print-outs are kept in the safe",
        "The token tests fail in:\nsrc/auth/token_refresh_test2.py",
        "The password rotation broke at commit:\n3f1c2a449be07d5512cc90ab3417ef6621d0c8aa",
        "The password migration is:\n20261128093412_add_token_hash_to_sessions",
        "getConnection(url, user, password);",
        "s.login('postman', '${SMTP_PASS}')",
        "gallery.login('title', 'subtitle')",
        "await auth.login(page, 'role=button2')",
        "jwt.verify(token, publicKey, { algorithms: ['RS256'] })",
        "createHmac('sha256', process.env.SECRET)",
        "HTTPBasicAuth('user', 'YOUR_PASSWORD')",
        "/api/v2/sessions is the password endpoint",
        "OAuth2TokenV3 is the token type",
        "v2.14.0-rc.1 is in the token service",
        "use tokens.py:214 as the token example",
        "the old token stopped working, the new one is in the vault",
    ],
)
def test_names_references_and_versions_stay(text: str) -> None:
    """What by its form is no secret stays in the same places."""
    assert clean(text).text == text


def test_a_password_with_an_equals_sign_goes() -> None:
    """Only what a driver is given in one text is made of names and values."""
    value = "Tiger=" + "2024x"
    for call in ("smtp.login('me', '{}')", "oracledb.connect('me', '{}')", "FTP('h', 'me', '{}')"):
        assert value not in clean(call.format(value)).text
