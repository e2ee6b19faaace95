#!/bin/sh
# Compiles and runs the examples, once for portable C alone and once for all targets, of which each
# program takes the best that the machine has. CC and CFLAGS choose compiler and flags.
# The last line is 'N passed, N failed'.
set -u
cd "$(dirname "$0")/../.." || exit 3
: "${CC:=cc}" "${CFLAGS:=-O2}"
warnings="-std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Werror"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
command -v "$CC" >/dev/null || { echo "examples: no compiler $CC" >&2; exit 3; }

# OpenMP: not every compiler comes with its library
omp=$CC
echo 'int main(void) { return 0; }' >"$scratch/empty.c"
if ! "$CC" -fopenmp -o "$scratch/empty" "$scratch/empty.c" 2>/dev/null; then
  omp=gcc
  echo "examples: $CC has no OpenMP; threads_openmp.c is compiled with gcc"
fi

passed=0 failed=0
passes() { passed=$((passed + 1)); }
fails() { failed=$((failed + 1)) && echo "examples: $1 fails"; }

compile() { # compile LAYER: its C, without the Check test, to objects
  (
    cd "$scratch/c/$1" || exit 1
    for file in *.c; do
      case $file in *_test.c) ;; *) echo "$file" ;; esac
    done | xargs -P "$(nproc)" -n 1 $CC $warnings $CFLAGS -c
  )
}

run() { # run NAME LAYER COMPILER FLAGS SOURCES...
  name=$1 layer=$2 compiler=$3 flags=$4
  shift 4
  : >"$scratch/out"
  if $compiler $warnings $CFLAGS $flags -I "$scratch/c/$layer" -o "$scratch/program" "$@" \
    "$scratch/c/$layer"/*.o -lm && "$scratch/program" >"$scratch/out"; then
    passes
  else
    fails "$name"
  fi
  sed "s/^/$name: /" "$scratch/out"
}

for targets in "portable" "portable avx2 avx512"; do
  echo "== $targets"
  rm -rf "$scratch/c"
  if ! generator/qkvc generate examples/first_layer.lua examples/decoding.lua examples/cross.lua \
    $(printf ' --target %s' $targets) -o "$scratch/c" >"$scratch/log" ||
    ! compile first_layer || ! compile decoding || ! compile cross; then
    fails "making the layers for $targets"
    continue
  fi
  run first_layer first_layer "$CC" "" examples/first_layer.c
  # what the comment in first_layer.c tells in advance, from the formula
  if [ "$(cat "$scratch/out")" != "$(printf '1.0000\n1.9814\n1.9997')" ]; then
    fails "first_layer, which prints other numbers,"
  fi
  run decoding decoding "$CC" "" examples/decoding.c
  run cross cross "$CC" "" examples/cross.c
  run layouts first_layer "$CC" "" tests/examples/layouts.c
  run threads_openmp first_layer "$omp" -fopenmp tests/examples/threads.c examples/threads_openmp.c
  run threads_pthreads first_layer "$CC" -pthread tests/examples/threads.c \
    examples/threads_pthreads.c
done

# the commands of the README, in another folder than build/
sed -n '/^<!-- run -->$/,/^```$/p' README.md | sed '1,2d; $d' |
  sed "s|build|$scratch/readme|g; s|^cc |$CC |" >"$scratch/readme.sh"
if [ -s "$scratch/readme.sh" ] && sh -e "$scratch/readme.sh" >"$scratch/out" &&
  [ "$(tail -n 1 "$scratch/out")" = 1.9997 ]; then
  passes
  echo "README: its commands work"
else
  fails "README"
fi

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
