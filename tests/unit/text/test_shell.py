"""A command line, read as a shell would read it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vector_memory.text.shell import MOST_COMMANDS, MOST_FILLED, MOST_PLACES, Command, parse


def words(command: str) -> list[list[str]]:
    return [[word.text for word in one.words] for one in parse(command)]


@pytest.mark.parametrize(
    ("command", "read"),
    [
        ("grep foo", [["grep", "foo"]]),
        (r"grep 'a b' c\ d \"e\"", [["grep", "a b", "c d", '"e"']]),
        (r"""rg "foo\|bar" -e "q\"x" 'it'"'"'s'""", [["rg", r"foo\|bar", "-e", 'q"x', "it's"]]),
        ("grep $'a\\tb'", [["grep", "a\tb"]]),
        ("grep $'a\\;b'", [["grep", "a\\;b"]]),
        ("grep $'a\\541\\8'", [["grep", "aa\\8"]]),
        ("ls src/{a,b}/*.py", [["ls", "src/{a,b}/*.py"]]),
        ("grep a\\\n  b", [["grep", "a", "b"]]),
        ("FOO=1 BAR='x y' make test", [["make", "test"]]),
        ("a; b & c || d && ! e", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("if a; then b; fi; for x in y; do c; done; while d; do e; done", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("f() { rm x; }; { a; }; (b)", [["rm", "x"], ["f"]][:1] + [["a"], ["b"]]),
        ("[ -f x ] && rm x", [["rm", "x"]]),
        ("git log | head -5", [["git", "log"], ["head", "-5"]]),
        ("grep 'never closed", [["grep"]]),
        ("", []),
        ("# a comment", []),
    ],
)  # fmt: skip
def test_words_are_what_the_program_is_given(command: str, read: list[list[str]]) -> None:
    """Quotes, escapes, assignments and keywords are the shell's."""
    assert words(command) == read


@pytest.mark.parametrize(
    ("command", "inner", "via"),
    [
        ("sudo -u bob rm -rf x", ["rm", "-rf", "x"], ("sudo",)),
        ("env -i A=1 npm test", ["npm", "test"], ("env",)),
        ("timeout -k 1 5 grep x y", ["grep", "x", "y"], ("timeout",)),
        ("nice -n 5 nohup make", ["make"], ("nice", "nohup")),
        ("find . -print0 | xargs -0 -n 1 grep foo", ["grep", "foo"], ("xargs",)),
        (r"find . -name '*.o' -exec rm {} \;", ["rm", "{}"], ("find",)),
        ("fd -e py -x git push -f origin", ["git", "push", "-f", "origin"], ("find",)),
        ("bash -lc 'cd x && rm y'", ["rm", "y"], ("bash",)),
        ("ssh -p 22 host 'rm -rf /x'", ["rm", "-rf", "/x"], ("ssh", "sh")),
        ("eval \"rm x\"", ["rm", "x"], ("eval",)),
        ("echo $(git log | grep foo)", ["grep", "foo"], ("$()",)),
        ("diff <(sort a) b", ["sort", "a"], ("$()",)),
        ("echo \"now $(rm x)\"", ["rm", "x"], ("$()",)),
        ("bash <<'E'\nrm x\nE", ["rm", "x"], ("bash",)),
        ("cat <<E | sh -c 'rm y'\nhi\nE", ["rm", "y"], ("sh",)),
        ("sudo xargs -I{} sh -c 'rm {}'", ["rm", "{}"], ("sudo", "xargs", "sh")),
    ],
)  # fmt: skip
def test_what_is_run_by_another_program_is_found(
    command: str, inner: list[str], via: tuple[str, ...]
) -> None:
    """Programs that only run others are looked through."""
    last = parse(command)[-1]
    assert ([word.text for word in last.words], last.via) == (inner, via)


def test_text_is_not_run() -> None:
    """What is written to a file, printed or commented is no command."""
    for command in ("cat <<E > x.sh\nrm -rf /\nE", "echo 'rm -rf /'", "git commit -m 'rm -rf /'"):
        assert all(one.name != "rm" for one in parse(command))
    assert parse("cat <<E > x.sh\nrm -rf /\nE")[0].given == "rm -rf /\n"


def test_the_folder_follows_cd() -> None:
    """Up to the end of a subshell, and not where the shell must put something in."""
    found = {one.name: one.folder for one in parse("a; cd x && b; (cd ../y; c); d; cd $HOME; e")}
    assert (found["a"], found["b"], found["c"], found["d"], found["e"]) == ("", "x", "y", "x", "x")
    assert parse("cd /tmp && bash -c 'cd sub; make'")[-1].folder == "/tmp/sub"


def test_pipes_and_redirections_stand_with_their_command() -> None:
    """Whatever else is in the line."""
    first, second = parse("cat a | tee b >> c 2>/dev/null")
    assert (first.piped, second.piped) == (False, True)
    assert [(one.sign, one.target.text) for one in second.redirects] == [
        (">>", "c"),
        ("2>", "/dev/null"),
    ]
    assert parse("a && echo $(b) > out")[1].redirects[0].target.text == "out"
    assert parse("> empty.txt")[0].redirects[0].target.text == "empty.txt"
    assert parse("psql <<< 'drop table x'")[0].given == "drop table x"


def test_what_the_shell_puts_in_is_marked() -> None:
    """Nothing is expanded."""
    _, variable, pattern, quoted = parse("rm $HOME/x *.py '*.py'")[0].words
    assert (variable.text, variable.plain) == ("$HOME/x", False)
    assert (pattern.glob, quoted.glob) == (True, False)


@pytest.mark.parametrize(
    "command",
    ["(" * 20_000, "$(" * 20_000, '"$(' * 9_000, "a;" * 30_000, "bash -c " * 500, "<<A " * 2_000,
     "\ud800 rm x", "\0", "a" * 200_000],
)  # fmt: skip
def test_no_line_is_too_much(command: str) -> None:
    """Deep, long and broken lines end in good time with what could be read."""
    assert len(parse(command)) <= MOST_COMMANDS + 1


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="ab \t\n'\"\\$(){}[]|&;<>!#*?=-/`~x", max_size=60))
def test_anything_can_be_read(command: str) -> None:
    """Whatever it is, every command found has a program."""
    for one in parse(command):
        assert isinstance(one, Command)
        assert one.words


@pytest.mark.parametrize("sign", ["\U00074ad8", "\U0001f680", "\u00e9", "\ufffd"])
def test_no_character_ends_the_process(sign: str) -> None:
    """The grammar's scanner knows ASCII alone; what is given on is what stands in the line."""
    for n in range(60):
        line = f"> {sign}[\x07 {{{sign}5 sudo rm {sign}{n} >\x1f{sign} -c ssh"
        parse(line)
    (command,) = parse(f"grep '{sign} {sign}' {sign}.txt")
    assert [one.text for one in command.words] == ["grep", f"{sign} {sign}", f"{sign}.txt"]


@pytest.mark.parametrize(
    ("command", "lost"),
    [
        ("a && b", [False, False]),
        ("a; b | c", [True, True, False]),
        ("a || b", [True, False]),
        ("(a; b) | c", [True, True, False]),
        ("bash -c 'a; b'", [True, False]),
        ("x=$(a) && b", [True, False]),
    ],
)
def test_whose_exit_code_is_lost(command: str, lost: list[bool]) -> None:
    """Only the last command tells how a line ended, and what stands before `&&`."""
    assert [one.is_lost for one in parse(command)] == lost


def test_of_thousands_of_words_parallel_is_given_the_first() -> None:
    """Each place is as long as all of them together: they would be multiplied."""
    given = " ".join(f"f{number}" for number in range(3_000))
    command = parse(f"parallel rm {'{} ' * 300} {'{}' * 300} ::: {given}")[0]
    filled = [word.text for word in command.arguments if word.text.startswith("{f0,")]
    assert len(filled) == MOST_PLACES
    assert [word.count(",") + 1 for word in filled] == [MOST_FILLED] * MOST_PLACES
    assert len(parse(f"parallel rm {'{}' * 300} ::: {given}")[0].arguments[0].text) < 4_000
    assert parse("parallel mv {} {}.old ::: a b")[0].arguments[1].text == "{a,b}.old"
