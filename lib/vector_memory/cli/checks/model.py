"""The embedding model's files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator

from vector_memory import config
from vector_memory.cli.checks import Case, CheckResult, fail, ok, warn
from vector_memory.embed import registry
from vector_memory.embed.model_layout import FILES, FOLDER, GRAPH_FILE
from vector_memory.errors import VectorMemoryError
from vector_memory.system.files import digest_and_size

PUBLISHED = {file.path: file.sha256 for file in FILES if file.required}
FIX = "Delete that folder and run ./bootstrap.sh in the plugin's folder."


def check(case: Case) -> Iterator[CheckResult]:
    """Yield whether the default backend's files are the published ones."""
    try:
        settings = config.load(case.home.config)
    except VectorMemoryError as error:
        yield fail(error.message, error.hint)._replace(hop="settings")
        return
    if settings.embedding_backend != config.ENGLISH_BACKEND:
        yield ok(f"The backend {settings.embedding_backend} keeps its model itself")
        return
    if problem := registry.unused_model_setting(settings):
        fix = "Choose an embedding_backend that reads it, or `vector-memory config unset embedding_model`."
        yield warn(problem, fix)
    folder = os.path.join(case.home.models, FOLDER)
    for name, published in PUBLISHED.items():
        yield _file(folder, name, published)
    yield _graph(folder)


def _file(folder: str, name: str, published: str) -> CheckResult:
    try:
        with open(os.path.join(folder, name), "rb") as file:
            digest, _ = digest_and_size(file, hashlib.sha256())
    except OSError as error:
        return fail(f"{name} in {folder}: {error.strerror}.", FIX)
    if digest != published:
        return fail(f"{name} in {folder} is not the published file.", FIX)
    return ok(f"{name} is the published file")


def _graph(folder: str) -> CheckResult:
    if not os.path.isfile(os.path.join(folder, GRAPH_FILE)):
        return fail(f"{folder} has no {GRAPH_FILE}.", FIX)
    return ok("The ONNX graph is there")
