"""What the dashboard costs in a real browser: until something is painted and until rows stand there, each page, the
heap and the elements after a long scroll, a frame of it, its process, and what is sent.

Memories and vectors are those of `scale.py`. It needs chromium and playwright, as the tests do.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import statistics
import subprocess
import time
from pathlib import Path
from typing import Any

from common import Bench, bench, options, percentile, show, text
from scale import Vectors, fill

from vector_memory.config import Settings
from vector_memory.embed import registry

LOADS = 7
SCREENS = 40
STATIC = Path(__file__).resolve().parent.parent / "lib" / "vector_memory" / "web" / "static"
PAGES = (
    "search?q=parser+of+the+queue", "review", "sessions", "open", "evolution", "entities", "lessons", "observer",
    "statistics", "health", "cost", "settings",
)  # fmt: skip
WATCH = """sessionStorage.setItem('bearer', %r);
new MutationObserver(() => { if (!window.rowsAt && document.querySelector('#main .row')) window.rowsAt = performance.now(); })
  .observe(document, {childList: true, subtree: true});"""
PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
FRAMES = """async (screens) => {
  const took = []; let last = performance.now();
  for (let i = 0; i < screens * 4; i += 1) {
    window.scrollBy(0, 200);
    await new Promise((done) => requestAnimationFrame(done));
    took.push(performance.now() - last); last = performance.now();
  }
  return took;
}"""


def command(made: Bench) -> list[str]:
    """Return what runs the dashboard."""
    code = "import sys; sys.path.insert(0, sys.argv.pop(1))\nfrom vector_memory.cli.main import main; sys.exit(main())"
    prefix = ["-I", "-X", f"pycache_prefix={made.home.pycache}", "-c", code]
    lib = os.path.join(made.home.app_current, "lib")
    return [made.home.runtime_python, *prefix, lib, "dashboard", "--no-open", "--json"]


def measure(made: Bench) -> dict[str, Any]:
    """Look at a full store's pages, and return a row of figures."""
    from playwright.sync_api import sync_playwright

    asked = {"action": "new", "name": "bench", "right": "admin", "actor": "user"}
    bearer = made.daemon.ask("token", asked)["token"]
    served = subprocess.Popen(command(made), env=made.environment, stdout=subprocess.PIPE)
    assert served.stdout
    url = json.loads(served.stdout.readline())["url"]
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=root)
        paints, rows = [], []
        for _ in range(LOADS):
            page = opened(browser, bearer, f"{url}/#/memories")
            paints.append(page.evaluate(PAINT))
            rows.append(page.evaluate("window.rowsAt"))
            page.context.close()
        page = opened(browser, bearer, f"{url}/#/memories")
        frames = page.evaluate(FRAMES, SCREENS)
        told = {
            "first paint ms": round(statistics.median(paints)),
            "rows ms": round(statistics.median(rows)),
            "frame p50 ms": round(percentile(frames, 0.5)),
            "frame p95 ms": round(percentile(frames, 0.95)),
            "elements": page.locator("*").count(),
            "heap MB": round(heap(page), 1),
            **{at.partition("?")[0] + " ms": turned(page, url, at) for at in PAGES},
        }
        browser.close()
    sent = subprocess.run(
        ["ps", "-o", "rss=", "-p", str(served.pid)], capture_output=True, text=True, check=True
    )
    told["process MB"] = round(int(sent.stdout) / 1024)
    served.terminate()
    served.wait(20)
    return told


def opened(browser: Any, bearer: str, at: str) -> Any:
    """Return a page in a browser that knows nothing yet, once its first rows stand there."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.set_default_timeout(120_000)
    page.add_init_script(WATCH % bearer)
    page.goto(at)
    page.locator("#main .row").first.wait_for()
    return page


def heap(page: Any) -> float:
    """Return the megabytes of a page's heap, with nothing in it that could go."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    session.send("HeapProfiler.collectGarbage")
    figures = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in figures if one["name"] == "JSHeapUsedSize")) / 1e6


def turned(page: Any, url: str, at: str) -> int:
    """Return the milliseconds until another page stands there, at the median of three times."""
    name = at.partition("?")[0]
    took = []
    for _ in range(3):
        page.goto(f"{url}/#/memories")
        page.locator("#main h1", has_text="Memories").wait_for()
        started = time.perf_counter()
        page.evaluate(f"location.hash = '#/{at}'")
        page.locator(f"#main > [data-page={name}]").wait_for()
        took.append((time.perf_counter() - started) * 1000)
    return round(statistics.median(took))


def main() -> None:
    """Measure each size."""
    parser = options(__doc__ or "")
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000])
    given = parser.parse_args()
    sent = sum(len(gzip.compress(one.read_bytes())) for one in STATIC.iterdir())
    found = []
    for rows in given.rows:
        with bench(given.home) as made:
            embedder = registry.create(Settings(), made.home.models)
            chance = random.Random(3)
            real = embedder.embed_documents([text(i, chance) for i in range(800)])
            fill(made, rows, Vectors(real), embedder.model)
            embedder.close()
            made.settle(6 * 3_600)
            found.append({"memories": rows, **measure(made)})
    show(f"The dashboard, {sent / 1000:.0f} KB of it compressed", found, given.json)


if __name__ == "__main__":
    main()
