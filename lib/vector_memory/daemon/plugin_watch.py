"""Whether the client has let its plugin go: then nothing asks any more, and nobody would end the daemon for half
an hour."""

from __future__ import annotations

import json
import os
import time

from vector_memory.system.files import read_text

PLUGIN = "vector-memory@"
MOST_BYTES = 4_000_000
LOOK_S = 10.0


class PluginWatch:
    """Looks at the client's lists of plugins, in each of its configurations that hooks came from."""

    def __init__(self) -> None:
        self._installed: dict[str, bool] = {}
        self._looked = 0.0

    def heard(self, configuration: str) -> None:
        """Note that a hook came from a client with this folder of configuration, "" for the usual one."""
        folder = configuration or os.path.expanduser("~/.claude")
        if folder not in self._installed:
            self._installed[folder] = is_installed(folder)

    def is_gone(self) -> bool:
        """Whether the plugin was installed in a configuration, and is in none any more. Hooks that are wired by
        hand, or for one session, are no plugin that could go."""
        if not any(self._installed.values()) or time.monotonic() - self._looked < LOOK_S:
            return False
        self._looked = time.monotonic()
        return not any(is_installed(folder) for folder in self._installed)


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
