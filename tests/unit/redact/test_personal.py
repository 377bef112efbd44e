"""Cards, social security numbers and accounts go; numbers that only look like them stay."""

from __future__ import annotations

import pytest

from vector_memory.redact import clean
from vector_memory.redact.personal import DEFAULT, is_iban, luhn
from vector_memory.redact.policy import Policy

ALL = Policy((*DEFAULT, "email", "phone"))


@pytest.mark.parametrize(
    "number",
    ["4111 1111 1111 1111", "4111-1111-1111-1111", "4111" + "1" * 12, "3782 822463 10005"]
    + ["5555555555554444", "6011111111111117", "3530111333300000", "2223003122003222"],
)
def test_cards(number: str) -> None:
    """Card numbers of the known issuers go, grouped or not."""
    assert clean(f"paid with {number}, thanks").text == "paid with [redacted:card], thanks"


@pytest.mark.parametrize(
    "line",
    [
        "4111 1111 1111 1112 has a wrong check digit",
        "at 1700000000000000 us and 1700000000000 ms",
        "id=4111111111111111",
        "commit 4111111111111111aa",
        "1.4111111111111111",
        "order 4111111111111111-2",
        "9111111111111111 has no issuer",
        "version 10.0.19041.4111 line 4111:1111",
        "20261121104912",
        "000-12-3456 and 666-12-3456 and 900-12-3456",
        "2026-11-21 and 123-456-789",
        "DE89 3704 0044 0532 0130 01",
        "GB82 WEST 1234",
        "me@example.org or +49 30 1234567",
    ],
)
def test_other_numbers_stay(line: str) -> None:
    """Identifiers, times, hashes, versions and dates are nobody's, nor is what was not asked for."""
    assert clean(line, Policy()) == (line, 0)


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        ("ssn 219-09-9999.", "ssn [redacted:ssn]."),
        ("SSN: 219099999", "SSN: [redacted:ssn]"),
        ("social security number is 219 09 9999", "social security number is [redacted:ssn]"),
        ("to DE89 3704 0044 0532 0130 00 today", "to [redacted:iban] today"),
        ("GB82WEST12345698765432", "[redacted:iban]"),
        ("pay NL91 ABNA 0417 1643 00 NOW", "pay [redacted:iban] NOW"),
    ],
)
def test_numbers_of_people(raw: str, left: str) -> None:
    """Social security numbers and bank accounts go by default."""
    assert clean(raw).text == left


@pytest.mark.parametrize(
    ("raw", "left"),
    [
        ("write to jane.doe+x@mail.example.org!", "write to [redacted:email]!"),
        ("call +49 30 1234567 or (212) 555-0134", "call [redacted:phone] or [redacted:phone]"),
        ("at 10.20.30.40:8080, 2026-11-21 10:49:12", "at 10.20.30.40:8080, 2026-11-21 10:49:12"),
        ("uses: actions/checkout@v4, npm i x@1.2.3", "uses: actions/checkout@v4, npm i x@1.2.3"),
    ],
)
def test_what_was_asked_for(raw: str, left: str) -> None:
    """E-mail addresses and telephone numbers go where the setting names them."""
    assert clean(raw, ALL).text == left


def test_check_digits() -> None:
    """The check digits are those of the standards."""
    assert luhn("79927398713") and not luhn("79927398710") and not luhn("0000000000000")
    assert is_iban("GB82 WEST 1234 5698 7654 32") and not is_iban("GB83 WEST 1234 5698 7654 32")
    assert not is_iban("ZZ82 WEST 1234 5698 7654 32")
