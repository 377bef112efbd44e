"""Entry of `bootstrap.sh`: puts this package's folder on the path and hands over."""

import os
import sys

if __name__ == "__main__":
    sys.path.insert(0, os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..")))
    from vector_memory.setup.main import main

    sys.exit(main(sys.argv[1:]))
