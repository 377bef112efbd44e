"""Leads the user's browser to a page of this machine."""

from __future__ import annotations

import html
import os

from vector_memory.system import private
from vector_memory.system.durable_files import write_durably


def write_door(path: str, url: str, code: str) -> None:
    """Write the file that leads a browser in: this user's alone, since a program's arguments, where the address
    would stand otherwise, can be read by others."""
    private.make_folder(os.path.dirname(path))
    address = html.escape(f"{url}/#code={code}", quote=True)
    page = (
        '<!doctype html><meta charset="utf-8"><title>Vector Memory</title>'
        f'<meta http-equiv="refresh" content="0;url={address}">'
        f'<p><a href="{address}">Open the dashboard</a>'
    )
    write_durably(path, page.encode("ascii"))


def open_door(path: str) -> bool:
    """Have the user's browser open such a file; return whether there is a browser."""
    import webbrowser

    return webbrowser.open(f"file://{path}")
