"""The hooks as the client's settings wire them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from vector_memory.cli import output
from vector_memory.cli.checks import Case, CheckResult, fail, ok, warn
from vector_memory.setup import wiring
from vector_memory.setup.snippet import load
from vector_memory.system.paths import PACKAGE_ROOT

WIRE = "Install the plugin, or put settings.snippet.json of the data home into the settings."

SNIPPET = "settings.snippet.json of the data home (./bootstrap.sh in the plugin's folder writes it)"
REPLACE = f"These hooks do nothing: put those of {SNIPPET} in their place, or take them out."
ADD = f"Take them over from {SNIPPET}."


def check(case: Case) -> Iterator[CheckResult]:
    """Yield how the hooks are wired: by the plugin, by settings, by both or not at all."""
    plugin, snippet, wired, is_whole = [], [], set[str](), True
    for path in wiring.settings_files(os.getcwd()):
        try:
            settings = wiring.load(path)
        except ValueError as error:
            yield fail(f"{path} is no JSON: {error}.", "Mend it.")
            continue
        plugin += [path] if wiring.plugins(settings) else []
        snippet += [path] if wiring.wires_hooks(settings, case.home.root) else []
        wired.update(wiring.wired_events(settings, case.home.root))
        for program in wiring.missing_programs(settings, case.home.root):
            is_whole = False
            yield warn(f"{path} runs {output.one_line(program)}, which is not there.", REPLACE)
        if settings.get("disableAllHooks") is True:
            fix = "Take disableAllHooks out."
            yield fail(f"{path} switches all hooks off.", fix)
    if plugin or is_whole:
        yield _how_wired(plugin, snippet, wired)


def _how_wired(plugin: list[str], snippet: list[str], wired: set[str]) -> CheckResult:
    if plugin and snippet:
        fix = "Each event is answered once all the same; one of the two is enough."
        return ok(f"Wired twice: plugin and {snippet[0]}", fix)
    if plugin:
        return ok(f"The plugin is enabled in {plugin[0]}")
    every = load(os.path.dirname(os.path.dirname(PACKAGE_ROOT)))
    if snippet and (missing := ", ".join(event for event in every if event not in wired)):
        return warn(f"{snippet[0]} wires some events alone; {missing} are missing.", ADD)
    if snippet:
        return ok(f"Wired in {snippet[0]}")
    return warn("No settings wire the hooks (--plugin-dir leaves no trace).", WIRE)
