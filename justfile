# Needs ./bootstrap.sh test once: it makes .build/, whose tools these recipes use.
export PATH := justfile_directory() / ".build/venv/bin:" + env("PATH")

# Everything that continuous integration runs
test *arguments:
    ./bootstrap.sh test {{arguments}}

# The tests, and which branches none of them takes (twice as slow)
cover *arguments:
    ./bootstrap.sh test --cov --cov-report=term:skip-covered --numprocesses=auto --dist=loadfile {{arguments}}

# The checks without the tests
check:
    ruff check .
    ruff format --check .
    mypy
    lint-imports

# Mend what can be mended by itself
fix:
    ruff check --fix .
    ruff format .

# Write every generated file anew
generate:
    python scripts/make_snippet.py
    python scripts/make_icon.py
    python scripts/make_cli_docs.py
    python scripts/make_mcp_docs.py

# Pin the newest versions in requirements/
lock:
    sh scripts/lock.sh

# Measure the hooks
bench:
    python benchmarks/hook_latency.py

# Attack by every way in: tried, stored, bound, shown unmarked, leaked (about 20 minutes; --quick for a few)
attack *arguments:
    python benchmarks/attack.py {{arguments}}
