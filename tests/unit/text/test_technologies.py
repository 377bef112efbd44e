"""Names of technologies are told from words and units that are written alike."""

from __future__ import annotations

import pytest

from vector_memory.text.technologies import technologies


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("la VM n'a que 2 Go", ()),
        ("Serveur : 16 Go RAM", ()),
        ("We run 2 Go services", ("go",)),
        ("Go 1.22 is required, 2 Go binaries are built in CI", ("go",)),
        ("on passe à Go 1.22, avec 2 Go de RAM", ("go",)),
        ("Python 3.12\nGo 1.22", ("python", "go")),
        ("Node 20\nGo 1.22\nRust 1.75", ("go", "rust")),
        ("Python 3.12 Go 1.22", ("python", "go")),
        ("Il reste 16 Go.\nDisque 3.5 Go libres", ()),
        ("let it go", ()),
    ],
)
def test_a_measure_is_no_language(text: str, names: tuple[str, ...]) -> None:
    """ "Go" is the gigabyte of French."""
    assert technologies(text) == names
