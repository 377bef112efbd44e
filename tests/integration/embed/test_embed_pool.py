"""Bulk embedding in a child process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes_embed import models_folder
from processes import gone

from vector_memory.config import Settings
from vector_memory.embed import pool
from vector_memory.embed.minilm import MiniLm
from vector_memory.embed.pool import BulkEmbedder
from vector_memory.errors import EmbeddingError
from vector_memory.system import children
from vector_memory.system.children import Child
from vector_memory.system.paths import PACKAGE_ROOT


@pytest.fixture
def bulk() -> Iterator[BulkEmbedder]:
    """A bulk embedder of the default backend."""
    made = BulkEmbedder(Settings(), models_folder())
    yield made
    made.close()


def test_the_child_computes_what_this_process_would(bulk: BulkEmbedder) -> None:
    """The vectors are the backend's own, over as many frames as are needed."""
    texts = [f"text number {number}, with\nlines and \ud800" for number in range(150)]
    ours = MiniLm(Settings(), models_folder())
    assert (bulk.embed_documents(texts) * ours.embed_documents(texts)).sum(axis=1).min() >= 0.9999
    assert (bulk.model, bulk.dim) == (ours.model, ours.dim)


def test_no_child_before_the_first_use(bulk: BulkEmbedder) -> None:
    """The child starts when it is needed, runs with low priority, and stops when told to."""
    assert bulk.pid is None
    bulk.embed_documents(["text"])
    first = bulk.pid
    assert first is not None
    assert os.getpriority(os.PRIO_PROCESS, first) >= 10
    bulk.stop()
    assert bulk.pid is None
    assert gone(first)
    bulk.embed_documents(["text"])
    assert bulk.pid not in {None, first}


@pytest.mark.skipif(not hasattr(os, "SCHED_IDLE"), reason="only Linux has it")
def test_the_child_takes_what_nobody_wants(bulk: BulkEmbedder) -> None:
    """A prompt that comes meanwhile waits for none of its threads."""
    bulk.embed_documents(["a text"])
    threads = os.listdir(f"/proc/{bulk.pid}/task")
    policies = {os.sched_getscheduler(int(one)) for one in threads}
    assert os.sched_getscheduler(int(bulk.pid or 0)) == os.SCHED_IDLE
    assert len(threads) > 2
    assert os.SCHED_IDLE in policies


def test_a_child_that_died_idle_is_replaced(bulk: BulkEmbedder) -> None:
    """Between two calls a child's death is made good."""
    bulk.embed_documents(["text"])
    assert bulk.pid is not None
    os.kill(bulk.pid, signal.SIGKILL)
    # Its threads end one by one, and it counts as ended after the last.
    while bulk.pid is not None:
        time.sleep(0.01)
    assert bulk.embed_documents(["text"]).shape == (1, 384)


def test_a_child_that_dies_at_work_is_an_expected_error(
    bulk: BulkEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A call whose child dies fails with an EmbeddingError, and the next one works."""
    send = Child.send

    def killed(child: Child, content: bytes, timeout_s: float) -> bool:
        child.kill()
        return send(child, content, timeout_s)

    bulk.embed_documents(["text"])
    with monkeypatch.context() as patch:
        patch.setattr(Child, "send", killed)
        with pytest.raises(EmbeddingError, match="ended or hung"):
            bulk.embed_documents(["text"])
    assert bulk.embed_documents(["text"]).shape == (1, 384)


def test_a_child_that_hangs_is_given_up(
    bulk: BulkEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child that does not answer in time is ended and reported."""
    bulk.embed_documents(["text"])
    stopped = bulk.pid
    assert stopped is not None
    monkeypatch.setattr(pool, "ANSWER_TIMEOUT_S", 0.05)
    monkeypatch.setattr(children, "END_WAIT_S", 0.05)
    os.kill(stopped, signal.SIGSTOP)
    with pytest.raises(EmbeddingError, match="ended or hung"):
        bulk.embed_documents(["text"])
    assert gone(stopped)


def test_closing_does_not_wait_for_the_work(bulk: BulkEmbedder) -> None:
    """A thread closes it while another one waits for a child that never answers: both go on."""
    bulk.embed_documents(["text"])
    stopped = bulk.pid
    assert stopped is not None
    os.kill(stopped, signal.SIGSTOP)
    errors: list[EmbeddingError] = []

    def embed() -> None:
        with pytest.raises(EmbeddingError) as caught:
            bulk.embed_documents(["text"])
        errors.append(caught.value)

    thread = threading.Thread(target=embed)
    thread.start()
    time.sleep(0.1)
    bulk.close()
    thread.join(30)
    assert len(errors) == 1
    assert gone(stopped)


def test_the_backends_errors_come_through(tmp_path: Path) -> None:
    """A model that is missing is reported as in this process, and no child is left."""
    broken = BulkEmbedder(Settings(), str(tmp_path))
    with pytest.raises(EmbeddingError, match="not installed") as caught:
        broken.embed_documents(["text"])
    assert "bootstrap" in caught.value.hint
    assert broken.pid is None
    broken.close()


def test_the_child_ends_with_its_parent() -> None:
    """A parent that is killed leaves no child behind."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from vector_memory.config import Settings\n"
        "from vector_memory.embed.pool import BulkEmbedder\n"
        "bulk = BulkEmbedder(Settings(), sys.argv[2])\n"
        "bulk.embed_documents(['text'])\n"
        "print(bulk.pid, flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-I", "-c", program, os.path.dirname(PACKAGE_ROOT), models_folder()],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    assert gone(child)
