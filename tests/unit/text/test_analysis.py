"""The analyser: what two people would type for the same thing must meet in one term."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vector_memory.text import analysis


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("We decided to use the parsers", {"decid", "parser"}),
        ("src/app/parse_config.py:42", {"src/app/parse_config.py", "parse_config", "config"}),
        ("getUserName()", {"getusername", "user", "name"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("noise-worklet.js", {"noise-worklet.js", "noise-worklet", "worklet"}),
        ("#ffeee1 node18", {"ffeee1", "node18", "node"}),
        ("日本語", {"日本", "本語"}),
    ],
)
def test_identifiers_are_found_whole_and_in_parts(text: str, terms: set[str]) -> None:
    """An identifier, a path and a file's name give the whole and its parts."""
    assert terms <= set(analysis.analyse(text))


def test_forms_of_a_word_share_a_stem() -> None:
    """Plural, past and gerund are one term; a word that only looks alike is not."""
    assert len({analysis.stem(word) for word in ("connect", "connected", "connecting")}) == 1
    assert analysis.stem("relational") == analysis.stem("relate")
    assert analysis.stem("connect") != analysis.stem("context")
    assert analysis.stem("caresses") == "caress"
    assert analysis.stem("ponies") == "poni"
    assert analysis.stem("hopping") == "hop"
    assert analysis.stem("falling") == "fall"
    assert analysis.stem("happy") == "happi"


@pytest.mark.parametrize(
    "forms",
    ["use uses used using", "key keys keyed", "try tries tried trying", "add adds added adding",
     "err errs erred", "day days", "tie ties"],
)  # fmt: skip
def test_a_short_word_and_its_forms_share_a_stem(forms: str) -> None:
    """Whoever asks what uses something finds what they use it for."""
    assert len({analysis.stem(word) for word in forms.split()}) == 1


def test_short_words_stay_apart() -> None:
    """Three letters are too few to take an ending from."""
    words = ("us", "use", "id", "ide", "io", "ios", "go", "age", "ad", "add", "bus")
    assert len({analysis.stem(word) for word in words}) == len(words)


def test_stop_words_and_apostrophes_carry_nothing() -> None:
    """Words of every sentence are dropped, with or without an apostrophe."""
    assert analysis.analyse("it's what we don't have") == []


@pytest.mark.parametrize(
    ("text", "terms"),
    [("IŞIL'da", {"isil", "isil~", "da"}), ("NAS’ta", {"nas", "ta"}), ("the API's", {"api"}), ("user's", {"user"}),
     ("dell'IVA", {"delliva", "dell", "iva"}), ("DON'T I'm", set())],
)  # fmt: skip
def test_an_ending_behind_capitals_is_no_part_of_the_name(text: str, terms: set[str]) -> None:
    """An apostrophe parts it from them; elsewhere it joins."""
    assert set(analysis.analyse(text)) == terms


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("IŞIK", "ışık"),
        ("İstanbul", "istanbul"),
        ("Größe", "grosse"),
        ("búsqueda", "busqueda"),
        ("ёлка", "елка"),
        ("ﻻ", "لا"),
        ("ｶﾀｶﾅ", "カタカナ"),
        ("مَكتبة", "مكتبة"),
    ],
)
def test_forms_of_a_letter_are_one(one: str, other: str) -> None:
    """Case, accents, widths and vowel signs make no other word."""
    assert set(analysis.analyse(other)) <= set(analysis.analyse(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Müşteri faturaları gönderiliyor", "müşteriye faturayı yolluyoruz"),
        ("счета клиентам отправляются", "клиент получает счёт"),
        ("लेखांकन सेवाओं की सूची", "सेवा"),
        ("käyttäjien istunnot tallennetaan", "istuntoja äsken"),
        ("ສະບາຍດີຕອນເຊົ້າ", "ຕອນ"),
        ("မင်္ဂလာပါရှင်", "လာပါ"),
        ("សួស្តីពិភពលោក", "ពិភព"),
    ],
)
def test_forms_of_a_word_of_another_language_meet(one: str, other: str) -> None:
    """What endings leave of a word is a term, and so are pairs of characters without spaces between."""
    assert set(analysis.analyse(one)) & set(analysis.analyse(other))


@pytest.mark.parametrize(
    "text",
    [
        "We went to the café on Main Street and had a look at the résumé of José.",
        "The cache keeps 40 µs entries — “hot” ones … and drops the rest ✅",
        "pytest, ruff lint, ruff format check, pyright type check, build, release, config",
        "def mock_query_one(selector, expected_type=None): return None",
    ],
)
def test_an_english_text_has_no_pieces(text: str) -> None:
    """A borrowed word, a sign or a list of commands makes no other language of it."""
    assert not [term for term in analysis.analyse(text) if analysis.is_piece(term)]


def test_a_long_text_of_english_letters_may_be_another_language() -> None:
    """Without any word of those that English is made of, its words have pieces."""
    text = "Sicherungskopien der Datenbank werden jede Nacht erstellt und zwei Wochen aufbewahrt"
    assert {"kopi~", "aten~"} <= set(analysis.analyse(text))


def test_a_short_question_is_asked_in_pieces_too() -> None:
    """What may be of another language looks for pieces, which no English text holds."""
    assert "kund~" in analysis.pieces_of("Wann bekommt ein Kunde seine Rechnung?")
    assert analysis.pieces_of("when does the customer get it?") == []


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("Wie legen wir die Rechnungen ab?", ["legen", "rechnungen"]),
        ("¿Dónde está la copia de los pedidos?", ["copia", "pedido"]),
        ("what do we use as a key for the DES cipher?", ["use", "key", "des", "cipher"]),
        ("die or des?", ["die", "des"]),
        ("und wie jetzt?", []),
        ("und jetzt", []),
    ],
)
def test_a_question_abroad_has_no_stop_words_of_its_language(
    question: str, words: list[str]
) -> None:
    """In English all of its words count, whatever they are elsewhere, and so they do beside English ones where there are
    no others."""
    terms = analysis.query_terms(question)
    assert [term for term in terms if not analysis.is_piece(term)] == words


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("thanks, done for today", 2),
        ("danke, schluss für heute", 3),
        ("Tschüss, schönen Abend", 3),
        ("und jetzt", 0),
        ("Die Rechnungen liegen im Keller, über dem Ofen.", 4),
        ("müşteriye faturayı yolladım", 3),
    ],
)
def test_how_much_is_said_is_told_by_words(text: str, count: int) -> None:
    """A word of another language has many pieces, and says no more for that."""
    assert len(analysis.said_words(text)) == count


def test_query_terms_are_distinct_and_bounded() -> None:
    """A query repeats nothing and never grows past its limit."""
    terms = analysis.query_terms(" ".join(f"word{i} word{i}" for i in range(100)), 10)
    assert len(terms) == len(set(terms)) == 10


@given(st.text(max_size=300))
def test_any_text_can_be_analysed(text: str) -> None:
    """No text breaks the analyser, and no term holds white space: indexes split at it."""
    for term in analysis.analyse(text):
        assert term
        assert term == "".join(term.split())
