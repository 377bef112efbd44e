"""The default backend with its real model."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from fakes_embed import models_folder, require_package

from vector_memory.config import Settings
from vector_memory.embed import model_layout, registry
from vector_memory.embed.minilm import MiniLm
from vector_memory.errors import EmbeddingError
from vector_memory.system.paths import PACKAGE_ROOT

SUBJECTS = [
    "The migration",
    "Our login page",
    "pytest -x",
    "`src/store/journal.py`",
    "Ms. O'Neill-Łukasz",
    "CVE-2024-3094",
]
VERBS = ["breaks on", "was moved to", "must never touch", "is 3.5× slower than"]
OBJECTS = [
    "PostgreSQL 16.2.",
    "the staging cluster in eu-central-1!",
    "files ≥ 2 GiB (see #4711)",
    "naïve café encodings — e\u0301 or é?",
    "Grüße aus München; привет, мир; 你好，世界",
    "C:\\Users\\me\\AppData\\Local\\Temp",
    "SELECT id, text FROM memories WHERE seq > ? ORDER BY seq LIMIT 200;",
    "{'retries': 3, \"timeout_s\": 0.25}",
    "emoji 🚀🔥 and\ttabs\nand lines",
]
LONG = [
    "def fuse(dense, sparse):\n    return {k: 0.7 * v for k, v in dense.items()}\n" * 3,
    "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\nKeyError: 'x'\n" * 4,
    "word " * 600,
    "x" * 300 + " after a word too long for the vocabulary",
    "[CLS] special [SEP] words [MASK]",
    "a",
    "",
    "日本語のテキストと한국어 텍스트와 नमस्ते दुनिया",
    *(" ".join(f"token{i}" for i in range(n)) for n in (5, 60, 62, 63, 64, 65, 127, 300)),
]
VARIED = [" ".join(parts) for parts in product(SUBJECTS, VERBS, OBJECTS)] + LONG


def test_minilm_is_what_its_authors_compute() -> None:
    """Over 200 varied texts the vectors are those of sentence-transformers itself."""
    require_package("sentence_transformers")
    reference = registry.create(
        Settings(embedding_backend="sentence-transformers"), models_folder()
    )
    ours = MiniLm(Settings(), models_folder())
    assert len(VARIED) >= 200
    cosines = (ours.embed_documents(VARIED) * reference.embed_documents(VARIED)).sum(axis=1)
    assert cosines.min() >= 0.9999, VARIED[int(cosines.argmin())]
    for text in VARIED[::20]:
        assert ours.embed_query(text) @ reference.embed_query(text) >= 0.9999


def test_a_query_is_cut_where_the_settings_say() -> None:
    """Words of a prompt past `query_tokens` do not change its vector; fewer tokens do."""
    start = "the journal follows the truth " * 10
    short = MiniLm(Settings(query_tokens=16), models_folder())
    assert np.array_equal(short.embed_query(start), short.embed_query(start + "kiwi banana"))
    full = MiniLm(Settings(query_tokens=128), models_folder())
    assert full.embed_query(start) @ full.embed_query(start + "kiwi banana") < 0.9999


def test_a_missing_model_is_an_expected_error(tmp_path: Path) -> None:
    """Without the model the error says what is missing and how to get it."""
    with pytest.raises(EmbeddingError, match=r"not installed.*bootstrap"):
        MiniLm(Settings(), str(tmp_path))


@pytest.mark.parametrize(
    "name", [model_layout.TOKENIZER_FILE, model_layout.GRAPH_FILE, model_layout.WEIGHTS_FILE]
)
def test_a_damaged_model_is_an_expected_error(tmp_path: Path, name: str) -> None:
    """A file cut short makes loading fail cleanly."""
    whole, damaged = Path(models_folder()) / model_layout.FOLDER, tmp_path / model_layout.FOLDER
    damaged.mkdir()
    for entry in (model_layout.TOKENIZER_FILE, model_layout.GRAPH_FILE, model_layout.WEIGHTS_FILE):
        if entry == name:
            (damaged / entry).write_bytes((whole / entry).read_bytes()[:5_000])
        else:
            os.link(whole / entry, damaged / entry)
    with pytest.raises(EmbeddingError, match="cannot be loaded"):
        MiniLm(Settings(), str(tmp_path))


def test_nothing_is_said_and_nothing_heavy_comes_along() -> None:
    """A process that embeds prints nothing, and imports neither onnx nor torch nor pydantic."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from vector_memory.config import Settings\n"
        "from vector_memory.embed import registry\n"
        "assert not {'numpy', 'onnxruntime', 'tokenizers'} & set(sys.modules)\n"
        "registry.create(Settings(), sys.argv[2]).embed_documents(['a text'] * 40)\n"
        "assert not {'onnx', 'torch', 'pydantic', 'ollama'} & set(sys.modules)\n"
    )
    library = os.path.dirname(PACKAGE_ROOT)
    done = subprocess.run(
        [sys.executable, "-I", "-c", program, library, models_folder()],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
