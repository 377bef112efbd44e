"""An embedding server that goes, comes back, and has another model by then, under a daemon that runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_rig import Rig, alive
from fakes_ollama import DIM, OllamaServer, running

from vector_memory import errors


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with running() as made:
        yield made


@pytest.fixture
def rig(tmp_path: Path, server: OllamaServer) -> Iterator[Rig]:
    """A daemon's home that embeds by the server; whatever runs there is ended."""
    made = Rig(tmp_path / "home")
    made.configure(embedding_backend="ollama", ollama_host=server.address)
    yield made
    with contextlib.suppress(errors.DaemonUnavailableError):
        made.daemon.stop()


def remember(rig: Rig, text: str) -> None:
    rig.daemon.ask("remember", {"text": text, "global": True})


def mode(rig: Rig) -> str:
    return str(rig.daemon.ask("recall", {"query": "ledger mode", "global": True})["mode"])


def test_what_fails_is_told_until_it_is_back(rig: Rig, server: OllamaServer) -> None:
    """And what was stored meanwhile gets its vectors, without anything else being stored."""
    remember(rig, "The ledger uses WAL mode")
    rig.until(lambda: mode(rig) == "full", "answers by meaning")
    server.failure = (500, "boom")
    rig.daemon.ask("check", {}, timeout_s=60)
    stats = rig.daemon.ask("stats", {})["embedding"]
    assert (stats["state"], "boom" in stats["error"]) == ("failed", True)
    assert mode(rig) == "lexical"
    assert rig.daemon.running()["state"] == "degraded"  # type: ignore[index]
    remember(rig, "The harbour has seven piers")
    with pytest.raises(errors.EmbeddingError, match="boom"):
        rig.daemon.ask("migrate", {}, timeout_s=60)
    server.failure = None
    rig.until(lambda: any("piers" in text for text in server.inputs), "the vector")
    assert mode(rig) == "full"
    rig.state("full")
    assert rig.daemon.ask("stats", {})["embedding"]["error"] == ""


@pytest.mark.parametrize("dim", [DIM, 32])
def test_another_model_under_the_tag_is_used_by_a_new_daemon(
    rig: Rig, server: OllamaServer, dim: int
) -> None:
    """One recall is enough. Where it has other dimensions words alone answer until then."""
    remember(rig, "The ledger uses WAL mode")
    rig.until(lambda: mode(rig) == "full", "answers by meaning")
    first = rig.daemon.start()["pid"]
    server.models["nomic-embed-text:latest"] = "ffffffffffff"
    server.dim = dim
    assert mode(rig) == ("full" if dim == DIM else "lexical")
    rig.until(lambda: not alive(int(first)), "the daemon's end")
    rig.until(lambda: mode(rig) == "full", "answers by meaning")
    assert rig.daemon.ask("stats", {})["embedding"]["model"] == "nomic-embed-text@ffffffff"
