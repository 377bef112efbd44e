"""pip's configuration, as uv is told it."""

from __future__ import annotations

from pathlib import Path

import pytest

from vector_memory.system import pip_config

INDEX = "https://packages.example/simple"


def home_with(tmp_path: Path, conf: str) -> dict[str, str]:
    """Return an environment whose home has this pip.conf."""
    folder = tmp_path / ".config" / "pip"
    folder.mkdir(parents=True)
    (folder / "pip.conf").write_text(conf, encoding="utf-8")
    return {"HOME": str(tmp_path), "XDG_CONFIG_DIRS": str(tmp_path / "none")}


def test_a_files_index_reaches_uv(tmp_path: Path) -> None:
    """An index that stands in pip.conf alone becomes uv's default index."""
    environ = home_with(tmp_path, f"[global]\nindex-url = {INDEX}\n")
    assert pip_config.uv_environ(environ)["UV_DEFAULT_INDEX"] == INDEX


def test_the_environment_counts_more_than_files(tmp_path: Path) -> None:
    """PIP_INDEX_URL wins over pip.conf, as it does for pip."""
    environ = home_with(tmp_path, "[global]\nindex-url = https://other.example/simple\n")
    environ["PIP_INDEX_URL"] = INDEX
    assert pip_config.uv_environ(environ)["UV_DEFAULT_INDEX"] == INDEX


def test_the_install_section_counts_more_than_the_global_one(tmp_path: Path) -> None:
    """[install] is narrower than [global]."""
    conf = f"[install]\nindex-url = {INDEX}\n[global]\nindex-url = https://other.example/simple\n"
    assert pip_config.read(home_with(tmp_path, conf))["index-url"] == INDEX


def test_lists_are_written_as_uv_reads_them() -> None:
    """Lists that pip separates by white space get uv's separators, and all indexes are searched."""
    added = pip_config.translate(
        {
            "extra-index-url": "https://a.example/simple\n  https://b.example/simple",
            "find-links": "/one\n/two",
            "trusted-host": "a.example\nb.example",
        }
    )
    assert added == {
        "UV_INDEX": "https://a.example/simple https://b.example/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_FIND_LINKS": "/one,/two",
        "UV_INSECURE_HOST": "a.example b.example",
    }


@pytest.mark.parametrize("value", ["1", "true", "YES"])
def test_no_index_is_understood(value: str) -> None:
    """A machine without any index says so to uv too."""
    assert pip_config.translate({"no-index": value}) == {"UV_NO_INDEX": "1"}


@pytest.mark.parametrize("name", ["UV_DEFAULT_INDEX", "UV_FIND_LINKS", "UV_OFFLINE"])
def test_uvs_own_variables_count_alone(tmp_path: Path, name: str) -> None:
    """Who configured uv is not overruled by what pip was told."""
    environ = home_with(tmp_path, f"[global]\nindex-url = {INDEX}\n")
    assert pip_config.uv_environ({**environ, name: "x"}) == {}


def test_uvs_own_file_counts_alone(tmp_path: Path) -> None:
    """The same for a uv.toml."""
    environ = home_with(tmp_path, f"[global]\nindex-url = {INDEX}\n")
    (tmp_path / ".config" / "uv").mkdir()
    (tmp_path / ".config" / "uv" / "uv.toml").write_text("", encoding="utf-8")
    assert pip_config.uv_environ(environ) == {}


def test_a_variable_that_is_set_stays(tmp_path: Path) -> None:
    """pip's certificate does not replace the one that the environment names."""
    environ = home_with(tmp_path, "[global]\ncert = /from/pip.pem\n")
    environ["SSL_CERT_FILE"] = "/from/environment.pem"
    assert "SSL_CERT_FILE" not in pip_config.uv_environ(environ)
    del environ["SSL_CERT_FILE"]
    assert pip_config.uv_environ(environ)["SSL_CERT_FILE"] == "/from/pip.pem"


@pytest.mark.parametrize(
    "conf", ["index-url = x\n", "[global\nindex-url = x\n", "[global]\nindex-url\n = x"]
)
def test_a_broken_file_is_passed_over(tmp_path: Path, conf: str) -> None:
    """A pip.conf that cannot be read changes nothing."""
    assert "index-url" not in pip_config.read(home_with(tmp_path, conf))


def test_pip_can_be_told_to_read_no_file(tmp_path: Path) -> None:
    """PIP_CONFIG_FILE=/dev/null switches pip's files off."""
    environ = home_with(tmp_path, f"[global]\nindex-url = {INDEX}\n")
    assert pip_config.read({**environ, "PIP_CONFIG_FILE": "/dev/null"}) == {}
