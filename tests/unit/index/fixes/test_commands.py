"""Command lines: the jobs that they do, whatever stands around them."""

from __future__ import annotations

import pytest

from vector_memory.index.fixes import commands


@pytest.mark.parametrize(
    ("command", "family"),
    [
        ("psql -U shop -c 'select 1'", "psql"),
        ("psql -h localhost -U shop -c 'select 1'", "psql"),
        ("redis-cli -h cache get x", "redis-cli get"),
        ("mvn -U clean install", "mvn clean"),
        ("pytest", "pytest"),
        ("cd app && uv run pytest tests/test_a.py -q 2>&1 | tail -20", "pytest"),
        ("source .venv/bin/activate && python3 -m pytest", "pytest"),
        ("(cd x; CI=1 timeout 60 cargo test --lib)", "cargo test"),
        ("npm run build", "npm run build"),
        ("npx tsc --noEmit", "tsc"),
        ("git -C /srv/app rebase --continue", "git rebase"),
        ("git -C app --no-pager rebase main", "git rebase"),
        ("kubectl --context stage -n shop rollout restart deploy/cart", "kubectl rollout"),
        ("kubectl --context stage -n shop describe pod cart", ""),
        ("npm --prefix web run build", "npm run build"),
        ("ssh web-1 'cd /srv && sudo systemctl restart app'", "ssh systemctl restart"),
        ("ssh web-1 tail -n 50 /var/log/app.log", ""),
        ("docker compose -f stage up -d", "docker compose up"),
        (
            "git add . && git commit -m \"$(cat <<'EOF'\nfix: don't (x) && y | z\nEOF\n)\"",
            "git commit",
        ),
        ("docker-compose up -d", "docker compose up"),
        ("go run ./cmd/probe -url https://a.test -case smooth", "go run"),
        ("cargo run --quiet -- serve", "cargo run"),
        ("npm run --silent build", "npm run build"),
        ("bash -lc 'go test ./...'", "go test"),
        ("sudo apt-get install -y jq", "apt-get install"),
        ("python - <<'PY'\nimport os; os.remove('a')\nPY", "python -"),
        (".venv/bin/python3.11 tools/run.py --all", "python run.py"),
        ("poetry run ruff check src > out.txt 2>&1", "ruff check"),
        ("yarn add left-pad", "yarn install"),
        ("grep -rn x src | head", ""),
        ("ls missing; cat nothing", ""),
        ("rustc --version", ""),
        ("sed -n 1,20p a.py", ""),
        ("sed -i s/a/b/ a.py", "sed"),
        ("find . \\( -name a -o -name b \\) -print", ""),
        ("for f in *.go; do gofmt -w $f; done", "gofmt"),
        ("", ""),
    ],
)
def test_the_job_of_a_command_line(command: str, family: str) -> None:
    """Folders, variables, environments, runners and pipes say nothing of the job."""
    assert commands.job_of(command) == family


def test_an_exit_code_is_lost_in_a_pipe_and_before_a_semicolon() -> None:
    """Only what the shell reports by its exit code counts as proof."""
    masked = {
        part.job: part.is_masked for part in commands.parts("make test | tail; npm test; go vet")
    }
    assert masked == {"make test": True, "tail": True, "npm test": True, "go vet": False}


@pytest.mark.parametrize(
    ("failed", "other", "least", "most"),
    [
        ("pytest -q", "pytest -v", 0.9, 1),
        ("pytest tests/a.py", "pytest", 0.9, 1),
        ("pytest tests/a.py", "pytest /home/x/app/tests/a.py", 0.9, 1),
        ("pytest tests/a.py", "pytest tests/b.py", 0, 0.5),
        ("pytest", "pytest tests/b.py", 0.5, 0.8),
        ("git commit -m a", "git push", 0, 0),
        ("npm run build", "npm run lint", 0, 0),
        ("python app.py", "python3 app.py", 0.9, 1),
        ("python -c 'import a'", "python -c 'import a'", 0.9, 1),
        ("python -c 'import a'", "python -c 'import b'", 0, 0.5),
        ("airlift dags test nightly 2026-11-15", "airlift connections add shop --login me", 0, 0.5),
        ("airlift run -s orders", "airlift debug", 0, 0.5),
        ("airlift run", "airlift debug", 0, 0.5),
        ("airlift dag test nightly", "airlift dags test nightly", 0.9, 1),
        ("airlift deply", "airlift deploy", 0.9, 1),
        ("airlift run", "airlift run -s orders", 0.9, 1),
    ],
)
def test_which_commands_do_the_same(failed: str, other: str, least: float, most: float) -> None:
    """Another file under test is another job; all of them, or the same elsewhere, is the same."""
    (tried,), (ran,) = commands.acting_parts(failed), commands.acting_parts(other)
    assert least <= commands.same_job(tried, ran) <= most


@pytest.mark.parametrize(
    ("command", "writes"),
    [
        ("echo port=1 > app.toml", True),
        ("cat >> .env <<'E'\nA=1\nE", True),
        ("printf x | tee -a notes.txt", True),
        ("echo 'a > b'", False),
        ("cat a.txt 2>&1 > /dev/null", False),
        ("cat a 2>err.txt", False),
        ("pytest > out.txt", False),
    ],
)
def test_what_writes_a_file(command: str, writes: bool) -> None:
    """A redirection into a file is a change; what a check leaves in a file is none."""
    assert commands.writes(command) is writes


def test_a_command_in_short() -> None:
    """What is shown of a command line leaves out where it ran and the pager."""
    assert commands.bare_line("cd /srv/a && make  test 2>&1 | tail -5") == "make test"
    assert commands.bare_line("python - <<'E'\nprint(1)\nE") == "python - <<E"


def test_a_host_is_no_help() -> None:
    """`-h` at the end asks for help; with a value it names a host."""
    assert commands.job_of("psql -h") == ""
    assert commands.job_of("psql -h db") == "psql"


@pytest.mark.parametrize(
    ("command", "is_quiet"),
    [
        ("git config --global http.postBuffer 524288000", False),
        ("git config --global --add safe.directory /src", False),
        ("git config user.email a@b.example", False),
        ("git config set pull.rebase true", False),
        ("git config user.email", True),
        ("git config --get user.email", True),
        ("git config get user.email", True),
        ("git config --list --show-origin", True),
        ("git config -f .gitmodules submodule.lib.url", True),
    ],
)
def test_a_setting_is_looked_at_or_given(command: str, is_quiet: bool) -> None:
    """By whether a value stands there."""
    assert all(part.is_quiet == is_quiet for part in commands.parts(command))
