#!/bin/sh
# Starts the set-up in the background and says so in one line of hook output: `sh start.sh HOME`;
# HOME may be left out where VECTOR_MEMORY_HOME is set. The set-up itself sees to it that only one
# runs and that a failed one is not tried again at once.

umask 077
VECTOR_MEMORY_HOME=${1:-${VECTOR_MEMORY_HOME:-}}
[ -n "$VECTOR_MEMORY_HOME" ] || exit 0
. "${0%/*}/home.sh"
[ -z "$refused" ] || exit 0
PATH=${PATH:+$PATH:}/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin
export PATH
root=$(CDPATH='' cd -- "${0%/*}/../../.." && pwd -P) || exit 0
say() {
    printf '{"systemMessage": "%s", "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "%s"}}\n' "$1" "$1"
}

if holds_something_else; then
    say 'Vector Memory is not set up: VECTOR_MEMORY_HOME names a folder that holds something else. Correct it, or run bootstrap.sh with it.'
    exit 0
fi
# To the user alone: the model might do it.
if is_uninstalled; then
    echo '{"systemMessage": "Vector Memory was uninstalled. Installing the plugin anew, or bootstrap.sh, sets it up again."}'
    exit 0
fi
# A path that JSON would need escaped is only described.
shown=$home
case $shown in *[\"\\]* | *[[:cntrl:]]*) shown='its data home' ;; esac
mkdir -p "$home/run" "$home/logs" 2>/dev/null
if [ ! -w "$home/run" ] || [ ! -w "$home/logs" ]; then
    say "Vector Memory cannot be set up: nothing can be written in $shown. Make it writable, or set VECTOR_MEMORY_HOME to another folder."
    exit 0
fi
log=$home/logs/setup.log
failed=$home/run/setup.failed

report() {
    if [ -s "$failed" ]; then
        # The set-up left a whole line of JSON there.
        IFS= read -r line <"$failed"
        printf '%s\n' "$line"
        return
    fi
    say "Vector Memory is being set up in the background and works as soon as that is done, in about a minute (log: logs/setup.log in $shown)."
}

report
(
    VECTOR_MEMORY_HOME=$home
    export VECTOR_MEMORY_HOME
    /bin/sh "$root/bootstrap.sh" --background && exit 0
    # Python writes a better report; this one is for when there is no Python to write it.
    [ -s "$failed" ] || say 'Vector Memory could not be set up: Python 3.10 or newer was not found. Install it and start a new session.' >"$failed"
) </dev/null >>"$log" 2>&1 &
exit 0
