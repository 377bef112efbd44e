"""The matrix on disk: saved, mapped, mended or discarded."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from index_samples import DIM, MODEL, direction, seqs

from vector_memory.model import Scope
from vector_memory.store import matrix_file
from vector_memory.store.matrix import TAIL_ROWS, Matrix


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "matrix"


def filled(folder: Path, count: int = 30) -> Matrix:
    """Return a saved matrix of three projects."""
    matrix = Matrix(str(folder), MODEL, DIM)
    numbers = range(1, count + 1)
    matrix.add(
        np.array(numbers), [f"p{i % 3}" for i in numbers], np.array([direction(i) for i in numbers])
    )
    matrix.mark_reached(count)
    matrix.save()
    return matrix


def answers(matrix: Matrix, scopes: list[Scope]) -> list[list[int]]:
    return [seqs(matrix.nearest(direction(5), scope, 99)) for scope in scopes]


def loaded(folder: Path, model: str = MODEL, dim: int = DIM) -> Matrix | None:
    return Matrix.load(str(folder), model, dim)


def test_a_saved_matrix_answers_as_before(folder: Path) -> None:
    """Saving and loading change no answer, whether rows were in the file, the tail, or gone."""
    matrix = filled(folder)
    matrix.remove(np.array([4, 7]))
    matrix.add(np.array([40, 41]), ["p1", "new"], np.array([direction(40), direction(41)]))
    matrix.mark_reached(41)
    scopes = [
        Scope(),
        Scope(projects=("p1",)),
        Scope(projects=("new", "p2")),
        Scope(projects=("x",)),
    ]
    before = answers(matrix, scopes)
    matrix.save()
    assert answers(matrix, scopes) == before
    again = loaded(folder)
    assert again is not None
    assert answers(again, scopes) == before
    assert again.reached() == 41
    assert again.sound()
    assert len(again.seqs()) == 30


def test_rows_lie_in_the_order_of_projects_and_numbers(folder: Path) -> None:
    """Each project is one stretch of the file, and ascends in it."""
    filled(folder)
    saved = matrix_file.load(str(folder), MODEL, DIM)
    assert saved.ranges.projects == ("p0", "p1", "p2")
    for start, stop in zip(saved.ranges.starts, saved.ranges.stops, strict=True):
        part = saved.seqs[start:stop]
        assert (np.diff(part) > 0).all()
        assert len(set((part % 3).tolist())) == 1


def test_saving_leaves_one_generation(folder: Path) -> None:
    """Older files are deleted, and a mapping of them still works."""
    matrix = filled(folder)
    old_view = matrix._view
    matrix.add(np.array([90]), ["p0"], direction(90)[None])
    matrix.save()
    assert len(list(folder.iterdir())) == 3
    (first,) = old_view.saved.rows.take(np.array([0]))
    assert float(first @ first) == pytest.approx(1, abs=1e-5)


def test_saving_nothing_new_writes_nothing(folder: Path) -> None:
    """A matrix that did not change keeps its files."""
    matrix = filled(folder)
    before = sorted(folder.iterdir())
    matrix.save()
    assert sorted(folder.iterdir()) == before


def test_everything_can_be_removed(folder: Path) -> None:
    """An emptied matrix is saved and loaded as an empty one."""
    matrix = filled(folder)
    matrix.remove(np.arange(1, 31))
    matrix.save()
    again = loaded(folder)
    assert again is not None
    assert len(again.seqs()) == 0
    assert again.nearest(direction(1), Scope(), 5) == []


def test_building_takes_pieces_in_any_order(folder: Path) -> None:
    """A matrix built of pieces equals one that was filled."""
    scopes = [Scope(), Scope(projects=("p1",))]
    expected = answers(filled(folder / "one"), scopes)
    pieces = [
        (np.array(part), [f"p{i % 3}" for i in part], np.array([direction(i) for i in part]))
        for part in ([30, 1, 2], list(range(15, 30)), list(range(3, 15)))
    ]
    built = Matrix.build(str(folder / "two"), MODEL, DIM, iter(pieces), 30)
    assert answers(built, scopes) == expected
    assert built.reached() == 30
    assert len(list((folder / "two").iterdir())) == 3


def test_building_of_nothing_is_an_empty_matrix(folder: Path) -> None:
    """A store without vectors has a matrix all the same."""
    built = Matrix.build(str(folder), MODEL, DIM, iter([]), 5)
    assert len(built.seqs()) == 0
    again = loaded(folder)
    assert again is not None
    assert again.reached() == 5


def test_without_files_there_is_none(folder: Path) -> None:
    """Nothing saved, nothing loaded."""
    assert loaded(folder) is None


def test_another_models_matrix_is_not_used(folder: Path) -> None:
    """A matrix of another model or dimension needs building anew."""
    filled(folder)
    assert loaded(folder, model="other@1") is None
    assert loaded(folder) is None


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: next(folder.glob("*.f32")).write_bytes(b"short"),
        lambda folder: next(folder.glob("*.f32")).unlink(),
        lambda folder: next(folder.glob("*.i64")).unlink(),
        lambda folder: flip(next(folder.glob("*.i64")), 9),
        lambda folder: flip(folder / "meta.json", 30),
        lambda folder: (folder / "meta.json").write_bytes(b""),
        lambda folder: (folder / "meta.json").write_text("[1]"),
        lambda folder: (folder / "meta.json").write_text(
            json.dumps({**json.loads((folder / "meta.json").read_text()), "reached": 99})
        ),
    ],
    ids=["short", "no vectors", "no seqs", "seqs", "meta", "empty meta", "list", "edited meta"],
)
def test_a_damaged_matrix_is_set_aside(folder: Path, damage: object) -> None:
    """Files that do not fit together are set aside rather than served, the last ones alone."""
    for _ in range(2):
        filled(folder)
        damage(folder)  # type: ignore[operator]
        assert loaded(folder) is None
        assert not folder.exists()
        assert len(list(folder.parent.glob(f"{folder.name}.damaged-*/{folder.name}"))) == 1
    Matrix(str(folder), MODEL, DIM).delete()
    assert not list(folder.parent.glob(f"{folder.name}.damaged-*"))


def test_flipped_bits_in_vectors_are_found_by_a_check(folder: Path) -> None:
    """Loading does not read the vectors; a check does."""
    filled(folder)
    flip(next(folder.glob("*.f32")), 100)
    again = loaded(folder)
    assert again is not None
    assert not again.sound()


def test_a_save_that_fails_leaves_the_old_files(folder: Path) -> None:
    """When the new files cannot be written, the old ones stay in force, and search goes on."""
    matrix = filled(folder)
    matrix.add(np.array([90]), ["p0"], direction(90)[None])
    (folder / "meta.json.new").mkdir()
    with pytest.raises(OSError):
        matrix.save()
    assert seqs(matrix.nearest(direction(90), Scope(), 1)) == [90]
    again = loaded(folder)
    assert again is not None
    assert len(again.seqs()) == 30
    (folder / "meta.json.new").rmdir()
    matrix.save()
    assert len(list(folder.iterdir())) == 3


def test_it_says_when_saving_is_worth_it(folder: Path) -> None:
    """A long tail asks for a save, which clears it."""
    matrix = Matrix(str(folder), MODEL, DIM)
    vectors = np.tile(direction(1), (TAIL_ROWS, 1))
    matrix.add(np.arange(1, TAIL_ROWS), ["p"] * (TAIL_ROWS - 1), vectors[1:])
    assert not matrix.needs_save()
    matrix.add(np.array([TAIL_ROWS]), ["p"], vectors[:1])
    assert matrix.needs_save()
    matrix.save()
    assert not matrix.needs_save()


def test_files_are_the_owners_alone(folder: Path) -> None:
    """What holds memories is not readable for others."""
    filled(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def flip(path: Path, position: int) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[position] ^= 4
    path.write_bytes(content)
