#!/bin/sh
# Proves that generated/ is exactly what the generator writes: generates twice into new folders, in
# different locales, time zones and working directories, and compares texts and lists of files.
# Arguments: the names of the layers.
set -eu
cd "$(dirname "$0")/.." || exit 3
root=$(pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

LC_ALL=C TZ=UTC generator/qkvc generate "$@" -o "$scratch/first" >"$scratch/log"
mkdir "$scratch/elsewhere"
(cd "$scratch/elsewhere" &&
  LC_ALL=C.UTF-8 TZ=Asia/Kathmandu "$root/generator/qkvc" generate "$@" -o ../second \
    >"$scratch/log")

if ! diff -r "$scratch/first" "$scratch/second"; then
  echo "current: two runs differ, see above" >&2
  exit 1
fi
diff -rq generated "$scratch/first" 2>&1 | sed "s|$scratch/first|(regenerated)|" >"$scratch/differ"
if [ -s "$scratch/differ" ]; then
  cat "$scratch/differ" >&2
  echo "current: generated/ is not current: run make generate" >&2
  exit 1
fi
echo "current: $(find generated -type f | wc -l) files are what the generator writes"
