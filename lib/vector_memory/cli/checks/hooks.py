"""The hooks as the client's settings wire them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vector_memory.cli.checks import Case, CheckResult, fail, ok, warn
from vector_memory.setup import wiring

WIRE = "Install the plugin, or put settings.snippet.json of the data home into the settings."


def check(case: Case) -> Iterator[CheckResult]:
    """Yield how the hooks are wired: by the plugin, by settings, by both or not at all."""
    plugin, snippet = [], []
    for path in wiring.settings_files(os.getcwd()):
        try:
            settings = wiring.load(path)
        except ValueError as error:
            yield fail(f"{path} is no JSON: {error}.", "Mend it.")
            continue
        plugin += [path] if wiring.plugins(settings) else []
        snippet += [path] if wiring.wires_hooks(settings, case.home.root) else []
        if settings.get("disableAllHooks") is True:
            fix = "Take disableAllHooks out."
            yield fail(f"{path} switches all hooks off.", fix)
    yield _wired(plugin, snippet)


def _wired(plugin: list[str], snippet: list[str]) -> CheckResult:
    if plugin and snippet:
        fix = "Each event is answered once all the same; one of the two is enough."
        return ok(f"Wired twice: plugin and {snippet[0]}", fix)
    if plugin:
        return ok(f"The plugin is enabled in {plugin[0]}")
    if snippet:
        return ok(f"Wired in {snippet[0]}")
    return warn("No settings wire the hooks (--plugin-dir leaves no trace).", WIRE)
