# Read by hooks and launchers: sets `home` to the data home as paths.data_home says it, and `refused` to
# why nothing may be run out of it, "" where all is well. Reading it starts no program.

home=${VECTOR_MEMORY_HOME:-} refused=
case $home in
    '') home=${XDG_DATA_HOME:-${HOME:+$HOME/.local/share}}
        home=${home:+${home%/}/vector-memory} ;;
    '~') home=${HOME:-} ;;
    '~/'*) home=${HOME:+$HOME/${home#??}} ;;
esac
case $home in
    '') refused='HOME is not set.' ;;
    /*) while case $home in ?*/) ;; *) false ;; esac do home=${home%/}; done ;;
    # It would be wherever a session runs: a project could bring it, and the interpreter in it.
    *) refused="The data home is no absolute path: $home." ;;
esac
if [ -z "$refused" ] && [ -e "$home" ] && [ ! -d "$home" ]; then
    refused="The data home is no folder: $home."
fi
# What belongs to another user is run by that user alone. Each folder out of which something is run is
# looked at, and what a link of its name leads to.
if [ -z "$refused" ]; then
    for folder in "$home" "$home/runtime" "$home/runtime/venv" "$home/runtime/venv/bin" \
        "$home/app" "$home/app/current" "$home/app/current/lib"; do
        [ -O "$folder" ] || [ ! -e "$folder" ] || refused="$folder belongs to another user."
    done
fi

# Whether the folder holds things, and none of them is a data home's.
holds_something_else() {
    for entry in runtime spool logs/setup.log state.db config.json app/hook; do
        [ ! -e "$home/$entry" ] || return 1
    done
    for entry in "$home"/* "$home"/.[!.]*; do
        [ ! -e "$entry" ] && [ ! -h "$entry" ] || return 0
    done
    return 1
}

plugins=${CLAUDE_CONFIG_DIR:-${HOME:-}/.claude}/plugins/installed_plugins.json

# A number for what the client's list says of this plugin, however the list is laid out.
plugin_mark() {
    [ ! -f "$plugins" ] || LC_ALL=C tr -d '[:space:]' <"$plugins" | LC_ALL=C tr ']' '\n' |
        LC_ALL=C sed -n 's/.*\("vector-memory@\)/\1/p' | cksum
}

# Whether `uninstall` was here and nobody has set anything up since: it leaves the shim, without any code. A plugin
# that was installed after that counts: the client's list is newer then, and names it otherwise than the shim's last
# line, which says what was there.
is_uninstalled() {
    [ -f "$home/app/hook" ] && [ ! -h "$home/app/current" ] || return 1
    [ ! "$plugins" -nt "$home/app/hook" ] || ! grep -q '"vector-memory@' "$plugins" ||
        grep -qxF "# Plugin: $(plugin_mark)" "$home/app/hook"
}
