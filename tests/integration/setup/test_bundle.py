"""The plugin's files: they fit together, and the real client accepts them."""

from __future__ import annotations

import json
import os
import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import pytest
from e2e.harness import bundle
from e2e.harness.client import QUIET, binary

ROOT = bundle.ROOT


def load(*parts: str) -> Any:
    """Return a JSON file of the bundle."""
    return json.loads(ROOT.joinpath(*parts).read_text(encoding="utf-8"))


def script(name: str) -> dict[str, Any]:
    """Return what a script of `scripts/` defines."""
    return runpy.run_path(str(ROOT / "scripts" / f"{name}.py"))


def wired() -> list[tuple[str, dict[str, Any]]]:
    """Return each event of hooks.json with its one hook."""
    found = []
    for event, groups in load("hooks", "hooks.json")["hooks"].items():
        (group,) = groups
        (hook,) = group["hooks"]
        found.append((event, hook))
    return found


def test_the_version_stands_in_one_place() -> None:
    """The manifest and the library name the same version."""
    version = (ROOT / "lib" / "vector_memory" / "VERSION").read_text(encoding="ascii").strip()
    assert load(".claude-plugin", "plugin.json")["version"] == version


def test_the_root_manifest_is_a_link() -> None:
    """The real manifest is the one that the client reads."""
    assert os.readlink(ROOT / "plugin.json") == ".claude-plugin/plugin.json"


def test_the_market_offers_this_plugin() -> None:
    """The local marketplace lists the plugin by its name."""
    (entry,) = load(".claude-plugin", "marketplace.json")["plugins"]
    assert (entry["name"], entry["source"]) == (load("plugin.json")["name"], "./")


@pytest.mark.parametrize(("event", "hook"), wired())
def test_each_wired_event_has_its_entry(event: str, hook: dict[str, Any]) -> None:
    """A hook needs no quoting, asks first whether its program is there, and names a file made for its event."""
    *asks, program, stem = hook["args"]
    assert asks == ["-c", '[ ! -r "$0" ] || . "$0"']
    assert (hook["type"], hook["command"]) == ("command", "sh")
    assert program == "${CLAUDE_PLUGIN_ROOT}/hooks/run"
    assert "".join(word.capitalize() for word in stem.split("_")) == event
    assert event in (ROOT / "hooks" / f"{stem}.py").read_text(encoding="utf-8")


def test_no_entry_is_left_unwired() -> None:
    """Every file made for an event is wired."""
    stems = {hook["args"][-1] for _, hook in wired()}
    assert {path.stem for path in (ROOT / "hooks").glob("*.py")} == stems


def test_the_snippet_is_the_generators() -> None:
    """settings.snippet.json is made from hooks.json; `just generate` writes it anew."""
    made = script("make_snippet")["make"]()
    assert (ROOT / "settings.snippet.json").read_text(encoding="utf-8") == made


def test_the_icon_is_the_scripts() -> None:
    """The icon is made by its script; `just generate` writes it anew."""
    assert (ROOT / ".claude-plugin" / "icon.png").read_bytes() == script("make_icon")["png"]()


@pytest.mark.parametrize("path", sorted((ROOT / "requirements").iterdir()), ids=lambda p: p.name)
def test_requirements_name_no_address_and_no_path(path: Path) -> None:
    """What is pinned can come from any index, and tells nothing of the machine it was made on."""
    assert not re.search(r"://|(?<![\w.])/\w", path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["runtime", "convert", "dev", "model", "uv"])
def test_every_requirement_has_hashes(name: str) -> None:
    """No package is installed that was not pinned byte for byte."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=[a-z])", re.sub(r"(?m)^ *#.*\n?", "", text).strip())
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9._-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


def test_torch_is_not_pinned() -> None:
    """Its default build brings several gigabytes, so no requirements file names it."""
    for path in (ROOT / "requirements").glob("*.txt"):
        assert not re.search(r"^(torch|nvidia)", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_client_finds_nothing_to_report(tmp_path: Path, scratch_home: Path) -> None:
    """The real client validates the plugin, as for its directory, with warnings as errors."""
    plugin = bundle.copy(tmp_path / "vector memory")
    done = subprocess.run(
        [binary(), "plugin", "validate", "--profile", "directory", "--strict", str(plugin)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**QUIET, "HOME": str(scratch_home), "CLAUDE_CONFIG_DIR": str(scratch_home / "c")},
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "These checks found nothing to report" in done.stdout
    assert "⚠" not in done.stdout
