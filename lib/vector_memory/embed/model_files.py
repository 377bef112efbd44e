"""The default model's files: checked, copied, turned into ONNX and tried, all or nothing.

models/all-MiniLM-L6-v2/
  model.safetensors  tokenizer.json    as published
  minilm-1.onnx                        the graph, which points into model.safetensors
  config.json, modules.json …          as published, so that sentence-transformers can load it
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time

from vector_memory.config import Settings
from vector_memory.embed.model_layout import (
    FILES,
    FOLDER,
    GRAPH_FILE,
    TOKENIZER_FILE,
    WEIGHTS_FILE,
    ModelFile,
)
from vector_memory.errors import SetupError, VectorMemoryError
from vector_memory.model import Progress, ignore_progress
from vector_memory.system.files import digest_and_size

WEIGHTS_BYTES = 90_868_376
ABANDONED_AFTER_S = 3600.0


TRIED = (
    "The migration failed because the database ran out of disk space.",
    "There was no room left on the volume, so the schema change broke.",
)
EXPECTED_COSINE = 0.44498
"""Of the two sentences above, by sentence-transformers."""
TOLERANCE = 0.001


def present(models_folder: str) -> bool:
    """Whether the model is installed, by a look at its files without reading them."""
    folder = os.path.join(models_folder, FOLDER)
    try:
        is_complete = os.path.getsize(os.path.join(folder, WEIGHTS_FILE)) == WEIGHTS_BYTES
    except OSError:
        return False
    return is_complete and all(
        os.path.isfile(os.path.join(folder, name)) for name in (GRAPH_FILE, TOKENIZER_FILE)
    )


def install(source_folder: str, models_folder: str, progress: Progress = ignore_progress) -> str:
    """Install the default model from a folder and return where it is now.

    Runs where the packages `onnx`, `onnxruntime` and `tokenizers` can be imported. The model is
    made aside and renamed, so an interrupted call leaves nothing that `present` takes for a model.

    Args:
        source_folder: holds `model.safetensors` and `tokenizer.json`; a `model/` in it will do.
        models_folder: the data home's `models/`.
        progress: told of each step.

    Returns:
        The path of the model's folder in `models_folder`.

    Raises:
        SetupError: a file is missing or is not the published one, or the model does not work.
    """
    source = _model_folder(source_folder)
    steps, target = len(FILES) + 2, os.path.join(models_folder, FOLDER)
    try:
        os.makedirs(models_folder, mode=0o700, exist_ok=True)
        _sweep(models_folder)
        # On the same disk, so that a rename is all that is left to do.
        with tempfile.TemporaryDirectory(prefix=_ASIDE, dir=models_folder) as aside:
            folder = os.path.join(aside, FOLDER)
            for number, file in enumerate(FILES):
                progress(number, steps, f"copying {file.path}")
                _copy(file, source, folder)
            progress(steps - 2, steps, "converting the model")
            _convert(folder)
            progress(steps - 1, steps, "trying the model")
            _try_model(aside)
            # A folder cannot be renamed onto one that holds something: that goes with `aside`.
            if os.path.lexists(target):
                os.rename(target, os.path.join(aside, "old"))
            os.rename(folder, target)
    except OSError as error:
        raise SetupError(
            f"The model cannot be written to {models_folder}: {error}.",
            "Make room or mend the permissions (the model takes 92 MB), then run the set-up again.",
        ) from error
    progress(steps, steps, "the model is installed")
    return target


_ASIDE = f".{FOLDER}-"


def _model_folder(source: str) -> str:
    for folder in (source, os.path.join(source, "model")):
        if os.path.isfile(os.path.join(folder, WEIGHTS_FILE)):
            return folder
    raise SetupError(
        f"There is no {WEIGHTS_FILE} in {source}.",
        "Name a folder with the files of sentence-transformers/all-MiniLM-L6-v2.",
    )


def _sweep(models_folder: str) -> None:
    """Remove what killed calls left; a young folder may belong to one that still runs."""
    for entry in os.scandir(models_folder):
        if (
            entry.name.startswith(_ASIDE)
            and time.time() - entry.stat().st_mtime > ABANDONED_AFTER_S
        ):
            shutil.rmtree(entry.path, ignore_errors=True)


def _copy(file: ModelFile, source: str, folder: str) -> None:
    """Copy one file and check the copy, which nobody else can change any more."""
    origin, target = os.path.join(source, file.path), os.path.join(folder, file.path)
    if not os.path.isfile(origin):
        if file.required:
            raise SetupError(f"{origin} is missing.", "Name a folder with the whole model.")
        return
    os.makedirs(os.path.dirname(target), mode=0o700, exist_ok=True)
    shutil.copyfile(origin, target)
    os.chmod(target, 0o600)
    # The copy, not the source: what is checked is what will be loaded.
    if _sha256(target) == file.sha256:
        return
    os.unlink(target)
    if file.required:
        raise SetupError(
            f"{origin} is not the published file: its sha256 is not {file.sha256}.",
            "Fetch the model again, or name a folder with an undamaged copy of "
            "sentence-transformers/all-MiniLM-L6-v2.",
        )


def _sha256(path: str) -> str:
    with open(path, "rb") as file:
        digest, _ = digest_and_size(file, hashlib.sha256())
        os.fsync(file.fileno())
    return digest


def _convert(folder: str) -> None:
    try:
        from vector_memory.embed.convert import convert
    except ImportError as error:
        raise SetupError(
            f"The model cannot be converted without the onnx package: {error}.",
            "Run `./bootstrap.sh`, which brings it.",
        ) from error
    graph = os.path.join(folder, GRAPH_FILE)
    convert(os.path.join(folder, WEIGHTS_FILE), graph)
    os.chmod(graph, 0o600)
    with open(graph, "rb") as file:
        os.fsync(file.fileno())


def _try_model(models_folder: str) -> None:
    """Embed two sentences and compare with what the reference says."""
    try:
        from vector_memory.embed.minilm import MiniLm

        embedder = MiniLm(Settings(), models_folder)
        first, second = embedder.embed_documents(TRIED)
        embedder.close()
    except (ImportError, VectorMemoryError) as error:
        raise SetupError(
            f"The converted model does not run: {error}", "Run `./bootstrap.sh` again."
        ) from error
    cosine = float(first @ second)
    if abs(cosine - EXPECTED_COSINE) > TOLERANCE:
        raise SetupError(
            f"The converted model answers wrongly (cosine {cosine:.4f}, not {EXPECTED_COSINE}).",
            "This processor or this version of onnxruntime is not supported: please report it.",
        )
