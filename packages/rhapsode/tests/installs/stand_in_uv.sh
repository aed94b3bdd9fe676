#!/bin/sh
# Stands in for uv: keeps its arguments, and makes a virtualenv by links to an interpreter.
printf '%s\n' "$*" >>"$0.asked"
# What a test wants it to do before, or instead.
[ -e "$0.first" ] && . "$0.first"
for last; do :; done
case "$1" in
venv)
    mkdir -p "$last/bin" "$last/lib/PYTHON/site-packages"
    ln -s "EXECUTABLE" "$last/bin/python"
    printf 'home = %s\n' "HOME_FOLDER" >"$last/pyvenv.cfg"
    ;;
pip)
    # uv is run in the virtualenv that it installs into.
    mkdir -p lib/PYTHON/site-packages/it
    touch lib/PYTHON/site-packages/it/__main__.py
    ;;
esac
