"""What most integration tests stand on: the service with real stores, and a project to ask about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes_ollama import OllamaServer, running
from service_house import ServiceHouse


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    """The service with real stores."""
    made = ServiceHouse(tmp_path)
    yield made
    made.close()


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """A project's folder."""
    folder = tmp_path / "app"
    folder.mkdir()
    return folder


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    """A server that speaks Ollama's API and has a language model."""
    with running() as made:
        made.models["llama3.2:latest"] = "aa"
        yield made
