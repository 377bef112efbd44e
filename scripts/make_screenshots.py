"""Makes the pictures of docs/dashboard.md: `python scripts/make_screenshots.py HOME`.

HOME is an empty data home with a runtime and a model; what is shown is invented, and put into it first. It needs
chromium and playwright, as the tests do.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from playwright.sync_api import ViewportSize, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "lib"))

from vector_memory.client.link import DaemonClient  # noqa: E402
from vector_memory.system.paths import Home  # noqa: E402

CODE = (
    f"import sys; sys.path.insert(0, {str(ROOT / 'lib')!r})\n"
    "from vector_memory.cli.main import main\nsys.exit(main())"
)
SIZE: ViewportSize = {"width": 980, "height": 540}
SHOTS = (
    ("search", "search?q={question}", False),
    ("sessions", "sessions", True),
    ("statistics", "statistics", False),
)
MOST_BYTES = 100_000
QUESTION = "When does the ferry to the island leave in the morning?"
NOTES = (
    (
        "ferry",
        "decision",
        "The ferry to the island leaves at ten in the morning; the tide is too low at nine.",
    ),
    (
        "ferry",
        "fact",
        "In winter the ferry leaves from the south quay, since ice closes the north harbour.",
    ),
    (
        "ferry",
        "preference",
        "Write times of departures with a colon, as 10:00, and never as 10 o'clock.",
    ),
    ("ferry", "problem", "The timetable shows the morning ferry twice when summer time begins."),
    ("museum", "decision", "Tickets of the museum are sold online until an hour before it closes."),
)
TALKS = (
    (
        "ferry",
        "2026-10-02T09:00:00+00:00",
        "Why is the morning ferry in the timetable twice?",
        "The clock change makes two entries of one departure. The fix is to store departures in UTC.",
    ),
    (
        "ferry",
        "2026-10-09T14:00:00+00:00",
        "Let us move the night mooring to the eastern quay.",
        "We decided to moor the ferry at the eastern quay for the night. The lights there still have to be checked.",
    ),
    (
        "museum",
        "2026-10-05T11:00:00+00:00",
        "How do we sell tickets on the day itself?",
        "Tickets are sold online until an hour before closing. The desk takes cash and cards after that.",
    ),
    (
        "museum",
        "2026-10-20T08:30:00+00:00",
        "The audio guide stops in the second room.",
        "The cause was a missing file for room two. The upload now fails when a room has no file.",
    ),
)


def main(home: str) -> int:
    """Write the pictures; 1 where one is too large."""
    _fill(home)
    environ = {**os.environ, "VECTOR_MEMORY_HOME": home}
    words = [sys.executable, "-c", CODE, "dashboard", "--no-open", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environ, text=True) as server:
        assert server.stdout
        told = json.loads(server.stdout.readline())
        door = Path(home, "run", "gateways", f"{told['pid']}.html").read_text()
        entrance = re.findall(r"url=([^\"]+)", door)[0]
        sizes = _shoot(entrance, told["url"])
        server.terminate()
    for path, size in sizes.items():
        print(f"{path.relative_to(ROOT)}: {size:,} bytes")
    return int(max(sizes.values()) > MOST_BYTES)


def _fill(home: str) -> None:
    daemon = DaemonClient(Home(home))

    def folder(name: str) -> str:
        path = os.path.join(home, "projects", name)
        os.makedirs(path, exist_ok=True)
        return path

    for name, kind, text in NOTES:
        daemon.ask("remember", {"text": text, "kind": kind, "project": folder(name)})
    for number, (name, at, asked, answered) in enumerate(TALKS):
        said = [("user", asked), ("assistant", answered)]
        messages = [
            {"id": str(place), "role": role, "text": text, "at": at}
            for place, (role, text) in enumerate(said)
        ]
        session = {"session": f"talk-{number}", "final": True, "speaks_for_me": True}
        daemon.ask("feed", {**session, "messages": messages, "project": folder(name)})
    while len(daemon.ask("topics", {"all_projects": True})["sessions"]) < len(TALKS):
        time.sleep(0.2)
    while not daemon.ask("wait", {"timeout_s": 30})["complete"]:
        pass


def _shoot(entrance: str, url: str) -> dict[Path, int]:
    folder = ROOT / "docs" / "images"
    folder.mkdir(exist_ok=True)
    sizes = {}
    with sync_playwright() as playwright:
        options = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=options)
        page = browser.new_page()
        page.set_viewport_size(SIZE)
        page.set_default_timeout(180_000)
        page.goto(entrance)
        page.locator("#main h1", has_text="Memories").wait_for()
        for name, at, is_dark in SHOTS:
            page.emulate_media(color_scheme="dark" if is_dark else "light")
            page.goto(f"{url}/#/{at.format(question=QUESTION.replace(' ', '+'))}")
            page.locator("#main h1", has_text=name.capitalize()).wait_for()
            page.locator("#state", has_text="memories").wait_for()
            path = folder / f"dashboard-{name}.png"
            page.screenshot(path=path, animations="disabled")
            sizes[path] = path.stat().st_size
        browser.close()
    return sizes


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
