#!/bin/sh
# Every word on every target against its meaning, as CC compiles it with CFLAGS; with --all with
# both compilers, all sets of flags, as a compiler without GNU extensions, and AVX2 in an emulator.
# Looks into the objects as well: what is for AVX2 holds no EVEX encoding under baseline flags.
set -u
cd "$(dirname "$0")/.." || exit 3
: "${CC:=cc}" "${CFLAGS:=-O2}"
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wdouble-promotion -Wshadow \
-Wcast-align -Wcast-qual -Wstrict-prototypes -Wmissing-prototypes -Wundef -Wvla -Werror"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT INT TERM
passed=0 failed=0

check_cflags=$(pkg-config --cflags check) && check_libs=$(pkg-config --libs check) || {
  echo "words: the library Check is missing: make deps" >&2
  exit 3
}

count() { # count CODE WHAT
  if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAIL  $2"; fi
}

# Flags that must be the same for all files of a program.
linked_flags() {
  for flag in $1; do
    case $flag in -fsanitize=*) echo "$flag" ;; esac
  done
}

build() { # build CC FLAGS: the program and the words' objects in $scratch
  linked=$(linked_flags "$2")
  for source in "$scratch"/words_*.c; do
    $1 -std=c11 $2 $warnings -I tests/c -c "$source" -o "${source%.c}.o" || return 1
  done
  $1 -std=c11 -O1 $linked -Wall -Wextra -Wpedantic -Werror $check_cflags -I tests/c tests/c/*.c \
    "$scratch/machines.c" "$scratch"/words_*.o -o "$scratch/words" $check_libs -lm
}

# The instructions of an object whose first byte, after prefixes for size, is that of EVEX.
evex_in() {
  objdump -d -w "$1" | grep -E '^ *[0-9a-f]+:[[:space:]]+(6[4-7] )*62 '
}

check_baseline() { # check_baseline CC FLAGS
  generator/qkvc generate specs/minilm_l6.lua --target avx2 -o "$scratch/layer" \
    >"$scratch/said" || {
    cat "$scratch/said"
    return 1
  }
  for source in "$scratch"/layer/*/*_avx2.c; do
    $1 -std=c11 $2 -c "$source" -o "${source%.c}.o" || return 1
  done
  for object in "$scratch/words_avx2.o" "$scratch"/layer/*/*_avx2.o; do
    if evex_in "$object"; then
      echo "words: $(basename "$object") holds EVEX encodings"
      return 1
    fi
  done
  evex_in "$scratch/words_avx512.o" >"$scratch/said" || {
    echo "words: no EVEX encoding found even for AVX-512"
    return 1
  }
}

run() { # run CC FLAGS
  echo "words: $1 $2"
  build "$1" "$2" && "$scratch/words"
  count $? "$1 $2"
  case $2 in
  *-march* | *-U*) ;;
  *)
    check_baseline "$1" "$2"
    count $? "$1 $2, encodings of AVX2"
    ;;
  esac
}

emulate() {
  if ! command -v qemu-x86_64 >/dev/null; then
    echo "skipped: AVX2 in an emulator, there is no qemu-x86_64"
    return
  fi
  echo "words: AVX2 in qemu-x86_64"
  build "$CC" -O2 && CK_FORK=no qemu-x86_64 -cpu max "$scratch/words" portable avx2
  count $? "AVX2 in qemu-x86_64"
}

lua5.4 tests/c/words.lua "$scratch" || exit 1
if [ "${1:-}" = --all ]; then
  for cc in gcc clang; do
    command -v "$cc" >/dev/null || { echo "skipped: no $cc"; continue; }
    for flags in -O0 -O2 "-O3 -march=native" "-O2 -ffast-math" "-Ofast -march=native" \
      "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all" "-O2 -U__GNUC__"; do
      run "$cc" "$flags"
    done
  done
  emulate
else
  run "$CC" "$CFLAGS"
fi
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
