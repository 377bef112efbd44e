"""Installing the optional backend, with a script in uv's place: the real packages take a gigabyte."""

from __future__ import annotations

from pathlib import Path

import pytest

from vector_memory.embed.install import install_backend
from vector_memory.errors import SetupError

UV = """#!/bin/sh
here=$(dirname "$0")
case "$2" in
freeze) cat "$here/frozen" ;;
install)
    echo "$UV_FIND_LINKS|$*" >> "$here/calls"
    while [ "$1" != --constraints ]; do shift; done
    cp "$2" "$here/constraints"
    case "$*" in *"$(cat "$here/refused")"*) echo "no such package" >&2; exit 1 ;; esac
    cat "$here/brings" >> "$here/frozen"
esac
"""


@pytest.fixture
def uv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script that notes how it was called and pretends to install what `brings` says."""
    monkeypatch.setenv("PIP_FIND_LINKS", "/wheels")
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    script = tmp_path / "uv"
    script.write_text(UV)
    script.chmod(0o755)
    (tmp_path / "frozen").write_text("numpy==2.4.6\nlocal @ file:///wheel\n")
    (tmp_path / "brings").write_text("torch==2.13.0+cpu\nsentence-transformers==6.2.0\n")
    (tmp_path / "refused").write_text("nothing is refused")
    return script


def _install(uv: Path) -> tuple[str, ...]:
    return install_backend("sentence-transformers", "/runtime/python", str(uv))


def test_find_links_are_used_where_they_are_configured(uv: Path) -> None:
    """The CPU build is taken from there, and what is installed keeps its version."""
    assert _install(uv) == ("sentence-transformers==6.2.0", "torch==2.13.0+cpu")
    (call,) = (uv.parent / "calls").read_text().splitlines()
    assert call.startswith("/wheels|pip install --python /runtime/python ")
    assert "torch==2.13.0+cpu" in call
    assert (uv.parent / "constraints").read_text() == "numpy==2.4.6"


def test_without_them_torch_comes_from_its_own_cpu_builds(uv: Path) -> None:
    """Where the folder does not have the build, uv is asked for the CPU backend."""
    (uv.parent / "refused").write_text("torch==2.13.0+cpu")
    _install(uv)
    first, second = (uv.parent / "calls").read_text().splitlines()
    assert "torch==2.13.0+cpu" in first
    assert second.startswith("|")
    assert "torch --torch-backend=cpu" in second


def test_a_failure_says_what_uv_said(uv: Path) -> None:
    """When nothing can be installed the error has uv's words and a way on."""
    (uv.parent / "refused").write_text("torch")
    with pytest.raises(SetupError, match="no such package") as caught:
        _install(uv)
    assert "backend install" in caught.value.hint


@pytest.mark.parametrize("package", ["nvidia-cudnn-cu12==9.1", "torch==2.13.0+cu128"])
def test_a_cuda_build_is_never_accepted(uv: Path, package: str) -> None:
    """If one came in all the same, that is an error and says so."""
    (uv.parent / "brings").write_text(f"{package}\n")
    with pytest.raises(SetupError, match="CUDA"):
        _install(uv)


def test_a_runtime_that_is_not_there_is_an_expected_error(uv: Path, tmp_path: Path) -> None:
    """Without uv or without a runtime the error says to set up first."""
    with pytest.raises(SetupError, match="bootstrap"):
        install_backend("sentence-transformers", "/runtime/python", str(tmp_path / "absent"))
    (uv.parent / "frozen").unlink()
    with pytest.raises(SetupError, match="bootstrap"):
        _install(uv)


def test_find_links_come_from_pips_files_too(
    uv: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the variable, what pip's files say counts; each place once."""
    conf = tmp_path / "pip.conf"
    conf.write_text("[global]\ntimeout = 9\nfind-links =\n    /a\n    /b\n    /a\n")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(conf))
    _install(uv)
    (call,) = (uv.parent / "calls").read_text().splitlines()
    assert call.startswith("/a,/b|pip install ")
