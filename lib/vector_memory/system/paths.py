"""Where everything lives. Standard library only; nothing is created on import."""

import os
import stat

from vector_memory.errors import BadInputError
from vector_memory.system import private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HOME_VARIABLE = "VECTOR_MEMORY_HOME"
PACKAGE_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


COMMAND_LINE = (
    "-I", "-X", "utf8", "-c",
    "import sys; sys.path.insert(0, sys.argv.pop(1)); sys.argv[0] = 'vector-memory'\n"
    "from vector_memory.cli.main import main\nsys.exit(main())",
    os.path.dirname(PACKAGE_ROOT),
)  # fmt: skip
"""What makes a Python of the runtime our command line; its words follow."""


def client_folders() -> "dict[str, str]":
    """Return where Claude Code, Codex and the Gemini CLI keep their things, as this environment says."""
    user, environ = os.path.expanduser("~"), os.environ
    return {
        "claude_dir": environ.get("CLAUDE_CONFIG_DIR") or os.path.join(user, ".claude"),
        "codex_dir": environ.get("CODEX_HOME") or os.path.join(user, ".codex"),
        "gemini_dir": os.path.join(environ.get("GEMINI_CLI_HOME") or user, ".gemini"),
    }


def data_home(environ: "Mapping[str, str] | None" = None) -> str:
    """Return the data home's absolute path: the one place that the contract names.

    `$VECTOR_MEMORY_HOME`, else `$XDG_DATA_HOME/vector-memory`, else
    `~/.local/share/vector-memory`. `setup/home.sh` says the same in sh.

    Raises:
        BadInputError: what is named is no absolute path: it would be wherever a command is run.
    """
    environ = os.environ if environ is None else environ
    user = environ.get("HOME") or os.path.expanduser("~")
    chosen = environ.get(HOME_VARIABLE)
    if chosen and (chosen == "~" or chosen.startswith("~/")):
        chosen = user + chosen[1:]
    elif not chosen:
        base = environ.get("XDG_DATA_HOME") or os.path.join(user, ".local", "share")
        chosen = os.path.join(base, "vector-memory")
    if not os.path.isabs(chosen):
        raise BadInputError("The data home is no absolute path: %s." % chosen, private.ANOTHER_HOME)
    return os.path.abspath(chosen)


def version() -> str:
    """Return this code's version, such as `0.1.0`."""
    with open(os.path.join(PACKAGE_ROOT, "VERSION"), encoding="ascii") as file:
        return file.read().strip()


class Home:
    """The files and folders of one data home. Paths only: `make()` creates the folders."""

    FOLDERS = ("app", "runtime", "models", "global", "snapshots", "spool", "logs", "run")

    def __init__(self, root: "str | None" = None) -> None:
        self.root = os.path.abspath(root) if root else data_home()
        self.config = self.path("config.json")
        self.config_lock = self.path("run", "config.lock")
        """Held from before the settings are read until they are replaced."""
        self.app = self.path("app")
        self.app_current = self.path("app", "current")
        self.shim = self.path("app", "hook")
        """What hooks in settings run: it stays, also after an `uninstall`."""
        self.snippet = self.path("settings.snippet.json")
        self.cron = self.path("jobs.cron")
        self.runtime = self.path("runtime")
        self.runtime_python = self.path("runtime", "venv", "bin", "python")
        self.hook_python = self.path("runtime", "hook-python")
        self.models = self.path("models")
        self.global_store = self.path("global")
        self.state_db = self.path("state.db")
        self.snapshots = self.path("snapshots")
        self.backups = self.path("backups")
        self.restore_plan = self.path("restore.json")
        self.reserve = self.path("reserve")
        self.failure = self.path("run", "failed.json")
        self.archives = self.path("archives")
        self.audit = self.path("audit")
        self.tokens = self.path("tokens.json")
        self.gateways = self.path("run", "gateways")
        """A file for each gateway that runs, named by its process, with its address."""
        self.team = self.path("team")
        """The store of what other members of teams shared."""
        self.sharing = self.path("sharing")
        self.proofs = self.path("proofs")
        self.keys = self.path("keys")
        self.feeds = self.path("feeds")
        self.spool = self.path("spool")
        self.spool_aside = self.path("spool", "aside")
        self.logs = self.path("logs")
        self.run = self.path("run")
        self.socket = self.path("run", "daemon.sock")
        self.lock = self.path("run", "daemon.lock")
        self.setup_lock = self.path("runtime", ".setup.lock")
        self.pycache = self.path("run", "pycache")
        self.tools = self.path("run", "tools")
        """What hooks of tool calls ask the daemon (`client.tool_calls`)."""
        self.claims = self.path("run", "claims")

    def __repr__(self) -> str:
        return f"Home({self.root!r})"

    def path(self, *parts: str) -> str:
        """Return a path below the data home."""
        return os.path.join(self.root, *parts)

    def snapshot(self, folder: str) -> str:
        """Return where the snapshot of a session's folder is kept."""
        import hashlib

        name = os.path.realpath(folder).encode("utf-8", "surrogateescape")
        return self.path("snapshots", hashlib.sha256(name).hexdigest()[:32] + ".json")

    def make(self) -> "Home":
        """Create the folders, each 0700, and close those that were left open to others. Existing links
        (`runtime/`, `models/`) are kept.

        Raises:
            BadInputError: the data home, or what such a link leads to, belongs to another user.
        """
        private.make_folder(self.root)
        private.require_own(self.root)
        if not self.is_shared_place():
            private.close_folder(self.root)
        for name in self.FOLDERS:
            private.make_folder(self.path(name))
            private.require_own(self.path(name))
            if not os.path.islink(self.path(name)):
                private.close_folder(self.path(name))
        return self

    def require_closed(self) -> None:
        """Make sure that nobody else can put something in the place of what a daemon serves.

        Raises:
            BadInputError: somebody could.
        """
        if loose := private.world_writable_above(self.root):
            raise BadInputError(
                "Anybody can put another folder in the place of those in %s." % loose,
                "Set its sticky bit (chmod +t %s), or choose another data home." % loose,
            )
        private.require_closed(self.run)

    def is_shared_place(self) -> bool:
        """Whether somebody made their home folder, or one like /tmp, the data home: its rights are not
        ours to change."""
        root = os.path.realpath(self.root)
        sticky = os.stat(root).st_mode & stat.S_ISVTX
        return bool(sticky) or root == os.path.realpath(os.path.expanduser("~"))
