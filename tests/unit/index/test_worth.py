"""What is worth keeping, and what it is meant as: single sentences that nobody can take otherwise."""

from __future__ import annotations

import pytest

from vector_memory.index.ideas import intent_of
from vector_memory.index.plain_kinds import plain_kind
from vector_memory.index.units import cues, units
from vector_memory.index.worth import MEANING, WORDS, Verdict, features, verdicts, weights


def verdict(said: str) -> Verdict:
    """Return what the last sentence of a passage is worth, without a vector."""
    return verdicts(units([said]), None)[-1]


@pytest.mark.parametrize(
    "said",
    [
        "User: Ok, then add some tests",
        "User: Don't change anything, just let me know",
        "User: Please add an index",
        "User: can you look at the failing tests?",
        "Assistant: I'll run the tests now.",
        "Assistant: 2297 passed, 0 failed.",
    ],
)
def test_what_is_over_when_it_is_done_is_not_kept(said: str) -> None:
    """A request is no rule, and neither is success a problem."""
    assert not any(told.is_kept for told in verdicts(units([said]), None))


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("no recursion in the parser", "preference"),
        ("composition, not inheritance", "preference"),
        ("nothing synchronous in the request path", "preference"),
        ("customer ids are strings, always", "preference"),
        ("prod is eu-west-1", "fact"),
        ("Die Streamlit-Oberfläche lassen wir sterben", ""),
        ("keine Passwörter in den Logs", "preference"),
        ("no, the other file please", ""),
        ("no errors now", ""),
        ("no rows came back", ""),
        ("only three of them arrived in time", ""),
        ("only if it's easy", ""),
        ("two of three pass", ""),
        ("no idea?", ""),
        ("Nothing in this file is used by anything any more, as far as I can see in the log", ""),
    ],
)
def test_a_terse_line_says_what_always_holds(said: str, kind: str) -> None:
    """Of the user's alone, and not of what is at hand."""
    assert plain_kind(said, is_users=True) == kind
    assert plain_kind(said, is_users=False) == ""


@pytest.mark.parametrize(
    ("said", "kinds"),
    [
        ("User: We always use pnpm here, never npm.", {"decision", "preference"}),
        ("User: From now on, never commit to main directly.", {"decision", "preference"}),
        ("Assistant: The ledger uses WAL, since readers never block the writer.", {"fact", "cause", "conclusion"}),
        ("Assistant: Decided: uploads are packed into eight bytes, since the network allows no more.", {"decision"}),
        ("Assistant: TODO: the backup of the invoices needs a checksum for each archive.", {"todo"}),
        ("Assistant: The importer works. Still to do: retries and the docs.", {"todo"}),
        ("Assistant: The parser is done. The next step is to wire it into the CLI.", {"todo"}),
        ("Assistant: 次のステップ：\n- 用語集を書く", {"todo"}),
        ("Assistant: 待办事项：\n- 更新部署文档", {"todo"}),
        ("Assistant: 다음 단계:\n- 테스트 추가하기", {"todo"}),
    ],
)  # fmt: skip
def test_what_holds_is_kept(said: str, kinds: set[str]) -> None:
    """Rules of the user, what was found, what is left to do."""
    told = verdict(said)
    assert told.is_kept
    assert intent_of(units([said])[-1], told) in kinds


def test_each_set_of_weights_fits_its_features() -> None:
    """With a vector and without one."""
    (unit,) = units(["User: We use Postgres for the queue, and no Redis."])
    size = len(features(unit, cues(unit)))
    assert {name: table.shape[1] for name, table in weights().tables.items()} == {
        WORDS: size, MEANING: size + 384,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("said", "cue"),
    [
        ("User: Wir nehmen Postgres für die Warteschlange und nicht Redis.", "denies"),
        ("Assistant: Le test échoue parce que le cache est vide.", "reason"),
        ("Assistant: Проблема в том, что кэш никогда не очищается.", "bad"),
        ("User: 我们应该用 Postgres，而不是 Redis。", "settles"),
    ],
)
def test_turns_of_phrase_of_other_languages_count_as_their_english_likes(
    said: str, cue: str
) -> None:
    """Weights are fitted on English sentences, and hold for what says the same."""
    assert cues(units([said])[-1])[cue]
