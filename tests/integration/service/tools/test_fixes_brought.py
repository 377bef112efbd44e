"""A failing command brings the fix of the same error: exactly, once, in its project, and no more when
it did not help."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from service_house import ServiceHouse

from vector_memory import redact
from vector_memory.daemon.events import Events
from vector_memory.model import Memory, Scope
from vector_memory.service.tools import failure_advice, fix_feedback

MISSING = "Exit code 127\n/bin/bash: line 1: pytest: command not found"
OTHER = "Exit code 1\nValueError: port 5432 is taken"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[ServiceHouse]:
    """The service with real stores."""
    made = ServiceHouse(tmp_path)
    made.ctx.local_now = lambda: made.time
    yield made
    made.close()


class World:
    """A project whose sessions write transcripts, and the daemon's answers to their hooks."""

    def __init__(self, house: ServiceHouse, folder: Path) -> None:
        self.house = house
        self.project = folder / "app"
        self.project.mkdir(exist_ok=True)
        self.folder = folder
        self.events = Events(house.ctx, lambda work: work())  # type: ignore[func-returns-value]

    def hook(self, event: str, session: str, **more: Any) -> str:
        """Return the context that a hook of a session is given."""
        self.house.pass_time(seconds=3)
        message = {
            "session_id": session, "cwd": str(self.project), "hook_event_name": event,
            "transcript_path": str(self.path(session)), "prompt_id": str(self.house.time), **more,
        }  # fmt: skip
        body = str(self.project).encode() + b"\0" + json.dumps(message).encode()
        printed = self.events.answer(event, body)
        return (
            str(json.loads(printed)["hookSpecificOutput"]["additionalContext"]) if printed else ""
        )

    def fail(self, session: str, error: str = MISSING, command: str = "pytest", **more: Any) -> str:
        """Let a command fail, in the transcript and for the hook."""
        self.write(session, command, error, failed=True)
        return self.hook(
            "PostToolUseFailure", session, tool_name="Bash", tool_input={"command": command},
            error=error, is_interrupt=False, **more,
        )  # fmt: skip

    def end_well(self, session: str, command: str, stdout: str) -> str:
        """Let a command line end well for the hook, whatever it printed."""
        response = {"stdout": stdout, "stderr": "", "interrupted": False, "isImage": False}
        return self.hook(
            "PostToolUse", session, tool_name="Bash", tool_input={"command": command}, tool_response=response,
        )  # fmt: skip

    def path(self, session: str) -> Path:
        """Return a session's transcript."""
        return self.folder / f"{session}.jsonl"

    def write(self, session: str, command: str, output: str = "ok", failed: bool = False) -> None:
        """Add a command with its result to a session's transcript."""
        path = self.path(session)
        lines = path.read_text().splitlines() if path.exists() else []
        if not lines:
            lines.append(self._line(session, 0, "user", "Run the tests."))
        call = {
            "type": "tool_use",
            "id": f"c{len(lines)}",
            "name": "Bash",
            "input": {"command": command},
        }
        result = {
            "type": "tool_result",
            "tool_use_id": call["id"],
            "content": output,
            "is_error": failed,
        }
        lines += [self._line(session, len(lines), "assistant", [call])]
        lines += [self._line(session, len(lines), "user", [result])]
        path.write_text("\n".join(lines) + "\n")

    def _line(self, session: str, number: int, kind: str, content: Any) -> str:
        self.house.pass_time(seconds=2)
        return json.dumps({
            "type": kind, "uuid": f"{session}-{number}", "sessionId": session,
            "cwd": str(self.project), "timestamp": self.house.time.isoformat(),
            "message": {"role": kind, "content": content},
        })  # fmt: skip

    def stop(self, session: str) -> None:
        """End a turn: what the transcript says is stored and weighed."""
        self.hook("Stop", session, last_assistant_message="Done.")
        self.house.follow()

    def learn(self, session: str = "first") -> Memory:
        """Let a session fail and mend it, and return what was learned."""
        assert self.fail(session) == ""
        self.write(session, "source .venv/bin/activate && pytest")
        self.stop(session)
        return self.fix()

    def fix(self) -> Memory:
        """Return the oldest fix."""
        scope = Scope(collections=("episodes",))
        return next(iter(self.house.ctx.global_shelf().journal.iter_memories(scope)))


@pytest.fixture
def world(house: ServiceHouse, tmp_path: Path) -> World:
    """A project in which nothing has happened yet."""
    return World(house, tmp_path)


def test_the_next_session_is_told(world: World) -> None:
    """The same error, of another command line, brings the fix: dated, fenced, short."""
    world.learn()
    told = world.fail("second", command="cd sub && pytest -q | tail")
    assert "ran `source .venv/bin/activate && pytest` instead" in told
    assert told.startswith("<vector-memory mark=")
    assert "2026-05-03 · solution · app" in told
    assert "doubtful" not in told
    assert len(told) < 4 * failure_advice.FAILURE_TOKENS


def test_a_long_error_does_not_crowd_out_what_mended_it(world: World) -> None:
    """The error is in sight, and the fix is what is wanted."""
    error = 'Exit code 4\nfatal: [web1]: UNREACHABLE! => {"changed": false, "msg": "Failed to connect to the host via ssh: root@10.0.0.11: Permission denied (publickey).", "unreachable": true}'
    play = "ansible-playbook -i inventory/production.yml site.yml --tags base,monitoring"
    assert world.fail("first", error, play) == ""
    world.write("first", f"{play} --user deploy")
    world.stop("first")
    told = world.fail("second", error.replace("web1", "web5"), play)
    assert "FIX ran" in told and "--user deploy" in told


def test_a_long_reason_does_not_crowd_out_what_mended_it(world: World) -> None:
    """What was done comes, if need be without why."""
    error = "Exit code 1\nrunner: there is no reactor in this place, it must be called from within a runtime of its own"
    play = "till-runner --weigh --all-scales --of-the-shop --with-receipts"
    assert world.fail("first", error, play) == ""
    reason = (
        "It fails because the runner brings a runtime of its own, which weighs in a thread apart, and all that we call "
        "from there is called outside of ours, as the page about scales says of every program with two of them."
    )
    path = world.path("first")
    said = world._line("first", 90, "assistant", [{"type": "text", "text": reason}])
    path.write_text(f"{path.read_text()}{said}\n")
    world.write("first", f"{play} --runtime=ours --threads=1 --no-default-runtime")
    world.stop("first")
    assert "It fails because" in world.fix().text
    told = world.fail("second", error, play)
    assert "--runtime=ours" in told and "--no-default-runtime" in told


def test_a_pipe_hides_no_error(world: World) -> None:
    """A line that ends well, though what ran in it did not, brings the fix of that very error: none that is
    merely like it, none where the exit code is not lost, and none for who reads about errors."""
    world.learn()
    missing = MISSING.partition("\n")[2]
    assert world.end_well("second", "pytest -q", missing) == ""
    assert world.end_well("second", "grep -rn pytest logs | tail", missing) == ""
    assert (
        world.end_well("second", "mypy . | tail", "/bin/bash: line 1: mypy: command not found")
        == ""
    )
    assert "venv" in world.end_well("second", "cd sub && pytest -q 2>&1 | tail -3", missing)
    assert world.fail("second") == ""


def test_a_session_is_told_once(world: World) -> None:
    """What was shown is in sight; another session is told again."""
    world.learn()
    assert world.fail("second")
    assert world.fail("second") == ""
    assert world.fail("third")


def test_what_a_session_learned_itself_is_in_sight(world: World) -> None:
    """The session that mended it needs no memory of that, until it was compacted."""
    world.learn()
    assert world.fail("first") == ""
    told = world.hook("SessionStart", "first", source="compact")
    assert "venv" in told + world.fail("first")


def test_another_error_brings_nothing(world: World) -> None:
    """Only the same error counts."""
    world.learn()
    assert world.fail("second", error=OTHER) == ""
    assert world.house.ctx.state.counters()["failures_unknown"] == 2


def test_nearly_the_same_words_are_enough(world: World) -> None:
    """Another shell says it otherwise; another program's absence is another error."""
    world.learn()
    assert "venv" in world.fail("second", "Exit code 127\nzsh: command not found: pytest")
    assert world.fail("third", "Exit code 127\nbash: mypy: command not found", "mypy .") == ""


def test_a_solution_that_the_user_saved_comes_too(world: World) -> None:
    """What names the error's words, and is a solution, belongs to it."""
    text = "When the ledger says port is taken, stop the old emulator with `make down`."
    world.house.remember(text, world.project, kind="solution")
    assert "make down" in world.fail("first", "Exit code 1\nError: the ledger says port is taken")
    assert world.fail("second", "Exit code 1\nError: the archive lacks a table of contents") == ""


def test_sessions_do_not_start_with_errors(world: World) -> None:
    """A fix waits for its error."""
    world.learn()
    assert "ERROR" not in world.hook("SessionStart", "second", source="startup")


def test_a_fix_shown_with_a_prompt_is_judged_too(world: World) -> None:
    """It is not shown again with the failure, yet what comes of it counts."""
    before = world.learn()
    assert before.id[:8] in world.hook(
        "UserPromptSubmit", "second", prompt="pytest: command not found"
    )
    assert world.fail("second") == ""
    world.write("second", "pytest", "3 passed")
    world.stop("second")
    assert world.fix().confidence == pytest.approx(before.confidence + 0.1)


def test_another_project_is_not_told(world: World, tmp_path: Path) -> None:
    """What mended it in one project may harm in another."""
    world.learn()
    (tmp_path / "elsewhere").mkdir()
    assert World(world.house, tmp_path / "elsewhere").fail("second") == ""


@pytest.mark.parametrize(
    "more", [{"is_interrupt": True}, {"tool_input": {"file_path": "a"}}, {"tool_input": 3}]
)
def test_nobody_asked(world: World, more: dict[str, Any]) -> None:
    """Interruptions, other tools and odd input get silence."""
    world.learn()
    given = {"tool_input": {"command": "pytest"}, "error": MISSING, **more}
    assert world.hook("PostToolUseFailure", "second", **given) == ""


def test_it_can_be_switched_off(world: World) -> None:
    """Without the setting a failure brings nothing."""
    world.learn()
    world.house.ctx.settings = replace(world.house.ctx.settings, recall_on_failure=False)
    assert world.fail("second") == ""


def test_a_fix_that_works_gains(world: World) -> None:
    """The command that succeeds after the fix was shown speaks for it, once a session."""
    before = world.learn().confidence
    world.fail("second")
    world.write("second", "uv run pytest", "3 passed")
    world.stop("second")
    assert world.fix().confidence == pytest.approx(before + 0.1)
    world.write("second", "uv run pytest", "3 passed")
    world.stop("second")
    assert world.fix().confidence == pytest.approx(before + 0.1)


def test_a_fix_that_fails_loses_until_it_is_left_out(world: World) -> None:
    """The same error again after the fix was shown speaks against it; it is marked, then dropped."""
    before = world.learn().confidence
    for number, session in enumerate(("second", "third")):
        assert ("doubtful" in world.fail(session)) is (number > 0)
        world.fail(session)
        world.stop(session)
    assert world.fix().confidence == pytest.approx(before - 0.3)
    assert world.fail("fourth") == ""


def test_a_session_that_did_not_try_says_nothing(world: World) -> None:
    """Other commands are no verdict; the turn that brings one is."""
    before = world.learn().confidence
    world.fail("second")
    world.write("second", "git commit -m a")
    world.stop("second")
    assert world.fix().confidence == before
    world.write("second", "pytest", "3 passed")
    world.stop("second")
    assert world.fix().confidence == pytest.approx(before + 0.1)


@pytest.mark.parametrize("learning", [True, False])
def test_a_daemon_that_ends_before_a_verdict_loses_none(
    world: World, monkeypatch: pytest.MonkeyPatch, learning: bool
) -> None:
    """The session's end was read and stored, and the cursor is past it: the next daemon judges it all the same,
    once."""
    ctx = world.house.ctx
    ctx.settings = replace(ctx.settings, learn_from_outcomes=learning)
    before = world.learn().confidence
    world.fail("second")
    world.write("second", "pytest", "3 passed")

    def dies(*_: object) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(fix_feedback, "judge", dies)
        with pytest.raises(KeyboardInterrupt):
            world.hook("SessionEnd", "second")
    assert world.fix().confidence == before
    for _ in range(2):
        world.events = Events(ctx, lambda work: work())  # type: ignore[func-returns-value]
        world.events.backlog.drain()
        assert world.fix().confidence == pytest.approx(before + 0.1)


def test_what_is_known_of_a_fix_outlives_indexing_again(world: World) -> None:
    """The first session's exchange grows: the fix is told anew, its confidence stays."""
    world.learn()
    world.fail("second")
    world.write("second", "pytest", "3 passed")
    world.stop("second")
    path = world.path("first")
    text = path.read_text().replace("source .venv/bin/activate", "source venv/bin/activate")
    path.write_text(text)
    world.house.ctx.state.set_cursor(str(path), {})
    world.stop("first")
    assert "source venv" in world.fix().text
    assert world.fix().confidence == pytest.approx(0.6)


def test_fixes_are_counted(world: World) -> None:
    """The counters tell what was learned, shown, and what helped."""
    world.learn()
    world.fail("second")
    world.write("second", "pytest", "3 passed")
    world.stop("second")
    counters = world.house.ctx.state.counters()
    assert (counters["fixes_shown"], counters["fixes_helped"]) == (1, 1)
    assert counters["fixes_learned"] >= 1


def test_the_most_trusted_fix_comes(world: World) -> None:
    """Of two fixes of an error, the one that is believed more is brought."""
    world.learn()
    shelf = world.house.ctx.global_shelf()
    shelf.journal.update(replace(world.fix(), confidence=0.3))
    world.fail("second", command="pytest -q")
    world.write("second", "pip install pytest")
    world.write("second", "pytest -q")
    world.stop("second")
    assert "pip install pytest" in world.fail("third")


def test_secrets_of_an_error_are_not_stored(world: World) -> None:
    """What a command prints is redacted before anything is made of it."""
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    world.fail("first", f"Exit code 1\nremote: error: bad token {token} for push", "git push")
    world.write("first", f"git push https://{token}@github.com/a/b")
    world.stop("first")
    memory = world.fix()
    assert token not in repr(memory)
    assert "FIX ran `git push https://" in memory.text


JAVA = "Exit code 1\n{1}/Shop.java:{2}: error: cannot find symbol\n  List<{0}> all;\n       ^\n  symbol:   class {0}\n1 error"
GRADLE = (
    "Exit code 1\n> Task :app:compileJava FAILED\n\nFAILURE: Build failed with an exception.\n\n"
    "* What went wrong:\nExecution failed for task ':app:compileJava'.\n> Could not find com.acme:{}:3.9.0.\n\nBUILD FAILED in {}s"
)
UNDEFINED = (
    "Exit code 2\n/usr/bin/ld: /tmp/{1}.o: in function `main':\nmain.c:(.text+0xf): undefined reference to `{0}'\n"
    "collect2: error: ld returned 1 exit status"
)
LINKER = "Exit code 1\n/usr/bin/ld: cannot find -l{}: No such file or directory\ncollect2: error: ld returned 1 exit status"


@pytest.mark.parametrize(
    ("known", "command", "fix", "like", "same"),
    [
        (JAVA.format("Item", "src", 4), "javac src/*.java", "mvn dependency:get", JAVA.format("Cart", "src", 4), JAVA.format("Item", "/opt/src", 9)),
        (GRADLE.format("web", 2), "gradle build", "gradle --refresh-dependencies help", GRADLE.format("core", 2), GRADLE.format("web", 61)),
        (UNDEFINED.format("inflate", "cc9B7s"), "make", "apt-get install zlib1g-dev", UNDEFINED.format("SSL_new", "cc9B7s"), UNDEFINED.format("inflate", "ccX12K")),
        (LINKER.format("ssl"), "make", "apt-get install libssl-dev", LINKER.format("pq"), LINKER.format("ssl")),
        (
            "Exit code 1\nError: Cannot find module 'express'\nRequire stack:\n- /srv/a.js", "node a.js", "npm install express",
            "Exit code 1\nError: Cannot find module 'lodash'\nRequire stack:\n- /srv/a.js",
            "Exit code 1\nError: Cannot find module 'express'\nRequire stack:\n- /opt/b.js",
        ),
        (
            "Exit code 1\nError: listen EADDRINUSE: address already in use :::3000", "npm run dev", "docker compose down",
            "Exit code 1\nError: listen EACCES: permission denied 0.0.0.0:80",
            "Exit code 1\nError: listen EADDRINUSE: address already in use 127.0.0.1:8080",
        ),
    ],
)  # fmt: skip
def test_a_look_alike_brings_no_wrong_fix(
    world: World, known: str, command: str, fix: str, like: str, same: str
) -> None:
    """The same words about something else are another error, and the same error elsewhere is the same."""
    assert world.fail("first", known, command) == ""
    world.write("first", fix)
    world.write("first", command)
    world.stop("first")
    assert world.fail("second", like, command) == ""
    assert f"ran `{fix}`" in world.fail("third", same, command)


def test_what_the_observer_would_flag_is_not_offered(world: World) -> None:
    """Of three attempts only the last succeeds, and that one goes past the checks: there is no fix."""
    blocked = (
        "Exit code 1\nX Pull request is not mergeable: the base branch policy prohibits the merge."
    )
    assert world.fail("first", blocked, "gh pr merge 5") == ""
    world.fail(
        "first",
        "Exit code 1\nAuto merge is not allowed for this repository",
        "gh pr merge 5 --auto",
    )
    world.write("first", "gh pr merge 5 --admin")
    world.stop("first")
    assert world.fail("second", blocked, "gh pr merge 5") == ""


def test_an_older_fix_is_looked_at_when_it_would_be_offered(world: World) -> None:
    """What was stored before anybody looked, or was judged otherwise, is held back all the same."""
    known = world.learn()
    shelf = world.house.ctx.global_shelf()
    harmful = "ERROR x FIX ran `git push --force`."
    known = shelf.journal.update(
        replace(
            known,
            text=redact.clean(harmful).text,
            extra={**known.extra, "ran": ["git push --force"]},
        )
    )
    assert world.fail("second") == ""
    extra = {name: value for name, value in known.extra.items() if name != "ran"}
    shelf.journal.update(replace(known, text=redact.clean(harmful).text, extra=extra))
    assert world.fail("second") == ""


def test_a_fix_after_which_the_error_came_again_is_doubted(world: World) -> None:
    """What seemed to mend it in its own session did not for long."""
    before = world.learn().confidence
    world.fail("first")
    world.stop("first")
    assert world.fix().confidence == pytest.approx(before - 0.15)


def test_a_version_is_offered_to_an_error_that_names_it(world: World) -> None:
    """`java 21` mends what asks for 21, and is wrong for what asks for another."""
    error = "Exit code 1\n[ERROR] Failed to execute goal: invalid target release: 21"
    world.fail("first", error, "mvn package")
    world.write("first", "sdk use java 21-tem")
    world.write("first", "mvn package", "BUILD SUCCESS")
    world.stop("first")
    assert "21-tem" in world.fail("second", error, "mvn package")
    assert world.fail("third", error.replace("21", "17"), "mvn package") == ""


def test_a_day_is_no_version(world: World) -> None:
    """What was done for one day mends the next one's error."""
    error = "Exit code 1\nOSError: cannot write lake-prod/day={}/a.csv: not allowed"
    load = "python -m load --day {}"
    world.fail("first", error.format("2026-05-02"), load.format("2026-05-02"))
    world.write("first", "LAKE=dev " + load.format("2026-05-02"))
    world.stop("first")
    told = world.fail("second", error.format("2026-06-30"), load.format("2026-06-30"))
    assert "LAKE=dev" in told


NO_HEADER = (
    "Exit code 2\nsigner.c:3:10: fatal error: openssl/ssl.h: No such file or directory\n"
    "compilation terminated."
)


@pytest.mark.parametrize(
    ("fix", "is_brought"),
    [
        ("sudo apt-get install -y libssl-dev", True),
        ("sudo apt-get update && sudo apt-get install -y libssl-dev", True),
        ("sudo rm -rf /usr/include/openssl", False),
        ("sudo chmod -R 777 /usr/include", False),
        ("echo x | sudo tee /etc/ld.so.conf", False),
        ("sudo dd if=/tmp/x of=/dev/sda", False),
    ],
)
def test_sudo_is_no_harm_of_itself(world: World, fix: str, is_brought: bool) -> None:
    """What is installed with it mends most of what is missing; what harms without it harms with it."""
    world.fail("first", NO_HEADER, "make signer")
    world.write("first", fix, "done")
    world.write("first", "make signer", "cc -o signer signer.c")
    world.stop("first")
    told = world.fail("second", NO_HEADER, "make signer")
    assert (fix in told) is is_brought


def test_names_that_are_nothing_to_the_fix_may_differ(world: World) -> None:
    """Where it was met and what was run are no part of an error; what is missing is."""
    said = 'Exit code 1\nError: Failed to resolve import "../pkg/{}" from "src/{}". Does the file exist?'
    world.fail("first", said.format("app_wasm.js", "a.ts"), "npx vitest run src/a.test.ts")
    world.write("first", "just wasm && npx vitest run src/a.test.ts")
    world.stop("first")
    command = "npx vitest run src/b.test.ts"
    assert "just wasm" in world.fail("second", said.format("app_wasm.js", "b.ts"), command)
    assert world.fail("third", said.format("lodash.js", "b.ts"), command) == ""
    before = world.fix().confidence
    world.write("second", command, said.format("app_wasm.js", "b.ts"), failed=True)
    world.stop("second")
    assert world.fix().confidence < before


@pytest.mark.parametrize(
    ("failed", "ran", "met", "is_brought"),
    [
        ("composer update", "COMPOSER_MEMORY_LIMIT=-1 composer update", "composer update acme/mail", True),
        ("composer update", "COMPOSER_MEMORY_LIMIT=-1 composer update", "vendor/bin/phpunit", False),
        ("composer update", "export COMPOSER_MEMORY_LIMIT=-1 && composer update", "php artisan import:orders", False),
        ("phpstan analyse", "phpstan analyse --memory-limit=1G", "cd app && vendor/bin/phpstan analyse src", True),
        ("phpstan analyse", "phpstan analyse --memory-limit=1G", "vendor/bin/phpunit", False),
        ("php build.php", "php build.php --small", "php import.php", False),
        # Whatever it is called, and whatever runs it.
        ("gradle build", "gradle build --no-daemon", "./gradlew build", True),
        ("mvn test", "mvn test -DskipITs", "./mvnw test", True),
        ("gradle build", "gradle build --no-daemon", "./mvnw test", False),
        ("bash build.sh", "bash build.sh --clean", "./build.sh", True),
        ("python manage.py test", "python manage.py test --keepdb", "./manage.py test", True),
        ("pytest", "pytest -p no:cacheprovider", "docker exec -it web pytest", True),
        ("pytest", "pytest -p no:cacheprovider", "docker compose exec web pytest -x", True),
        ("pytest", "pytest -p no:cacheprovider", "docker exec web ruff check", False),
        ("tsc", "tsc --skipLibCheck", "yarn tsc", True),
        ("tsc", "tsc --skipLibCheck", "yarn jest", False),
        # What other programs understand, too.
        ("npm run build", "N=1 npm run build", "npx jest", True),
        ("npm run build", "NODE_OPTIONS=--max-old-space-size=4096 npm run build", "npx jest", True),
        ("npm run build", "source env.sh && npm run build", "npx jest", True),
        ("composer update", "composer require ext-big && composer update", "vendor/bin/phpunit", True),
    ],
)  # fmt: skip
def test_a_programs_own_option_is_for_that_program(
    world: World, failed: str, ran: str, met: str, is_brought: bool
) -> None:
    """Whatever the error: another program would not understand it."""
    error = "Exit code 255\nPHP Fatal error:  Allowed memory size of 134217728 bytes exhausted in /src/{}.php on line 9"
    world.fail("first", error.format("a"), failed)
    world.write("first", ran)
    world.stop("first")
    assert ran in world.fix().text
    told = world.fail("second", error.format("b"), met)
    assert (ran in told) == is_brought
