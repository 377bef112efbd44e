"""Adds sentence-transformers to the environment that runs this: a process of its own, in uv's environment."""

from __future__ import annotations

import sys

from vector_memory.embed.install import install_backend

if __name__ == "__main__":
    print(*install_backend("sentence-transformers", sys.executable, sys.argv[1]))
