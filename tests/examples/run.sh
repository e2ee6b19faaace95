#!/bin/sh
# Compiles and runs the examples, for portable C alone and for all targets, so that each of them is
# the best of its build once where the machine has it. CC and CFLAGS choose compiler and flags.
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
fails() { failed=$((failed + 1)) && echo "examples: $1"; }

sources_of() { # the layer's C without its Check test
  for file in "$scratch/c/$1"/*.c; do
    case $file in *_test.c) ;; *) echo "$file" ;; esac
  done
}

run() { # run NAME LAYER COMPILER FLAGS SOURCES...
  name=$1 layer=$2 compiler=$3 flags=$4
  shift 4
  if $compiler $warnings $CFLAGS $flags -I "$scratch/c/$layer" -o "$scratch/program" "$@" \
    $(sources_of "$layer") -lm && "$scratch/program" >"$scratch/$name.out"; then
    passes
    sed "s/^/$name: /" "$scratch/$name.out"
  else
    fails "$name"
  fi
}

for targets in "portable" "portable avx2" "portable avx2 avx512"; do
  echo "== $targets"
  rm -rf "$scratch/c"
  if ! generator/qkvc generate examples/first_layer.lua examples/decoding.lua examples/cross.lua \
    $(printf ' --target %s' $targets) -o "$scratch/c" >"$scratch/log"; then
    fails "generate for $targets"
    continue
  fi
  run first_layer first_layer "$CC" "" examples/first_layer.c
  if [ "$(cat "$scratch/first_layer.out")" != "$(printf '1.0000\n1.9814\n1.9997')" ]; then
    fails "first_layer prints other numbers"
  fi
  run decoding decoding "$CC" "" examples/decoding.c
  run cross cross "$CC" "" examples/cross.c
  run layouts first_layer "$CC" "" tests/examples/layouts.c
  run threads_openmp first_layer "$omp" -fopenmp tests/examples/threads.c examples/threads_openmp.c
  run threads_pthreads first_layer "$CC" -pthread tests/examples/threads.c \
    examples/threads_pthreads.c
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
