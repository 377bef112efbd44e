# Read by bin/vector-memory where there is no runtime: returns once that was set up, and ends the program
# where nothing is to be set up: help, a mistyped command, a data home that the user did not mean.

[ -z "${_VECTOR_MEMORY_COMPLETE:-}" ] || exit 0

list=$root/lib/vector_memory/cli/verbs.txt

verbs() {
    sed -n 's/^= \([a-z][a-z-]*\)\( |.*\)*$/\1/p' "$list"
}

help() {
    echo 'Usage: vector-memory [OPTIONS] COMMAND [ARGS]...'
    echo
    echo "Nothing is set up in $home yet: the first command does that (700 MB),"
    echo "or $root/bootstrap.sh. Then --help says more. Commands:"
    verbs | sed 's/^/  /'
}

misused() {
    printf '%s\nSee `vector-memory --help`.\n' "$1" >&2
    exit 2
}

case ${1:-} in
    '') help >&2; exit 2 ;;
    --help | -h) help; exit 0 ;;
    --version) read -r version <"$root/lib/vector_memory/VERSION"; echo "vector-memory $version"; exit 0 ;;
    -*) misused "No such option: $1" ;;
esac
known=
for verb in $(verbs) debug; do
    [ "$verb" != "$1" ] || known=1
done
[ -n "$known" ] || misused "No such command '$1'."
for word; do
    case $word in
        --) break ;;
        --help | -h) help; exit 0 ;;
    esac
done
# Some groups are a command as well.
if grep -q "^= $1 [a-z]" "$list" && ! grep -qF "= $1 ${2:-} |" "$list"; then
    case ${2:-} in '' | -*) grep -q "^= $1 |" "$list" ;; *) false ;; esac || misused "No such command '$1${2:+ $2}'."
fi
case "$1 ${2:-}" in
    'uninstall '* | 'daemon stop' | 'daemon status')
        VECTOR_MEMORY_HOME=$home exec /bin/sh "$root/bootstrap.sh" --without-runtime "$@" ;;
esac
# Only the user takes it back: an agent of a session that is still open may go on asking.
if [ -n "${CLAUDECODE:-}" ] && is_uninstalled; then
    printf 'Vector Memory was uninstalled.\nWhat to do: the user sets it up again, by %s\n' "$root/bootstrap.sh" >&2
    exit 1
fi

doubt=
if [ -n "${VECTOR_MEMORY_HOME:-}" ]; then
    if [ ! -e "$home" ]; then
        doubt="$home is not there."
    elif holds_something_else; then
        doubt="$home holds something else."
    fi
fi
if [ -n "$doubt" ] && [ -t 0 ] && [ -t 2 ]; then
    printf '%s Set Vector Memory up there (700 MB)? [y/N] ' "$doubt" >&2
    read -r answer
    case $answer in
        [yY] | [yY][eE][sS]) ;;
        *) echo 'Nothing was set up.' >&2; exit 1 ;;
    esac
elif [ -n "$doubt" ]; then
    {
        echo "$doubt"
        echo "What to do: correct VECTOR_MEMORY_HOME, or set it up there: $root/bootstrap.sh"
    } >&2
    exit 1
fi
VECTOR_MEMORY_HOME=$home /bin/sh "$root/bootstrap.sh" --brief >&2 || exit 1
