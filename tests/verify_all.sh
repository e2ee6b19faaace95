#!/bin/sh
# The full matrix: every golden case, unrolled by tiles and fully, with both compilers and several
# sets of flags, and under random names. Each run prints its failures and one line; takes long.
# Arguments: folders of cases, without any tests/golden.
set -u
cd "$(dirname "$0")/.." || exit 3
[ $# -gt 0 ] || set -- tests/golden

log=$(mktemp)
trap 'rm -f "$log"' EXIT INT TERM
passed=0 failed=0

# Full unrolling has a budget; a case above it is refused by that name, which is as it should be.
run() { # run CC FLAGS UNROLL [OPTIONS]
  cc=$1 flags=$2 unroll=$3
  shift 3
  generator/qkvc verify "$@" --cc "$cc" --cflags "$flags" --unroll "$unroll" >"$log" 2>&1
  code=$?
  if [ $code -gt 1 ]; then
    wrong=$(cat "$log")
  elif [ "$unroll" = full ]; then
    wrong=$(grep -E '^(FAIL|REFUSED) ' "$log" | grep -v '^REFUSED .*budget')
  else
    wrong=$(grep -E '^(FAIL|REFUSED) ' "$log")
    [ $code = 0 ] || wrong=${wrong:-exit code $code}
  fi
  if [ -n "$wrong" ]; then echo "$wrong"; failed=$((failed + 1)); else passed=$((passed + 1)); fi
  echo "$cc $flags, $unroll: $(tail -n 1 "$log")"
}

for cc in gcc clang; do
  for unroll in tile full; do
    for flags in "-O0" "-O2" "-O3 -march=native" \
      "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"; do
      run "$cc" "$flags" "$unroll" "$@"
    done
  done
  for flags in "-O2 -ffast-math" "-Ofast -march=native"; do
    run "$cc" "$flags" tile "$@"
  done
  for seed in 1 2; do
    run "$cc" "-O2" tile --rename "$seed" "$@"
  done
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
