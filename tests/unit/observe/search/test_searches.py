"""Which searches stand in a tool call, however its line is written."""

from __future__ import annotations

from typing import Any

import pytest

from vector_memory.observe.search.searches import Search, searches


def found(line: str) -> list[Search]:
    looked = searches("Bash", {"command": line})
    return list(looked.searches) if looked else []


def told(line: str) -> list[tuple[Any, ...]]:
    """Return of each search what it looks for and where."""
    return [(one.program, one.patterns or one.names, one.paths, one.folder) for one in found(line)]


LINES: list[tuple[str, tuple[Any, ...]]] = [
    ('grep -rn "parse_line" src', ("grep", ("parse_line",), ("src",), "")),
    ("grep -rn parse_line", ("grep", ("parse_line",), (), "")),
    ("grep -n 'a b' x.py y.py", ("grep", ("a b",), ("x.py", "y.py"), "")),
    (r"grep -rn 'foo\|bar_baz' --include='*.py' .", ("grep", (r"foo\|bar_baz",), (".",), "")),
    ("grep -r --include '*.ts' load_x .", ("grep", ("load_x",), (".",), "")),
    ("grep -e'one_a' -e two_b -rn .", ("grep", ("one_a", "two_b"), (".",), "")),
    ("grep -rne three_c .", ("grep", ("three_c",), (".",), "")),
    ("grep --regexp=four_d -r .", ("grep", ("four_d",), (".",), "")),
    ("grep -A3 -B 3 -m1 five_e x.py", ("grep", ("five_e",), ("x.py",), "")),
    ("grep -5 six_f x.py", ("grep", ("six_f",), ("x.py",), "")),
    ("grep -rn -- --no-verify scripts", ("grep", ("--no-verify",), ("scripts",), "")),
    ("grep -rn seven_g src/*.py", ("grep", ("seven_g",), ("src",), "")),
    ("grep -n seven_h *.py ../other/*/x.py", ("grep", ("seven_h",), ("../other",), "")),
    ("egrep -rn '(get|set)_user' src", ("egrep", ("(get|set)_user",), ("src",), "")),
    ("fgrep -R 'a.b(c)' .", ("fgrep", ("a.b(c)",), (".",), "")),
    ("zgrep -n rotated_log /var/log/x.gz", ("zgrep", ("rotated_log",), ("/var/log/x.gz",), "")),
    ("/usr/bin/grep -r full_path .", ("grep", ("full_path",), (".",), "")),
    ("cd lib && rg -tpy 'def parse' core", ("rg", ("def parse",), ("core",), "lib")),
    ("cd a && cd b; grep -r in_b .", ("grep", ("in_b",), (".",), "a/b")),
    ("(cd sub && rg deep_one)", ("rg", ("deep_one",), (), "sub")),
    ("rg -n -g '*.ts' -g '!dist' -e one_a src test", ("rg", ("one_a",), ("src", "test"), "")),
    ("rg --type rust --glob=*.rs open_store", ("rg", ("open_store",), (), "")),
    ("rg -L followed_link .", ("rg", ("followed_link",), (".",), "")),
    ("rg -C2 -r new old_name src", ("rg", ("old_name",), ("src",), "")),
    ("rg --files -g '*facade*'", ("rg", ("*facade*",), (), "")),
    ("rg --files | rg facade", ("rg", ("facade",), (), "")),
    ("ag -G '\\.py$' some_name lib", ("ag", ("some_name",), ("lib",), "")),
    ("ag -g facade", ("ag", ("facade",), (), "")),
    ("ack --python load_y lib", ("ack", ("load_y",), ("lib",), "")),
    ("git grep -n load_config", ("git grep", ("load_config",), (), "")),
    ("git -C sub grep -n load_it -- '*.py'", ("git grep", ("load_it",), (), "sub")),
    ("git -c a.b=c --no-pager grep -e x_y", ("git grep", ("x_y",), (), "")),
    ("git ls-files '*auth*'", ("git ls-files", ("*auth*",), (), "")),
    ("git ls-files | grep -i observer", ("grep", ("observer",), (), "")),
    ("find . -name '*auth*.py'", ("find", ("*auth*.py",), (".",), "")),
    ("find src lib -type f -iname 'x*' -o -path '*/y/*'", ("find", ("x*", "*/y/*"), ("src", "lib"), "")),
    ("find . -name node_modules -prune -o -name 'a*.ts' -print", ("find", ("a*.ts",), (".",), "")),
    ("find . -not -name 'b*' -name 'c*'", ("find", ("c*",), (".",), "")),
    ("find . -regex '.*/facade.*'", ("find", (".*/facade.*",), (".",), "")),
    ("find . -type f | grep renderer", ("grep", ("renderer",), (), "")),
    ("fd -e py recall lib", ("fd", ("recall",), ("lib",), "")),
    ("fdfind -g '*.lock' .", ("fdfind", ("*.lock",), (".",), "")),
    ("ls src/*.py", ("ls", ("src/*.py",), (), "")),
    ("ls -la tests/test_fac*", ("ls", ("tests/test_fac*",), (), "")),
    ("cat src/x.py | grep -n handler_name", ("grep", ("handler_name",), ("src/x.py",), "")),
    ("sed -n 1,90p a/b.py | grep inner", ("grep", ("inner",), ("a/b.py",), "")),
    ("grep pattern_x < notes.txt", ("grep", ("pattern_x",), ("notes.txt",), "")),
    ("git diff --name-only | xargs grep -n some_x", ("grep", ("some_x",), (), "")),
    ('for f in src/*.py; do grep -n "load_x" "$f"; done', ("grep", ("load_x",), ("src",), "")),
    ("bash -c 'grep -rn \"inner_name\" src'", ("grep", ("inner_name",), ("src",), "")),
    ("sudo timeout 5 grep -r needle_a /etc", ("grep", ("needle_a",), ("/etc",), "")),
    ("LC_ALL=C grep -r local_c .", ("grep", ("local_c",), (".",), "")),
    ('grep -rn "it\'s \\"quoted\\"" .', ("grep", ('it\'s "quoted"',), (".",), "")),
    ("grep -rn 'don'\\''t' .", ("grep", ("don't",), (".",), "")),
    ("grep -rn $'tab\\there' .", ("grep", ("tab\there",), (".",), "")),
    ("grep -rn \\\n  over_lines \\\n  src", ("grep", ("over_lines",), ("src",), "")),
    ("echo start; grep -r after_it . || true", ("grep", ("after_it",), (".",), "")),
    ('X=in_line; grep -rn "$X" src', ("grep", ("in_line",), ("src",), "")),
    ('X=in_line && rg "${X}_id"', ("rg", ("in_line_id",), (), "")),
    ("x=$(grep -rl in_subst src)", ("grep", ("in_subst",), ("src",), "")),
]  # fmt: skip


@pytest.mark.parametrize(("line", "wanted"), LINES)
def test_a_search_is_read(line: str, wanted: tuple[Any, ...]) -> None:
    """With its pattern, its places and its files, whatever stands around it."""
    assert told(line) == [wanted]


@pytest.mark.parametrize(
    "line",
    [
        "ps aux | grep python", "npm test 2>&1 | grep FAIL", "git log --oneline | grep fix_it",
        "git show HEAD:x.py | grep name_a", "make | tee log | grep error_x", "env | grep PATH_A",
        "if grep -q foo_bar x.txt; then echo x; fi", "grep -rv foo_bar .", "grep -L foo_bar *.py",
        "grep foo_bar", "grep", "rg", "rg --version", "grep -f patterns.txt x.py", 'grep -rn "$NAME" src', 'X=$(cat x); grep "$X" src',
        "grep -rn $(cat name) src", "grep x_y <<< \"$text\"", "ls", "ls -la src", "ls | grep -v x",
        "find .", "find . -type f -mtime -1", "find . -name '*.pyc' -delete",
        "find . -name '*.pyc' -exec rm {} +", "find . -name '*.orig' | xargs rm -f",
        "find . -name 'a*' -exec sh -c 'rm $1' _ {} \\;", "fd -x rm '{}' old_file", "fd -e py",
        "find . -name node_modules -prune", "git status", "git grep", "echo grep -r x_y .",
        "cat <<'E'\ngrep -r x_y .\nE", "pgrep some_name", "", "&& ||",
    ],
)  # fmt: skip
def test_what_is_no_search_is_none(line: str) -> None:
    """A filter, a condition, what deletes, what cannot be known."""
    assert searches("Bash", {"command": line}) is None


def test_several_searches_of_one_line() -> None:
    """Each is read, with its own places: of files that one lists for another, what they are called is one."""
    line = "find doc -name 'redact*.py' -not -path './x/*' -exec grep -n 'clean_it(' {} \\; && rg b_c lib"
    clean_it, b_c = ("grep", ("clean_it(",), ("doc",), ""), ("rg", ("b_c",), ("lib",), "")
    assert told(line) == [clean_it, b_c]
    assert told("rg b_c lib; find doc -name 'r*.py' | xargs grep 'clean_it('") == [b_c, clean_it]
    assert told("find . -name 'ab*.py'; git ls-files | xargs rg b_c lib") == [
        ("find", ("ab*.py",), (".",), ""),
        b_c,
    ]


@pytest.mark.parametrize(
    ("line", "alone"),
    [
        ("grep -rn x_y .", True),
        ("cd src && grep -rn x_y . 2>/dev/null | sort | head -20", True),
        ("grep -rn x_y . | grep -v test", True),
        ("grep -rn x_y . > out.txt", False),
        ("grep -rn x_y . &> out.txt", False),
        ("grep -rn x_y . | tee out.txt", False),
        ("grep -rln x_y . | xargs sed -i s/x/y/", False),
        ("grep -rn x_y . && make", False),
        ("make; grep -rn x_y .", False),
        ("grep -rn x_y . | tail -f", False),
        ("rm -rf a; find . -name 'b_c*'", False),
        ("grep -rn x_y $(git ls-files)", False),
    ],
)
def test_whether_a_line_does_nothing_else(line: str, alone: bool) -> None:
    """What cuts or sorts a search's output belongs to it; what writes or runs something does not."""
    looked = searches("Bash", {"command": line})
    assert looked is not None
    assert looked.alone is alone


def test_the_clients_own_tools() -> None:
    """Grep looks into files, Glob at their names."""
    grep = searches("Grep", {"pattern": "a_b", "path": "src", "glob": "*.py", "type": "py"})
    assert grep is not None
    assert grep.searches == (Search("Grep", ("a_b",), paths=("src",)),)
    glob = searches("Glob", {"pattern": "**/x_*.py"})
    assert glob is not None
    assert glob.searches == (Search("Glob", names=("**/x_*.py",)),)


@pytest.mark.parametrize(
    ("tool", "given"),
    [("Grep", {}), ("Grep", {"pattern": 7}), ("Glob", {"pattern": ""}), ("Bash", {"command": ["grep"]}),
     ("Bash", {}), ("Read", {"file_path": "x"}), ("Edit", {"command": "grep -r x_y ."})],
)  # fmt: skip
def test_other_calls_and_broken_ones_are_none(tool: str, given: dict[str, Any]) -> None:
    """Whatever is in them."""
    assert searches(tool, given) is None
