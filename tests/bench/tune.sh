#!/bin/sh
# make tune: measures the tiles on this machine, writes generator/costs/NAME.lua and prints what
# changed. NAME=... names another machine's file, SECONDS_MEASURED=... how long it measures.
set -eu
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."

NAME=${NAME:-zen4}
case $NAME in
  *[!a-z0-9_]* | '')
    echo "tune: NAME=$NAME: must be lower-case letters, digits and _" >&2
    exit 2
    ;;
esac
CC=${CC:-cc}
export CC
for tool in lua5.4 "$CC"; do
  command -v "$tool" >/dev/null || { echo "tune: $tool is missing: make deps" >&2; exit 3; }
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
lua5.4 tests/bench/tune.lua "$NAME" "$folder" "${SECONDS_MEASURED:-90}"
