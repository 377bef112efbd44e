"""Is this value a secret, or a placeholder, a reference, a word?"""

from __future__ import annotations

import math
import re
import string
from collections import Counter

from vector_memory.redact.randomness import strangeness
from vector_memory.text import tables
from vector_memory.text.analysis import parts_of
from vector_memory.text.technologies import CANONICAL

_ODD_LETTERS = 5.6
"""Bits a character from which on letters alone are no word."""
_RANDOM = 4.6
"""Bits a character from which on a value is no word, whatever its parts look like."""
_MIXED, _MIXED_FEW_DIGITS = 5.0, 5.3
"""Bits a character from which on letters and digits are no name, such as AES-256-GCM: with three digits or more,
and with fewer."""
_WORDY = 4.5
"""Bits a character up to which capitalised letters are words."""
PASSWORD = "password"
SECRET = "secret"
KEY = "key"

_PLACEHOLDER = re.compile(
    r"""[<\[{%(].{0,200}|[\w.$]{1,80}\[[^\]]{0,80}\]?|.{0,80}(?:\$\{|\{\{|\#\{|%\(|\$\(|<%|%s|\{\}|\{\d\}|\[redacted).{0,200}|\$[A-Za-z_]\w{0,60}"""
    r"""|[*.xX_#?•\-=~0 ]{1,200}|(.)\1{1,200}"""
    r"""|.{0,40}(?:example|placeholder|changeme|change[-_]me|dummy|your[-_ ]|my[-_]?(?:secret|password|token|api|key)|xxxx|\.\.\.|…|1234567|abcdef).{0,200}""",
    re.IGNORECASE | re.DOTALL,
)
_REFERENCE = re.compile(
    r"[$@&*!]{0,2}[A-Za-z_][\w$]*(?:(?:\.|->|::|/|\\)\$?[A-Za-z_][\w$-]*)+[?!]{0,2}"
)
_PATH_OR_URL = re.compile(
    r"(?:[a-z][a-z0-9+.-]{1,15}:)?//?[\w.~-]+(?:/[\w.~@-]*)*|\.{1,2}/.*|[A-Za-z]:\\.*"
)
_TYPE_NAME = re.compile(r"(?:[A-Z][a-z]{2,}){2,}$")
_DEEP_PATH = re.compile(r"/[a-z]{3,12}(?:/[\w.@~-]+){2,40}/?")
_RANGE = re.compile(r"[\^~<>=v]{0,2}\d{1,4}(?:\.(?:\d{1,5}|x|\*)){1,3}[-+.\w]{0,24}")
_LEAST_MADE, _LEAST_UNLIKE = 7, 6
_ABOUT = tables.sets("privacy_words")["about passwords"]
"""Of these one stands in words about passwords."""
_WITHOUT_DASHES = str.maketrans("", "", "-_/")
_CIPHERS = tables.sets("password_words")["ciphers"]
_JOINTS = "#!%&*^~"
"""Signs that join the parts of a secret, as they do no names."""
_WITHOUT_JOINTS = str.maketrans("", "", _JOINTS)
UUID = re.compile(
    r"(?<![0-9a-fA-F])[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}(?![0-9a-fA-F])"
)
_SIGNS = frozenset("!#$%^&*+?")
_QUOTING = " \t>|"
_VOWELS = "aeiouyAEIOUY"
_WITHOUT_VOWELS = str.maketrans(_VOWELS, " " * len(_VOWELS))
_DIGITS_APART = str.maketrans("0123456789", " " * 10)
_CLUSTER = 5
"""Consonants in a row as no word has them."""


def is_secret(value: str, kind: str, quoted: bool, is_plain: bool = False) -> bool:
    """Whether a value that a telling name is given is a secret.

    Args:
        value: the value without its quotes.
        kind: what the name promises: PASSWORD, SECRET (secrets and tokens) or KEY.
        quoted: whether it stood in quotes; a bare word may be code.
        is_plain: whether the name is a word for passwords and no more.
    """
    if _PLACEHOLDER.fullmatch(value):
        return False
    if quoted and (" " in value or "\n" in value):
        # It was broken over lines, which may be folded to one by now.
        lines = (line.lstrip(_QUOTING) for line in value.split("\n"))
        return kind != KEY and all(map(is_telling, " ".join(lines).split()))
    if kind == PASSWORD:
        if _is_cipher(value):
            return False
        return _is_password(value, quoted) or (is_plain and is_made(value))
    if kind == SECRET and quoted and len(value) >= 12 and _is_joined(value):
        return True
    return _is_token(value, 8 if kind == SECRET else 16)


def _is_cipher(value: str) -> bool:
    """Whether a value is the name of a cipher or a hash, by which passwords are kept."""
    is_plain = value.isascii() and value.translate(_WITHOUT_DASHES).isalnum()
    parts = parts_of(value) if is_plain else []
    return bool(parts) and len(parts[0]) > 2 and _CIPHERS.issuperset(parts)


def _is_joined(value: str) -> bool:
    parts = value.translate(_WITHOUT_JOINTS)
    return parts.isalnum() and value[:3].isalnum() and any(sign in value[3:-3] for sign in _JOINTS)


def _is_password(value: str, quoted: bool) -> bool:
    if not 5 <= len(value) <= 200:
        return False
    if _REFERENCE.fullmatch(value) and not any(char.isdigit() for char in value):
        return False
    if not quoted:
        return _is_mixed(value) or _is_odd(value)
    if _RANGE.fullmatch(value):
        return False
    if _has_digit(value) or any(not char.isalnum() and char not in "_-.: /" for char in value):
        return True
    return is_word_like(value) or (len(value) >= 16 and value.isalpha() and not is_wordy(value))


def is_word_like(value: str) -> bool:
    """Whether a value is a word that may be a weak password, rather than one about passwords."""
    is_word = value.isalpha() and value.islower() and len(value) >= 6
    return is_word and not any(word in value for word in _ABOUT)


def _is_mixed(value: str) -> bool:
    """Whether letters and digits are mixed as people mix them in passwords, and names do not."""
    if not _has_digit(value) or not any(char.isalpha() for char in value):
        return False
    special = any(not char.isalnum() and char not in "_-./:\\@" for char in value)
    return special or not is_wordy(value)


def _is_odd(value: str) -> bool:
    """Whether a value without digits is as long and as odd as no word is."""
    is_plain = len(value) >= 14 and value.isascii() and not _has_digit(value)
    return is_plain and strangeness(value) >= _ODD_LETTERS


def _is_token(value: str, shortest: int) -> bool:
    if not shortest <= len(value) <= 4_000 or " " in value:
        return False
    if not _has_digit(value):
        return _is_odd(value)
    if UUID.fullmatch(value):
        return True
    if _DEEP_PATH.fullmatch(value) or is_type_name(value):
        return False
    if _PATH_OR_URL.fullmatch(value) and (len(value) < 20 or is_wordy(value)):
        return False
    if not any(char.isalpha() for char in value) or is_wordy(value):
        return False
    return entropy(value) >= (2.8 if len(value) < 20 else 3.0)


def is_telling(value: str) -> bool:
    """Whether a value can hardly be anything but the secret that it was found as: long, and mixed as no
    word is."""
    return len(value) >= 8 and " " not in value and _is_mixed(value)


def is_made(value: str) -> bool:
    """Whether a value is made as people make passwords of words: with digits, and with capitals, signs or more
    digits than names have; and is none about passwords, as the names of code have it that ask for one."""
    if len(value) < _LEAST_MADE or not _has_digit(value) or not any(map(str.isalpha, value)):
        return False
    lowered = value.lower()
    if _RANGE.fullmatch(value) or _is_listed(value) or any(word in lowered for word in _ABOUT):
        return False
    digits = sum(map(str.isdigit, value))
    return lowered != value or not value.replace("_", "").isalnum() or digits > 1


def _is_listed(value: str) -> bool:
    """Whether a value has the form of a constant, a path, an address with a port, or of a file, a host or an attribute."""
    host, _, port = value.rpartition(":")
    has_port = bool(host) and port.isdigit()
    return value.isupper() or "/" in value or has_port or value.partition(".")[2][:1].islower()


def is_passphrase(value: str) -> bool:
    """Whether letters alone are words written together as somebody's password may be, and none about passwords, as
    the names of code have it that ask for one."""
    is_joined = value.isalpha() and value[1:] != value[1:].lower() and value != value.upper()
    return is_joined and len(value) >= 16 and not any(word in value.lower() for word in _ABOUT)


def is_unlike_words(value: str) -> bool:
    """Whether a password that was found is seldom anything else where it stands again as a whole word: it is neither
    letters nor digits alone, and has a capital or more digits than names have."""
    if len(value) < _LEAST_UNLIKE or value.isalpha() or not any(map(str.isalpha, value)):
        return False
    return value != value.lower() or sum(map(str.isdigit, value)) > 1


def is_said(value: str, kind: str) -> bool:
    """Whether a value may stand right behind what it is in talk, with nothing but white space between: letters of
    both cases and digits as no name mixes them, or a password with a sign as no name has it."""
    if len(value) < 8 or value[0] in "/~." or not _is_mixed(value):
        return False
    if kind == PASSWORD and not _SIGNS.isdisjoint(value):
        return True
    is_both = value.upper() != value != value.lower()
    least = _MIXED if sum(map(str.isdigit, value)) > 2 else _MIXED_FEW_DIGITS
    return is_both and strangeness(value) >= least


def is_put_together(value: str) -> bool:
    """Whether a value is words written together, with a number of two digits or more at the end, or with a longer
    one between, and no technology."""
    words = value.rstrip("0123456789")
    parts = value.translate(_DIGITS_APART).split()
    if words == value and len(parts) == 2 and value[:1].isalpha() and value.isalnum():
        return len(value) - len(parts[0]) - len(parts[1]) > 2 and is_made(value)
    is_joined = (
        words.isalpha() and words[1:] != words[1:].lower() and words.lower() not in CANONICAL
    )
    return is_joined and len(value) - len(words) > 1 and is_made(value)


def is_id(value: str) -> bool:
    """Whether a value has the form of an id that programs give out: a UUID, or hexadecimal digits."""
    return UUID.fullmatch(value) is not None or not value.strip(string.hexdigits)


def is_type_name(value: str) -> bool:
    """Whether a value ends in words that are written together, as names of types do."""
    words = _TYPE_NAME.search(value)
    if words is None or strangeness(words[0]) >= _WORDY:
        return False
    return 3 * len(words[0]) > len(value) or strangeness(value) < _RANDOM


def _has_digit(value: str) -> bool:
    return any("0" <= char <= "9" for char in value)


def is_wordy(value: str) -> bool:
    """Whether most of a value reads like words and plain numbers: names, versions, sentences."""
    parts = parts_of(value.encode("ascii", "replace").decode("ascii"))
    letters = sum(len(part) for part in parts)
    if not letters:
        return True
    readable = sum(len(part) for part in parts if _is_readable(part))
    number_runs = sum(1 for part in parts if part[0].isdigit())
    return (
        readable >= 0.75 * letters
        and number_runs <= 1 + len(parts) // 4
        and strangeness(value) < _RANDOM
    )


def _is_readable(part: str) -> bool:
    if part[0].isdigit():
        return len(part) <= 4
    if len(part) < 3:
        return False
    consonants = part.translate(_WITHOUT_VOWELS)
    return consonants != part and max(map(len, consonants.split()), default=0) < _CLUSTER


def entropy(value: str) -> float:
    """Return the Shannon entropy of a value's characters, in bits for each."""
    size = len(value)
    return -sum(n / size * math.log2(n / size) for n in Counter(value).values())
