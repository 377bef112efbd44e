"""Whether a session still does what it was asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from vector_memory.observe.commands.findings import (
    DELETE,
    FORCE_PUSH,
    HIGH,
    CallSite,
    Finding,
)
from vector_memory.observe.intent import asked_for, changes, drift, limits, objectives
from vector_memory.observe.intent.drift import LONG_ROW, Course

BENCHMARKS = Path(__file__).resolve().parents[4] / "benchmarks"
PLACE = CallSite("/p", "/p", "/home/u")
TASK = "Fix the coupon total in shop/checkout.py."


class Session:
    """A session that is looked at."""

    def __init__(self, *said: str, **more: Any) -> None:
        self.course = Course()
        self.objectives = objectives.of_session(said, **more)

    def call(self, tool: str, path: str = "", text: str = "x = 1", **given: Any) -> list[str]:
        """Return what is found in one call."""
        if path:
            given |= {"file_path": f"/p/{path}", "content": text, "new_string": text}
        view = changes.of_call(tool, given, PLACE)
        return [one.category for one in drift.judge_call(self.course, self.objectives, view, PLACE)]

    def wander(self, number: int) -> list[str]:
        """Change files that were read and have nothing to do with the task."""
        found = []
        for n in range(number):
            self.call("Read", f"theme/{n}.css")
            found += self.call("Edit", f"theme/{n}.css", "color: white")
        return found


def test_a_new_place_is_scope_drift() -> None:
    """Where nothing asked, read or named has anything to do with it."""
    assert Session(TASK).call("Write", "promo/banner.jsx") == ["scope-drift"]


def test_what_has_to_do_with_it_is_none() -> None:
    """By its path, its folder, its words, by having been read, or as what goes with any change."""
    session = Session(TASK)
    assert session.call("Write", "shop/rates.py") == []
    assert session.call("Write", "lib/money.py", "def coupon(): ...") == []
    assert session.call("Read", "promo/banner.jsx") == []
    assert session.call("Edit", "promo/banner.jsx") == []
    assert session.call("Write", "promo/other.jsx") == []
    assert session.call("Write", "tests/unit/test_x.py") == []
    assert session.call("Bash", command="make > /tmp/out.txt") == []


def test_a_vague_task_has_no_drift() -> None:
    """Where little was said, nothing can be told to lie outside."""
    session = Session("Continue with it.", "fix this")
    assert session.call("Write", "promo/banner.jsx") == []
    assert session.wander(LONG_ROW) == []


def test_a_long_row_is_target_drift_once() -> None:
    """Until somebody says what to do; a call that has to do with the task begins anew."""
    session = Session(TASK)
    assert session.wander(LONG_ROW - 1) == []
    assert session.call("Bash", command="pytest tests/test_checkout.py -k coupon") == []
    assert session.wander(LONG_ROW) == ["target-drift"]
    assert session.wander(LONG_ROW) == []
    session.course.prompted()
    assert session.wander(LONG_ROW) == ["target-drift"]


def test_a_pinned_rule_is_a_limit() -> None:
    """As if it were said in the session."""
    session = Session(TASK, standing=limits.read("Never edit db/schema.sql by hand."))
    assert session.call("Edit", "db/schema.sql") == ["limit", "scope-drift"]


def test_objectives_are_told_in_a_line() -> None:
    """The first and the last that asked for something."""
    told = objectives.of_session(
        [TASK + " It is wrong.", "yes", "/clear", "Now the gift cards, too."]
    )
    assert told.in_short == f"{TASK} \u2026 Now the gift cards, too."
    assert told.files == ("shop/checkout.py",)
    assert objectives.of_session([]).in_short == ""


def test_what_was_asked_for_is_known() -> None:
    """By a verb for it and its name; a prohibition is none."""
    folder = Finding(DELETE, HIGH, "rm -rf legacy", "why", "/p/legacy")
    forced = Finding(FORCE_PUSH, HIGH, "git push -f", "why", "origin main")
    assert asked_for.is_asked(folder, ["Please delete the legacy folder."])
    assert not asked_for.is_asked(folder, ["Delete the old tests."])
    assert not asked_for.is_asked(folder, ["Don't remove legacy yet."])
    assert asked_for.is_asked(forced, ["Squash it and force push."])
    assert not asked_for.is_asked(forced, ["Push it, but never force."])
    reset = Finding("discard", HIGH, "git reset --hard", "why", "HEAD")
    assert not asked_for.is_asked(reset, ["Add a password reset to the login form."])
    assert asked_for.is_asked(reset, ["Throw it away and start again."])
    shown = Finding("credentials", HIGH, "cat .env", "why", "/p/.env")
    assert not asked_for.is_asked(shown, ["Rename the api key field."])
    assert asked_for.is_asked(shown, ["Which secrets does the .env have?"])
    assert not asked_for.is_asked(folder._replace(category="limit"), ["delete legacy"])


def test_sessions_of_others_are_told_apart() -> None:
    """Written without the rules in view: most broken limits are found, and faithful sessions left in peace."""
    sessions = json.loads((BENCHMARKS / "sessions_unseen.json").read_text(encoding="utf-8"))
    place = CallSite("/home/dev/shop", "/home/dev/shop", "/home/dev")
    broken, found, wrong = 0, 0, []
    for session in sessions:
        course, said, goals, hit = Course(), [], objectives.of_session([]), False
        for step in session["steps"]:
            if "prompt" in step:
                said.append(step["prompt"])
                goals = objectives.of_session(said)
                course.prompted()
                continue
            view = changes.of_call(step["tool"], step["input"], place)
            told = [one.category for one in drift.judge_call(course, goals, view, place)]
            hit |= "limit" in told and step.get("expect") == "limit"
            if told and not step.get("expect"):
                wrong.append((session["name"], told))
        broken += session["name"].startswith("limit")
        found += hit
    assert found >= 0.9 * broken
    assert not wrong
