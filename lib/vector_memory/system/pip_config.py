"""Where packages come from, for users who told only pip.

Many machines reach packages through an index that an administrator wrote into pip's configuration.
uv does not read that, so it is translated into uv's variables, unless uv has a configuration of its
own, which then counts alone.
"""

from __future__ import annotations

import configparser
import os
from collections.abc import Mapping

_OPTIONS = (
    "index-url", "extra-index-url", "find-links", "no-index", "cert", "trusted-host", "proxy",
)  # fmt: skip
_UV_SOURCES = (
    "UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX",
    "UV_OFFLINE", "UV_CONFIG_FILE",
)  # fmt: skip


def uv_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what to add to uv's environment so that it finds what pip would find."""
    if any(environ.get(name) for name in _UV_SOURCES) or _has_uv_file(environ):
        return {}
    added = translate(read(environ))
    return {name: value for name, value in added.items() if not environ.get(name)}


def read(environ: Mapping[str, str]) -> dict[str, str]:
    """Return pip's options that say where packages come from, in pip's order of precedence."""
    options: dict[str, str] = {}
    for path in config_files(environ):
        options.update(_read_file(path))
    for option in _OPTIONS:
        value = environ.get("PIP_" + option.upper().replace("-", "_"))
        if value:
            options[option] = value
    return options


def translate(options: Mapping[str, str]) -> dict[str, str]:
    """Return pip's options as uv's environment variables."""
    indexes = options.get("extra-index-url", "").split()
    added = {
        "UV_DEFAULT_INDEX": options.get("index-url", ""),
        "UV_INDEX": " ".join(indexes),
        "UV_FIND_LINKS": ",".join(options.get("find-links", "").split()),
        "UV_INSECURE_HOST": " ".join(options.get("trusted-host", "").split()),
        "SSL_CERT_FILE": options.get("cert", ""),
        "HTTPS_PROXY": options.get("proxy", ""),
        "HTTP_PROXY": options.get("proxy", ""),
        # pip looks into every index, uv only into the first that knows the name. Hashes make
        # pip's way safe here.
        "UV_INDEX_STRATEGY": "unsafe-best-match" if indexes else "",
        "UV_NO_INDEX": "1" if options.get("no-index", "").lower() in ("1", "true", "yes") else "",
    }
    return {name: value for name, value in added.items() if value}


def config_files(environ: Mapping[str, str]) -> list[str]:
    """Return pip's configuration files, the ones that count less first; they need not exist."""
    chosen = environ.get("PIP_CONFIG_FILE")
    if chosen == os.devnull:
        return []
    home = environ.get("HOME") or os.path.expanduser("~")
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    machine = (environ.get("XDG_CONFIG_DIRS") or "/etc/xdg").split(os.pathsep)
    return [
        *(os.path.join(folder, "pip", "pip.conf") for folder in reversed(machine)),
        "/Library/Application Support/pip/pip.conf",
        "/etc/pip.conf",
        os.path.join(home, ".pip", "pip.conf"),
        os.path.join(home, "Library", "Application Support", "pip", "pip.conf"),
        os.path.join(config, "pip", "pip.conf"),
        *([chosen] if chosen else []),
    ]


def _read_file(path: str) -> dict[str, str]:
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read(path, encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError):
        # pip itself reports a broken file far better than we could.
        return {}
    return {
        option: parser.get(section, option)
        for section in ("global", "install")
        for option in _OPTIONS
        if parser.has_option(section, option)
    }


def _has_uv_file(environ: Mapping[str, str]) -> bool:
    home = environ.get("HOME") or os.path.expanduser("~")
    config = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    files = (os.path.join(config, "uv", "uv.toml"), "/etc/uv/uv.toml")
    return any(os.path.isfile(path) for path in files)
