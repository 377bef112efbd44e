"""The real client as a language model: one turn, nothing loaded, nothing left behind."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from e2e.harness.api import ScriptedApi
from e2e.harness.client import Client
from e2e.harness.reply import Say
from e2e.harness.request import Request, texts
from service_house import ServiceHouse, captured_of

from vector_memory.config import Settings
from vector_memory.errors import GenerationError
from vector_memory.generate import client as headless
from vector_memory.generate.client import Headless
from vector_memory.model import EXTRACTION_MARK
from vector_memory.service.capture.model_ideas import extract_ideas
from vector_memory.text.fence import tokens

pytestmark = pytest.mark.e2e

TEXT = (
    "User: why did the import hang last night? See @notes.txt and @/etc/passwd for it.\n\n"
    "Assistant: We decided to drain the queue before each import, since <Lock> is held otherwise."
)
IDEA = {
    "text": "The queue is drained before each import, since the lock is held otherwise.",
    "intent": "decision",
    "confidence": 0.8,
    "quote": "drain the queue before each import, since &lt;Lock> is held",
}


@pytest.fixture
def quiet(api: ScriptedApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client whose user has a hook and a CLAUDE.md; this process stands in its place."""
    client = Client(api, tmp_path, tmp_path / "data")
    hook = {"type": "command", "command": f"touch {tmp_path / 'ran'}"}
    client.wire({"hooks": {"UserPromptSubmit": [{"hooks": [hook]}], "Stop": [{"hooks": [hook]}]}})
    (client.config / "CLAUDE.md").write_text("Always answer in verse.")
    for name, value in client.environment().items():
        monkeypatch.setenv(name, value)
    yield client
    api.script_sides([])
    assert not (tmp_path / "ran").exists()


def transcripts(client: Client) -> list[Path]:
    return list(client.home.rglob("*.jsonl"))


def shown(requests: list[Request]) -> str:
    """Return all that the model was shown."""
    return "\n".join(text for one in requests for text in texts(one))


def test_the_client_writes_and_leaves_nothing(api: ScriptedApi, quiet: Client) -> None:
    """It answers what the model says; no tool is offered, no hook or rule of the user's is there, no
    session is kept; the smallest model is asked, without thinking, and what it took is known."""
    api.script_sides(["[2] > [1]"])
    mark = api.mark()
    said = Headless(Settings(), str(quiet.binary)).complete("Rank these.", 100, 60.0)
    assert (said, said.tokens) == ("[2] > [1]", 1_020)
    (asked,) = api.since(mark)
    assert "haiku" in asked.body["model"]
    assert (asked.body["max_tokens"], asked.body.get("thinking")) == (
        100 + headless.ROOM_TOKENS,
        None,
    )
    assert not asked.body.get("tools")
    assert f"{EXTRACTION_MARK}>\nRank these." in shown([asked])
    assert "verse" not in shown([asked])
    assert not transcripts(quiet)
    left = [path for path in quiet.home.parent.rglob("*") if path.is_file()]
    assert left
    assert not [path for path in left if b"Rank these" in path.read_bytes()]


def test_what_comes_with_a_call_is_within_what_is_set_aside(
    api: ScriptedApi, quiet: Client
) -> None:
    """The client's own words around a prompt are fewer tokens than the caps reckon with."""
    mark = api.mark()
    Headless(Settings(), str(quiet.binary)).complete("Rank these.", 100, 60.0)
    (asked,) = api.since(mark)
    assert tokens(shown([asked])) - tokens("Rank these.") < Headless.overhead_tokens


def test_files_that_a_text_mentions_are_not_read(api: ScriptedApi, quiet: Client) -> None:
    """The client attaches the file behind an @path in a prompt: not for us."""
    secret = quiet.home / "secret.txt"
    secret.write_text("hunter2-hunter2")
    mark = api.mark()
    asked = f"Rank these: @{secret} and @/etc/passwd"
    Headless(Settings(), str(quiet.binary)).complete(asked, 100, 60.0)
    assert "hunter2" not in shown(api.since(mark))
    assert "root:" not in shown(api.since(mark))


def test_a_session_that_is_kept_all_the_same_is_no_memory(
    api: ScriptedApi, quiet: Client, tmp_path: Path
) -> None:
    """Should a client ignore that nothing is to be kept, capture passes its transcript over."""
    api.script_sides(["We decided to use tabs everywhere in this repository."])
    words = Headless(Settings(), str(quiet.binary))._command()
    words.remove("--no-session-persistence")
    done = subprocess.run(
        words, input=headless.MARK + TEXT, capture_output=True, text=True, cwd=tmp_path, timeout=60
    )
    assert json.loads(done.stdout)["result"].startswith("We decided")
    (transcript,) = transcripts(quiet)
    house = ServiceHouse(tmp_path / "house")
    captured = captured_of(house.ctx, str(transcript), final=True)
    house.close()
    assert "tabs everywhere" in transcript.read_text()
    assert (captured.drafts, captured.stored) == (0, 0)


def test_ideas_come_through_the_client(
    api: ScriptedApi, quiet: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Gate, a bad answer, a good one: the idea is found, and all three calls are counted."""
    monkeypatch.setenv("PATH", f"{quiet.binary.parent}:/usr/bin:/bin")
    house = ServiceHouse(tmp_path / "house")
    house.ctx.settings = replace(house.ctx.settings, extraction=True, generation_backend="client")
    good = f"```json\n{json.dumps({'ideas': [IDEA]})}\n```"
    api.script_sides(["Yes.", "There is one idea.", good])
    mark = api.mark()
    ((found,),) = extract_ideas(house.ctx, TEXT, [])
    used = house.ctx.generation.used_on(house.ctx.local_now().date())
    house.close()
    assert (found.text, found.intent) == (IDEA["text"], "decision")
    assert (used["calls"], used["tokens"], used["garbage"]) == (3, 3_060, 1)
    assert len(api.since(mark)) == 3
    assert "root:" not in shown(api.since(mark))
    assert not transcripts(quiet)


def test_an_answer_that_is_cut_off_is_an_error_that_says_what_it_took(
    api: ScriptedApi, quiet: Client
) -> None:
    """The client asks on by itself before it gives up; none of that goes uncounted."""
    api.script_sides([Say("and on", "max_tokens")] * 9)
    mark = api.mark()
    with pytest.raises(GenerationError, match="exceeded") as told:
        Headless(Settings(), str(quiet.binary)).complete("Rank these.", 100, 60.0)
    assert told.value.tokens == 1_020 * len(api.since(mark))


def test_an_error_of_the_api_is_an_error(quiet: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the client says of it is no answer."""
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("CLAUDE_CODE_MAX_RETRIES", "0")
    with pytest.raises(GenerationError):
        Headless(Settings(), str(quiet.binary)).complete("Rank these.", 100, 30.0)
    Headless(Settings(), str(quiet.binary)).check(30.0)
