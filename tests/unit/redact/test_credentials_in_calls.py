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
        "psk={}",
        'gw.dev : PSK "{}"',
        "bindpw {}",
        "olcRootPW: {}",
        "snmp-server community {} RW",
        'DriverManager.getConnection(url, user, "{}");',
        "new PDO($dsn, $user, '{}')",
        "mysqli_connect($host, 'wp', '{}', 'wp')",
        "get(u, auth=('svc', '{}'))",
        "smtp.login(user, '{}')",
        "jwt.sign({{sub: user.id}}, '{}', {{expiresIn: '1h'}})",
        "crypto.createHmac('sha256', '{}')",
    ],
)
def test_what_is_told_as_a_secret_goes(text: str, value: str) -> None:
    """Whatever stands between the value and what it is."""
    assert value not in clean(text.format(value)).text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("SecretID:         {}", "583fd83d-2e1b-" + "4b57-ac36-4701d0f642f5"),
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
        "bindpw: ${LDAP_BINDPW}",
        "PSK: wpa2-enterprise",
        "snmp-server community public RO",
        "mfa secret that must have been used",
        "recovery codes: print-outs are kept in the safe",
        "The token tests fail in:\nsrc/auth/token_refresh_test2.py",
        "The password rotation broke at commit:\n3f1c2a449be07d5512cc90ab3417ef6621d0c8aa",
        "The password migration is:\n20261128093412_add_token_hash_to_sessions",
        "getConnection(url, user, password);",
        "s.login('postman', '${SMTP_PASS}')",
        "gallery.login('title', 'subtitle')",
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
