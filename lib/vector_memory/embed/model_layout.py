"""What a model's folder holds."""

from __future__ import annotations

import os
from typing import NamedTuple

from vector_memory.text import tables

FOLDER = "all-MiniLM-L6-v2"
GRAPH_FILE = "minilm-1.onnx"
"""The number grows when `convert` makes another graph, so that an old file is not taken for it."""
TOKENIZER_FILE = "tokenizer.json"
WEIGHTS_FILE = "model.safetensors"


class ModelFile(NamedTuple):
    """A published file, by its path in the model's folder. Optional ones are left out when they
    are missing or differ."""

    path: str
    sha256: str
    required: bool = False


FILES = [
    ModelFile(path, sha256, path in (WEIGHTS_FILE, TOKENIZER_FILE))
    for path, sha256 in tables.pairs("model_files", os.path.dirname(__file__)).items()
]
