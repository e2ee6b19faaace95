#!/bin/sh
# Generates every shipped spec, compiles it with its Check test by CC and CFLAGS, and runs that.
# The wide ones that specs/list.lua calls slow are only compiled, unless --all is given.
set -u
cd "$(dirname "$0")/.." || exit 3
: "${CC:=cc}" "${CFLAGS:=-O1}"
all=no
[ "${1:-}" = --all ] && all=yes
warnings="-Wall -Wextra -Wpedantic -Werror"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

command -v "$CC" >/dev/null || { echo "shipped: no compiler $CC" >&2; exit 3; }
check_cflags=$(pkg-config --cflags check) && check_libs=$(pkg-config --libs check) || {
  echo "shipped: the library Check is missing: make deps" >&2
  exit 3
}

lua5.4 -e 'for _, one in ipairs(dofile "specs/list.lua") do
  print((one.file:gsub("%.lua$", "")), one.slow and "slow" or "")
end' >"$scratch/list" || exit 3

judge() {
  layer=$1 slow=$2 folder="$scratch/$1"
  generator/qkvc generate "$layer" -o "$scratch" >"$scratch/log" 2>&1 || return 1
  # shellcheck disable=SC2086 # the flags are words
  $CC -std=c11 $CFLAGS $warnings $check_cflags -I "$folder" "$folder"/*.c \
    -o "$scratch/program" $check_libs -lm >"$scratch/log" 2>&1 || return 1
  if [ "$slow" = slow ] && [ "$all" = no ]; then
    echo "$layer: compiled; run it with --all"
    return 0
  fi
  (cd "$scratch" && CK_DEFAULT_TIMEOUT=300 ./program) >"$scratch/log" 2>&1 || return 1
  echo "$layer: $(tail -n 1 "$scratch/log")"
}

passed=0 failed=0
while read -r layer slow; do
  if judge "$layer" "$slow"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "$layer: failed"
    tail -n 20 "$scratch/log"
  fi
  rm -rf "${scratch:?}/$layer"
done <"$scratch/list"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
