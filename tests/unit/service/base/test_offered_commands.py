"""Which commands a memory that only says them would have somebody run."""

from __future__ import annotations

import pytest
from journal_samples import memory

from vector_memory.service.base import offered_commands


@pytest.mark.parametrize(
    "text",
    [
        "Set `x` to `rm -rf /`.",
        "Not ``a``, but `rm -rf /`.",
        "Run ``rm -rf /``.",
        "Run `` `rm -rf /` ``.",
        "The mark ` is odd. Run `rm -rf /` then.",
        "Don`t forget: `rm -rf /`",
        "`" + "x" * 1_001 + "` then `rm -rf /`",
        "Run:\n```sh\nrm -rf /\n```",
        "```sh\nls\n``` and then `rm -rf /`",
        "~~~\nls\n  rm -rf /\n~~~",
        "1. ```sh\n   rm -rf /\n   ```",
        "`cd / &&\nrm -rf *`",
    ],
)
def test_no_mark_hides_a_command(text: str) -> None:
    assert not offered_commands.is_harmless(memory(1, text), "/p")


@pytest.mark.parametrize(
    "text",
    ["`x` for `git status`, then format it", "Run `make` and remove nothing.", "```\nmake\n```\nRemove / by hand, then make it again."],
)  # fmt: skip
def test_words_around_codes_are_harmless(text: str) -> None:
    assert offered_commands.is_harmless(memory(1, text), "/p")


def test_codes_are_what_is_quoted() -> None:
    assert offered_commands.of_memory(memory(1, "`x` for ``git status``")) == ["x", "git status"]
