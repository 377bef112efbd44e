"""A language model as an option: what it adds, and that recall goes on without it."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from fakes_ollama import OllamaServer
from service_house import ServiceHouse, door, hook_question

from vector_memory.config import Settings
from vector_memory.errors import BadInputError, GenerationError
from vector_memory.generate import registry
from vector_memory.generate.client import Headless
from vector_memory.journal.state import State
from vector_memory.model import EXTRACTION_MARK
from vector_memory.service.base.model_budget import Allowance
from vector_memory.service.inject import prompt_recall

ANSWER = (
    '{"result": "yes", "modelUsage": {"haiku": {"inputTokens": 1000, "outputTokens": 30, '
    '"cacheReadInputTokens": 200, "cacheCreationInputTokens": 4}}}'
)
FIRST = "The importer needs the queue to be drained before it starts"
SECOND = "Drain the queue, then start the importer, then check the ledger"


@pytest.fixture
def house(tmp_path: Path, server: OllamaServer) -> Iterator[ServiceHouse]:
    """The service with two memories and a model to ask."""
    made = ServiceHouse(tmp_path)
    made.ctx.settings = replace(
        made.ctx.settings,
        generation_backend="ollama",
        generation_model="llama3.2",
        ollama_host=server.address,
    )
    for text in (FIRST, SECOND):
        made.remember(text)
    yield made
    made.close()


def found(house: ServiceHouse) -> list[str]:
    """Return what a recall brings."""
    answer = door(
        house.ctx, "recall", {"query": "start the importer, drain the queue", "global": True}
    )
    return [hit["text"] for hit in answer["hits"]]


def used(house: ServiceHouse) -> dict[str, int]:
    """Return what was counted today."""
    return house.ctx.generation.used_on(house.ctx.local_now().date())


def use(house: ServiceHouse, **settings: Any) -> None:
    house.ctx.settings = replace(house.ctx.settings, **settings)


def test_nobody_is_asked_by_default(house: ServiceHouse, server: OllamaServer) -> None:
    """A backend alone does nothing, and a prompt never asks one."""
    before = found(house)
    use(house, hyde=True, rerank=True)
    prompt_recall.on_prompt(
        house.ctx, hook_question(house.ctx, "s", "/", "start the importer, drain the queue")
    )
    assert server.prompts == []
    assert sorted(before) == sorted([FIRST, SECOND])


def test_a_model_orders_the_first_hits(house: ServiceHouse, server: OllamaServer) -> None:
    """With `rerank` the model's order counts."""
    before = found(house)
    use(house, rerank=True)
    server.written = "[2] > [1]"
    assert found(house) == before[::-1]
    assert "Rank these 2 notes" in server.prompts[0]


def test_a_model_writes_what_is_searched_for(house: ServiceHouse, server: OllamaServer) -> None:
    """With `hyde` the note is embedded with the question, and neither stored nor shown."""
    use(house, hyde=True)
    server.written = "We drain it first, as the zebra protocol says."
    texts = found(house)
    assert sorted(texts) == sorted([FIRST, SECOND])
    assert "importer" in server.prompts[0]
    assert door(house.ctx, "list", {"global": True})["total"] == 2


@pytest.mark.parametrize("failure", [(500, "no"), (404, "model not found")])
def test_recall_goes_on_when_the_model_fails(
    house: ServiceHouse, server: OllamaServer, failure: tuple[int, str]
) -> None:
    """An error of the server is counted, and the hits are those without it."""
    before = found(house)
    use(house, hyde=True, rerank=True)
    server.failure = failure
    assert found(house) == before
    assert house.ctx.state.counters()["generation_failures"] == 2


def test_recall_goes_on_when_nothing_listens(house: ServiceHouse) -> None:
    """No server is no error of a recall."""
    use(house, rerank=True, ollama_host="http://127.0.0.1:9")
    assert len(found(house)) == 2


def test_a_late_model_is_waited_for_once(house: ServiceHouse, server: OllamaServer) -> None:
    """One limit holds for both that a recall may ask, and the next recalls do without, until a minute is over."""
    before = found(house)
    use(house, hyde=True, rerank=True, generation_timeout_s=1.0)
    server.delay_s = 3.0
    assert (found(house), found(house)) == (before, before)
    assert used(house)["calls"] == used(house)["failures"] == 1
    house.pass_time(minutes=2)
    found(house)
    assert used(house)["calls"] == 2
    server.delay_s = 0.0
    house.pass_time(minutes=2)
    found(house)
    found(house)
    assert used(house)["calls"] == 6


def test_a_second_call_needs_as_much_time_as_the_first(
    house: ServiceHouse, server: OllamaServer
) -> None:
    """A model that is slow, and no slower than the limit, goes on serving what it is asked first."""
    use(house, hyde=True, rerank=True, generation_timeout_s=2.0)
    server.delay_s = 1.2
    for _ in range(3):
        found(house)
    assert (used(house)["calls"], used(house)["failures"]) == (3, 0)
    assert not any("Rank these" in prompt for prompt in server.prompts)


def test_what_the_first_call_left_is_no_time_to_fail_in(
    house: ServiceHouse, server: OllamaServer
) -> None:
    """A second call that gets less than the limit, and is not answered in it, is neither a failure nor late, and is not
    tried for a minute; the first one is. What it took nobody knows."""
    before = found(house)
    use(house, hyde=True, rerank=True, generation_timeout_s=1.0)
    server.delay_s, server.slow = 3.0, "Rank these"
    server.written = "[2] > [1]"
    assert found(house) == before
    taken = used(house)
    assert taken.pop("tokens") > 110
    assert taken == {"calls": 2, "refused": 0, "failures": 0, "garbage": 0}
    assert not house.ctx.generation.rests(house.ctx.now())
    assert house.ctx.generation.error == ""
    found(house)
    assert used(house)["calls"] == 3
    house.pass_time(minutes=2)
    server.delay_s = 0.0
    assert found(house) == before[::-1]
    assert (used(house)["calls"], used(house)["failures"]) == (5, 0)


@pytest.mark.parametrize("settings", [{}, {"hyde": True}])
def test_a_second_call_that_is_refused_failed(
    house: ServiceHouse, server: OllamaServer, settings: dict[str, bool]
) -> None:
    """An error is one however much time was left; and one call alone has the whole limit."""
    use(house, rerank=True, generation_timeout_s=1.0, **settings)
    server.failures["Rank these"] = (500, "no")
    found(house)
    assert used(house)["failures"] == 1
    server.failures.clear()
    server.delay_s, server.slow = 3.0, "" if settings else "Rank these"
    found(house)
    assert used(house)["failures"] == 2
    assert house.ctx.generation.was_late(house.ctx.now())


@pytest.mark.parametrize("written", ["I cannot say.", " \n", "[77]"])
def test_an_order_that_is_none_is_counted(
    house: ServiceHouse, server: OllamaServer, written: str
) -> None:
    """It changes nothing. One that leaves a hit out is an order."""
    before = found(house)
    use(house, rerank=True)
    server.written = written
    assert found(house) == before
    assert used(house)["garbage"] == 1
    server.written = "[2]"
    found(house)
    assert used(house)["garbage"] == 1


@pytest.mark.parametrize("counts", [(-5, -100_000), (0, 0), (10, -11)])
def test_a_report_of_nothing_gives_the_day_nothing_back(
    house: ServiceHouse, server: OllamaServer, counts: tuple[int, int]
) -> None:
    """It counts as if the server had said nothing."""
    use(house, rerank=True)
    server.counts = {}
    found(house)
    estimated = used(house)["tokens"]
    server.counts = {"prompt_eval_count": counts[0], "eval_count": counts[1]}
    found(house)
    assert used(house)["tokens"] == 2 * estimated


def test_a_day_has_its_cap(house: ServiceHouse, server: OllamaServer) -> None:
    """What is counted before is not asked again, until the next day."""
    use(house, rerank=True, generation_daily_calls=2)
    for _ in range(4):
        found(house)
    assert len(server.prompts) == 2
    assert house.ctx.state.counters()["generation_refused"] == 2
    house.pass_time(days=1)
    found(house)
    assert len(server.prompts) == 3


def test_a_day_has_its_cap_of_tokens(house: ServiceHouse, server: OllamaServer) -> None:
    """What a call may take is set aside before it, and what it took is counted after it."""
    use(house, rerank=True, generation_daily_tokens=1_000)
    server.written = "[1] > [2]"
    server.counts = {"prompt_eval_count": 700, "eval_count": 20}
    found(house)
    assert used(house)["tokens"] == 720
    found(house)
    assert len(server.prompts) == 1
    assert used(house) == {"calls": 1, "tokens": 720, "refused": 1, "failures": 0, "garbage": 0}
    house.pass_time(days=1)
    found(house)
    assert len(server.prompts) == 2


def test_no_tokens_means_no_calls(house: ServiceHouse, server: OllamaServer) -> None:
    """0 switches every call off."""
    use(house, rerank=True, hyde=True, generation_daily_tokens=0)
    assert len(found(house)) == 2
    assert server.prompts == []


def test_what_is_not_reported_is_estimated(house: ServiceHouse, server: OllamaServer) -> None:
    """A server without figures is counted by the length of what was said; a failed call keeps what
    was set aside, since nobody knows what it took."""
    use(house, rerank=True)
    server.counts = {}
    found(house)
    estimated = used(house)["tokens"]
    assert 100 < estimated < 400
    server.failure = (500, "no")
    found(house)
    assert used(house)["tokens"] - estimated > estimated


def test_a_failed_call_that_says_what_it_took_is_counted_by_that(
    house: ServiceHouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More than was set aside counts as more."""
    said = """{"is_error": true, "result": "no", "modelUsage": {"a": {"inputTokens": 50000}}}"""
    script(tmp_path, f"echo '{said}'; exit 1", "claude")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    use(house, rerank=True, generation_backend="client", generation_model="")
    found(house)
    assert (used(house)["tokens"], used(house)["failures"]) == (50_000, 1)


def test_the_caps_hold_across_restarts_and_old_days_go(tmp_path: Path) -> None:
    """What was counted is on the disk before the call is made; a month later it is swept."""
    moment = datetime(2026, 5, 3, tzinfo=timezone.utc)
    settings = replace(Settings(), generation_daily_tokens=1_000)
    state = State.open(str(tmp_path / "state.db"), lambda: moment)
    assert Allowance(state).reserve(settings, moment.date(), 900)
    # As if the process were killed: nothing is closed.
    again = State.open(str(tmp_path / "state.db"), lambda: moment)
    assert Allowance(again).reserve(settings, moment.date(), 200) is None
    again.close()
    state.close()
    later = State.open(str(tmp_path / "state.db"), lambda: moment + timedelta(days=40))
    assert later.counters() == {"generation_refused": 1}
    later.close()


def test_threads_share_one_cap(house: ServiceHouse) -> None:
    """Of many that ask at once, only so many are let through."""
    settings = replace(house.ctx.settings, generation_daily_calls=7, generation_daily_tokens=500)
    today = house.ctx.local_now().date()
    with ThreadPoolExecutor(8) as pool:
        granted = list(
            pool.map(lambda _: house.ctx.generation.reserve(settings, today, 100), range(64))
        )
    assert sum(one is not None for one in granted) == 5
    assert used(house)["tokens"] == 500


def test_figures_tell_of_the_model(house: ServiceHouse, server: OllamaServer) -> None:
    """`stats` has today's calls, tokens and caps, and the last failure until a call goes well."""
    use(house, rerank=True)
    server.failure = (500, "broken")
    found(house)
    told = door(house.ctx, "stats", {})["generation"]
    assert (told["calls"], told["failures"], told["daily_calls"]) == (1, 1, 200)
    assert "broken" in told["error"]
    server.failure = None
    found(house)
    assert door(house.ctx, "stats", {})["generation"]["error"] == ""
    assert not [name for name in door(house.ctx, "stats", {})["counters"] if name.endswith("-03")]


def test_unknown_backends_are_named() -> None:
    """A wrong name brings the right ones."""
    with pytest.raises(BadInputError, match="nonsense"):
        registry.create(replace(Settings(), generation_backend="nonsense"))  # type: ignore[arg-type]


def script(folder: Path, body: str, name: str = "client") -> str:
    """Return a program that stands for the client."""
    path = folder / name
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_client_that_fails_or_is_late_is_an_error(tmp_path: Path) -> None:
    """A failing, a slow and a missing program are told apart from an answer."""
    with pytest.raises(GenerationError, match="3"):
        Headless(Settings(), script(tmp_path, "echo broken >&2; exit 3")).complete("x", 9, 5.0)
    with pytest.raises(GenerationError, match="signed out"):
        said = """echo '{"is_error": true, "result": "signed out"}'"""
        Headless(Settings(), script(tmp_path, said)).complete("x", 9, 5.0)
    for garbage in ("", "{", "[]", "{}", "null", '{"result": 5}'):
        with pytest.raises(GenerationError):
            Headless(Settings(), script(tmp_path, f"echo '{garbage}'")).complete("x", 9, 5.0)
    with pytest.raises(GenerationError):
        Headless(Settings(), script(tmp_path, "exec sleep 20")).complete("x", 9, 0.2)
    with pytest.raises(GenerationError, match="no program"):
        Headless(Settings(), str(tmp_path / "nothing"))


def test_a_prompt_reaches_the_client_on_stdin_alone(tmp_path: Path) -> None:
    """What memories say is no argument, and the client starts in an empty folder of its own."""
    seen = tmp_path / "seen"
    path = script(
        tmp_path, f"""cat >{seen}; echo "|$@|" >>{seen}; ls -A | wc -l >>{seen}; echo '{ANSWER}'"""
    )
    assert Headless(Settings(), path).complete("$(id) --help", 9, 5.0) == "yes"
    said = seen.read_text()
    assert said.startswith(EXTRACTION_MARK)
    assert "$(id) --help" in said.partition("|")[0]
    assert "id)" not in said.partition("|")[2]
    assert said.split()[-1] == "0"


def test_what_a_call_took_is_what_all_models_of_the_client_took(tmp_path: Path) -> None:
    """Cached tokens count too; without figures nothing is claimed."""
    path = script(tmp_path, f"echo '{ANSWER}'")
    assert Headless(Settings(), path).complete("x", 9, 5.0).tokens == 1_234
    path = script(tmp_path, """echo '{"result": "yes", "modelUsage": {"haiku": 5}}'""")
    assert Headless(Settings(), path).complete("x", 9, 5.0).tokens is None


def test_the_smallest_model_is_asked_unless_another_is_named(tmp_path: Path) -> None:
    """Small tasks need no large model."""
    seen = tmp_path / "seen"
    path = script(tmp_path, f"""echo "$@" >{seen}; echo '{ANSWER}'""")
    for model, words in (("", "--model haiku"), ("opus", "--model opus")):
        Headless(replace(Settings(), generation_model=model), path).complete("x", 9, 5.0)
        assert words in seen.read_text()


def test_a_backend_is_checked_without_being_asked(
    house: ServiceHouse, server: OllamaServer, tmp_path: Path
) -> None:
    """A server that has the model and a client that runs are there; others are not."""
    registry.create(house.ctx.settings).check(5.0)
    assert server.chats == []
    with pytest.raises(GenerationError, match="not found"):
        registry.create(replace(house.ctx.settings, generation_model="other")).check(5.0)
    Headless(Settings(), script(tmp_path, "echo 2.1.329")).check(5.0)
    with pytest.raises(GenerationError):
        Headless(Settings(), script(tmp_path, "exit 1")).check(5.0)
