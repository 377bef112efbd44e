"""Installing the default model into a folder."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from fakes_embed import models_folder, require_package

from vector_memory.config import Settings
from vector_memory.embed import model_files, model_layout
from vector_memory.embed.minilm import MiniLm
from vector_memory.errors import SetupError


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A folder with the published files; the large one is a link."""
    require_package("onnx")
    installed = Path(models_folder()) / model_layout.FOLDER
    folder = tmp_path / "my copy"
    folder.mkdir()
    (folder / "model.safetensors").symlink_to(installed / "model.safetensors")
    for name in ("tokenizer.json", "config.json"):
        shutil.copy(installed / name, folder / name)
    return folder


def test_install_makes_a_working_model(source: Path, tmp_path: Path) -> None:
    """What is installed is present, private, loads, and is told step by step."""
    models = tmp_path / "models"
    steps: list[tuple[int, int, str]] = []
    assert not model_files.present(str(models))
    folder = model_files.install(str(source), str(models), lambda *step: steps.append(step))
    assert model_files.present(str(models))
    assert MiniLm(Settings(), str(models)).embed_query("hello").shape == (384,)
    assert [done for done, _, _ in steps] == list(range(steps[0][1] + 1))
    for name in os.listdir(folder):
        assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) & 0o077 == 0
    assert os.listdir(models) == [model_layout.FOLDER]


def test_install_replaces_what_is_there(source: Path, tmp_path: Path) -> None:
    """Installing again mends a damaged model."""
    models = tmp_path / "models"
    folder = Path(model_files.install(str(source), str(models)))
    (folder / "tokenizer.json").write_text("{}")
    (folder / model_layout.GRAPH_FILE).unlink()
    assert not model_files.present(str(models))
    model_files.install(str(source), str(models))
    assert model_files.present(str(models))
    MiniLm(Settings(), str(models)).close()


def test_a_linked_models_folder_works(source: Path, tmp_path: Path) -> None:
    """`models/` may be a link that several data homes share."""
    shared, models = tmp_path / "shared", tmp_path / "models"
    shared.mkdir()
    models.symlink_to(shared)
    model_files.install(str(source), str(models))
    assert model_files.present(str(shared))
    MiniLm(Settings(), str(models)).close()


@pytest.mark.parametrize("name", ["model.safetensors", "tokenizer.json"])
def test_another_file_is_refused_by_name(source: Path, tmp_path: Path, name: str) -> None:
    """A file that is not the published one stops the installation, which leaves nothing."""
    content = bytearray((source / name).read_bytes())
    content[len(content) // 2] ^= 1
    (source / name).unlink()
    (source / name).write_bytes(content)
    with pytest.raises(SetupError, match=f"{name} is not the published file"):
        model_files.install(str(source), str(tmp_path / "models"))
    assert os.listdir(tmp_path / "models") == []


def test_a_failed_install_keeps_the_old_model(source: Path, tmp_path: Path) -> None:
    """While the new files are wrong the model that works stays."""
    models = tmp_path / "models"
    model_files.install(str(source), str(models))
    (source / "tokenizer.json").write_text("{}")
    with pytest.raises(SetupError):
        model_files.install(str(source), str(models))
    assert model_files.present(str(models))


def test_missing_files_are_named(source: Path, tmp_path: Path) -> None:
    """A folder without the model is refused, and the message says what should be there."""
    with pytest.raises(SetupError, match=r"no model\.safetensors"):
        model_files.install(str(tmp_path), str(tmp_path / "models"))
    (source / "tokenizer.json").unlink()
    with pytest.raises(SetupError, match=r"tokenizer\.json is missing"):
        model_files.install(str(source), str(tmp_path / "models"))


def test_optional_files_of_another_version_are_left_out(source: Path, tmp_path: Path) -> None:
    """Only published files are kept: a changed config is not copied."""
    (source / "config.json").write_text("{}")
    folder = model_files.install(str(source), str(tmp_path / "models"))
    assert "config.json" not in os.listdir(folder)


def test_a_wrong_answer_is_noticed(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A model that embeds otherwise than the reference is not installed."""
    monkeypatch.setattr(model_files, "EXPECTED_COSINE", 0.9)
    with pytest.raises(SetupError, match="answers wrongly"):
        model_files.install(str(source), str(tmp_path / "models"))
    assert not model_files.present(str(tmp_path / "models"))


def test_what_a_killed_install_left_is_removed(source: Path, tmp_path: Path) -> None:
    """Old unfinished folders go; a young one may be another's and stays."""
    models = tmp_path / "models"
    old, young = models / ".all-MiniLM-L6-v2-old", models / ".all-MiniLM-L6-v2-young"
    for folder in (old, young):
        (folder / model_layout.FOLDER).mkdir(parents=True)
    os.utime(old, (0, 0))
    assert not model_files.present(str(models))
    model_files.install(str(source), str(models))
    assert not old.exists()
    assert young.exists()


def test_an_unwritable_folder_is_an_expected_error(source: Path, tmp_path: Path) -> None:
    """Where the model cannot be written the error says so."""
    (tmp_path / "models").write_text("a file")
    with pytest.raises(SetupError, match="cannot be written"):
        model_files.install(str(source), str(tmp_path / "models"))
