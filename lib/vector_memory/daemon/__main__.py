"""What a client starts: `python -I …/daemon/__main__.py DATA_HOME`."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))


def _run() -> int:
    from vector_memory.daemon.main import main

    return main(sys.argv[1])


if __name__ == "__main__":
    from vector_memory.system import bytecode

    sys.exit(bytecode.guarded(_run))
