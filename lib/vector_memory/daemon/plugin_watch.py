"""Whether the plugin was uninstalled from the client: then no hook asks any more, and an idle daemon would stay for
half an hour."""

from __future__ import annotations

import json
import os
import time

from vector_memory.system.files import read_text

PLUGIN = "vector-memory@"
MOST_BYTES = 4_000_000
LOOK_S = 10.0


class PluginWatch:
    """Looks at the client's lists of plugins, in the configuration that the daemon was started under and in each that
    hooks came from."""

    def __init__(self) -> None:
        self._folders: set[str] = set()
        self._was_installed = False
        self._looked = 0.0
        self.note_client(os.environ.get("CLAUDE_CONFIG_DIR", ""))

    def note_client(self, configuration: str) -> None:
        """Note that there is a client with this folder of configuration, "" for the usual one."""
        folder = configuration or os.path.expanduser("~/.claude")
        if folder not in self._folders:
            self._folders.add(folder)
            self._was_installed |= is_installed(folder)

    def is_gone(self) -> bool:
        """Whether the plugin was installed in a configuration, and is in none any more. Hooks that are wired by
        hand, or for one session, are no plugin that could go."""
        if time.monotonic() - self._looked < LOOK_S:
            return False
        self._looked = time.monotonic()
        is_there = any(map(is_installed, tuple(self._folders)))
        # It may have come since the daemon began, which a command may have started.
        self._was_installed |= is_there
        return self._was_installed and not is_there


def is_installed(configuration: str) -> bool:
    """Whether a client's list of plugins has this one; False without such a list."""
    path = os.path.join(configuration, "plugins", "installed_plugins.json")
    try:
        plugins = json.loads(read_text(path, MOST_BYTES)).get("plugins")
    except FileNotFoundError:
        return False
    except (OSError, ValueError, AttributeError):
        # It is just being written, or of another form: that says nothing of the plugin.
        return True
    return isinstance(plugins, dict) and any(name.startswith(PLUGIN) for name in plugins)
