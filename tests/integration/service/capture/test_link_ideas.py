"""Ideas of sessions find each other: the same becomes one, the rest is linked, and nothing comes twice."""

from __future__ import annotations

from pathlib import Path

from service_house import ServiceHouse, captured_of
from talk import transcript
from work import Session

from vector_memory.model import PASSAGE, Memory, Relation, Scope, Status
from vector_memory.service.capture.link_ideas import weave

PORT = "Let's use port 5433 for the dev database from now on."


def read(house: ServiceHouse, folder: Path, *talk: tuple[str, str], session: str = "s1",
         after_hours: float = 0) -> None:  # fmt: skip
    """Let a session be captured and woven."""
    folder.mkdir(exist_ok=True)
    path = transcript(folder, talk, session, after_hours)
    captured_of(house.ctx, str(path), final=True)
    house.follow()
    while weave(house.ctx, house.ctx.global_shelf()):
        house.follow()


def ideas(house: ServiceHouse, *statuses: Status) -> list[Memory]:
    """Return the ideas in the store, oldest first."""
    found = house.ctx.global_shelf().journal.iter_memories(
        Scope(), statuses=statuses or (Status.ACTIVE,)
    )
    return [one for one in found if one.kind != PASSAGE]


def relations(house: ServiceHouse) -> list[Relation]:
    """Return the relations of all links."""
    ids = [one.id for one in ideas(house, *Status)]
    return [one.relation for one in house.ctx.global_shelf().journal.links_of(ids)]


def test_the_same_in_other_grammar_is_one(house: ServiceHouse, tmp_path: Path) -> None:
    """The newer wording stands, surer than before, with both sources; the older gives way to it."""
    app = tmp_path / "app"
    read(house, app, ("We want to keep the retry limit at five.", "Fine."))
    read(
        house,
        app,
        ("We want to keep the **retry limit** at five.", "Fine."),
        session="s2",
        after_hours=9,
    )
    assert len(ideas(house)) == 1
    read(
        house,
        app,
        ("Let's keep it so that passwords are hashed with bcrypt.", "Good."),
        session="s3",
    )
    before = len(ideas(house))
    read(
        house, app, ("Let's keep it so that bcrypt is used to hash passwords.", "Good."),
        session="s4", after_hours=20,
    )  # fmt: skip
    active, gone = ideas(house), ideas(house, Status.SUPERSEDED)
    assert len(active) + len(gone) == before + 1


def test_numbers_contradict_and_both_stay(house: ServiceHouse, tmp_path: Path) -> None:
    """Without a sign that one replaces the other."""
    app = tmp_path / "app"
    read(house, app, ("We should use port 5432 for the dev database.", "Fine."))
    read(house, app, ("We should use port 5433 for the dev database.", "Fine."), session="s2",
         after_hours=9)  # fmt: skip
    assert len(ideas(house)) == 2
    assert Relation.CONTRADICTS in relations(house)


def test_a_sign_replaces(house: ServiceHouse, tmp_path: Path) -> None:
    """ "instead of" names what gives way."""
    app = tmp_path / "app"
    read(house, app, ("Let's use Redis for the job queue.", "Fine."))
    read(house, app, ("Let's use Postgres instead of Redis for the job queue.", "Fine."),
         session="s2", after_hours=9)  # fmt: skip
    (gone,) = ideas(house, Status.SUPERSEDED)
    assert "Let's use Redis" in gone.text


def test_the_assistant_does_not_replace_the_user(house: ServiceHouse, tmp_path: Path) -> None:
    """However it says so."""
    app = tmp_path / "app"
    read(house, app, ("Let's use Redis for the job queue.", "Fine."))
    said = "I'll use Postgres instead of Redis for the job queue because it is there."
    read(house, app, ("Now do the queue please, all of it.", said), session="s2", after_hours=9)
    assert not ideas(house, Status.SUPERSEDED)


def test_other_projects_stay_apart(house: ServiceHouse, tmp_path: Path) -> None:
    """The same words in another project are another idea."""
    for name in ("app", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / ".git").mkdir()
        read(house, tmp_path / name, (PORT, "Fine."), session=name)
    assert len(ideas(house)) == 2
    assert relations(house) == []


def test_reading_again_adds_nothing(house: ServiceHouse, tmp_path: Path) -> None:
    """Whatever was merged or linked; the cursor is lost."""
    app = tmp_path / "app"
    talk = (
        ("Let's use Redis for the job queue.", "The issue is that the worker never closes Redis."),
        ("Let's use Postgres instead of Redis for the job queue.", "Fixed by closing the cursor."),
    )
    read(house, app, *talk)
    shelf = house.ctx.global_shelf()
    before = {
        one.id: one.status for one in shelf.journal.iter_memories(Scope(), statuses=tuple(Status))
    }
    links = len(relations(house))
    house.ctx.state.set_cursor(str((app / "s1.jsonl").resolve()), {})
    read(house, app, *talk)
    after = {
        one.id: one.status for one in shelf.journal.iter_memories(Scope(), statuses=tuple(Status))
    }
    assert after == before
    assert len(relations(house)) == links


def mend(house: ServiceHouse, folder: Path, name: str, error: str, problem: str = "") -> None:
    """Let a session note a problem, or meet an error and mend it."""
    session = Session(folder, name, at=house.time)
    if problem:
        session.ask("What is wrong with the build?").say(problem)
    else:
        session.ask("Mend the build of the app").run("just build", error, failed=True)
        session.edit("conf.py").run("just build").say()
    house.time = session.at
    captured_of(house.ctx, str(session.path), final=True)
    house.follow()
    while weave(house.ctx, house.ctx.global_shelf()):
        house.follow()


def open_problems(house: ServiceHouse, folder: Path) -> list[str]:
    """Return the problems of a project that nothing answers."""
    scope = Scope(projects=(house.ctx.place(str(folder)).id,))
    return [one.text for one in house.ctx.global_shelf().journal.open_items(scope, 9)]


def test_a_fix_answers_the_problem_that_quotes_its_error(
    house: ServiceHouse, tmp_path: Path
) -> None:
    """Then it is not open any more; another problem is."""
    app = tmp_path / "app"
    app.mkdir()
    error = "ValueError: the listen port is missing in conf.py"
    mend(house, app, "s1", error, f"The problem is that the build ends with {error}.")
    mend(
        house,
        app,
        "s2",
        error,
        "The problem is that the build ends with KeyError: 'port_range' too.",
    )
    assert len(open_problems(house, app)) == 2
    mend(house, app, "s3", error)
    (left,) = open_problems(house, app)
    assert "port_range" in left
    assert Relation.ANSWERS in relations(house)
