#!/bin/sh
# Sets Vector Memory up:        ./bootstrap.sh
# Installs and runs the tests:  ./bootstrap.sh test [pytest arguments]
# All it does itself is to find a Python; the rest is lib/vector_memory/setup.
set -u

self=$0
while [ -h "$self" ]; do
    target=$(readlink "$self")
    case $target in /*) self=$target ;; *) self=${self%/*}/$target ;; esac
done
case $self in */*) here=${self%/*} ;; *) here=. ;; esac
root=$(CDPATH='' cd -- "${here:-/}" && pwd -P) || exit 1

# Running it is the only way to tell a Python from a shim that leads nowhere.
works() {
    "$1" -I -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 14))' \
        >/dev/null 2>&1 </dev/null
}

if [ -n "${VECTOR_MEMORY_PYTHON:-}" ] && ! works "$VECTOR_MEMORY_PYTHON"; then
    echo "VECTOR_MEMORY_PYTHON=$VECTOR_MEMORY_PYTHON is no Python 3.10 to 3.14 that runs: another one is taken." >&2
fi
for python in ${VECTOR_MEMORY_PYTHON:+"$VECTOR_MEMORY_PYTHON"} python3 \
    python3.13 python3.12 python3.11 python3.14 python3.10 /usr/bin/python3; do
    if works "$python"; then
        exec "$python" -I -B "$root/lib/vector_memory/setup/__main__.py" "$@"
    fi
done

cat >&2 <<'END'
Vector Memory needs Python 3.10 to 3.14, and none was found.
What to do: install one (Debian and Ubuntu: apt install python3 python3-venv; macOS:
brew install python), or name one: VECTOR_MEMORY_PYTHON=/path/to/python3 ./bootstrap.sh
END
exit 1
