#!/bin/sh
# Writes requirements/*.txt anew from requirements/*.in: every version pinned, every file hashed,
# for every platform and Python from 3.10. No address and no path of this machine gets in, since
# only the default index is asked and paths are relative.
set -eu
cd "$(dirname -- "$0")/../requirements"
unset UV_INDEX UV_EXTRA_INDEX_URL UV_FIND_LINKS || true

lock() {
    uv pip compile --quiet --universal --generate-hashes --python-version 3.10 \
        --no-config --no-emit-index-url --no-emit-find-links --upgrade \
        --custom-compile-command 'just lock' "$@"
}

lock runtime.in --override overrides.in -o runtime.txt
lock convert.in -c runtime.txt -o convert.txt
lock dev.in -c runtime.txt -o dev.txt
lock --no-deps model.in -o model.txt
lock uv.in -o uv.txt
