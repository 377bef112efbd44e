"""What a client starts: `python -I …/daemon/__main__.py DATA_HOME`."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

if __name__ == "__main__":
    from vector_memory.daemon.main import main

    sys.exit(main(sys.argv[1]))
