"""No data becomes code: nothing in the package unpickles, evaluates, or gives text to a shell."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from vector_memory.system import paths

MODULES = frozenset(
    ["pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib", "jsonpickle",
     "code", "codeop", "telnetlib", "xmlrpc", "imp"]
)  # fmt: skip
NAMES = frozenset(["eval", "exec", "compile", "__import__", "input"])
CALLS = frozenset(
    ["os.system", "os.popen", "tempfile.mktemp", "yaml.load", "yaml.unsafe_load", "yaml.full_load",
     "subprocess.getoutput", "subprocess.getstatusoutput", "asyncio.create_subprocess_shell",
     "numpy.frompyfunc", "pandas.read_pickle", "ctypes.PyDLL", "runpy.run_path", "runpy.run_module"]
)  # fmt: skip
# A line that is typed at a terminal is a text: `input` of Python 3 makes no code of it.
# A completion's `shell` is the name of one, for whom a text is printed: nothing is run.
ALLOWED = frozenset(
    {"cli/review_screens.py: input", "cli/completion.py: get_completion_script(shell)"}
)
"""What is added says in a comment why no data of others can get there."""
LISTENING = frozenset({"AF_INET", "AF_INET6", "create_server", "start_server", "HTTPServer"})
HTTP = "web/"
"""The one part that may listen on a network address, which is loopback's (tests/unit/web)."""


def found_in(source: str) -> Iterator[str]:
    """Yield what makes code of data in a module, as `name:line`."""
    for node in ast.walk(ast.parse(source)):
        line = getattr(node, "lineno", 0)
        for name in _imported(node):
            if name.split(".")[0] in MODULES:
                yield f"{name}:{line}"
        if isinstance(node, ast.Call):
            yield from (f"{name}:{line}" for name in _dangers(node))


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [one.name for one in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


def _dangers(call: ast.Call) -> Iterator[str]:
    name = ast.unparse(call.func)
    given = {word.arg: word.value for word in call.keywords}
    if name in NAMES or name in CALLS:
        yield name
    shell = given.get("shell")
    if shell is not None and not (isinstance(shell, ast.Constant) and shell.value is False):
        yield f"{name}(shell)"
    last = name.rpartition(".")[2]
    if last == "load" and name.startswith("torch") and not _is_true(given.get("weights_only")):
        yield name
    if last in ("load", "memmap") and name.startswith(("np.", "numpy.")):
        allowed = given.get("allow_pickle")
        if allowed is not None and not (
            isinstance(allowed, ast.Constant) and allowed.value is False
        ):
            yield f"{name}(allow_pickle)"
    if "trust_remote_code" in given and _is_true(given["trust_remote_code"]):
        yield f"{name}(trust_remote_code)"


def _is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def sources() -> Iterator[tuple[str, str]]:
    """Yield the package's modules with their source."""
    root = Path(paths.PACKAGE_ROOT)
    for path in sorted(root.rglob("*.py")):
        yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def test_nothing_makes_code_of_data() -> None:
    """In any module of the package."""
    found = {f"{name}: {what}" for name, source in sources() for what in found_in(source)}
    assert {one for one in found if one.rpartition(":")[0] not in ALLOWED} == set()


def test_what_is_looked_for_is_found() -> None:
    """The test above can fail: every kind is seen."""
    bad = """
import pickle
from marshal import loads
eval(x)
os.system("ls")
subprocess.run("ls", shell=True)
subprocess.run("ls", shell=flag)
torch.load(f)
np.load(f, allow_pickle=True)
tempfile.mktemp()
AutoModel.from_pretrained(n, trust_remote_code=True)
yaml.load(f)
"""
    assert {int(one.rpartition(":")[2]) for one in found_in(bad)} == set(range(2, 13))
    fine = "torch.load(f, weights_only=True); subprocess.run(['ls'], shell=False); re.compile('x')"
    assert list(found_in(fine)) == []


def test_nothing_listens_on_a_network_address() -> None:
    """Outside the part for HTTP, which nothing imports by itself."""
    for name, source in sources():
        if name.startswith(HTTP):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        used = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        assert used & LISTENING == set(), name
        imported = {
            one.name for node in nodes if isinstance(node, ast.Import) for one in node.names
        } | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
        assert not any(one.partition(".")[0] == "uvicorn" for one in imported), name
