#!/bin/sh
# Compiles the Check test of each layer in generated/ with CC and CFLAGS, and runs it.
set -u
cd "$(dirname "$0")/.." || exit 3
: "${CC:=cc}" "${CFLAGS:=-O2}"
warnings="-Wall -Wextra -Wpedantic -Werror"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM

command -v "$CC" >/dev/null || { echo "check: no compiler $CC" >&2; exit 3; }
check_cflags=$(pkg-config --cflags check) && check_libs=$(pkg-config --libs check) || {
  echo "check: the library Check is missing: make deps" >&2
  exit 3
}

run_one() {
  folder=$1
  layer=$(basename "$folder")
  if ! $CC -std=c11 $CFLAGS $warnings $check_cflags -I "$folder" "$folder"/*.c \
    -o "$scratch/$layer" $check_libs -lm; then
    echo "check: $layer does not compile"
    return 1
  fi
  echo "check: $layer"
  (cd "$scratch" && "./$layer")
}

passed=0 failed=0
for test in generated/*/*_test.c; do
  [ -e "$test" ] || break
  if run_one "$(dirname "$test")"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
