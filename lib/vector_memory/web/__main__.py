"""What `vector-memory serve` becomes: `python -I …/web/__main__.py ARGUMENTS`, these as one JSON object."""

import json
import os
import sys

sys.path[0] = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

if __name__ == "__main__":
    # The runtime's libraries were compiled when it was made; looked for under the prefix of ours, they would all
    # be compiled again.
    prefix, sys.pycache_prefix = sys.pycache_prefix, None
    import starlette.applications  # noqa: F401
    import uvicorn.protocols.http.h11_impl  # noqa: F401

    sys.pycache_prefix = prefix
    from vector_memory.web.main import main

    sys.exit(main(json.loads(sys.argv[1])))
