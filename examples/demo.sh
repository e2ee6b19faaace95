#!/bin/sh
# The main job on real input, step by step: a spec becomes C, a checkpoint becomes packed weights,
# the system's compiler makes a program of both, and the program runs the layer.
# CC and CFLAGS choose compiler and flags. Writes below build/, or where BUILD says.
set -eu
cd "$(dirname "$0")/.." || exit 3
: "${CC:=cc}" "${CFLAGS:=-O2}"
layer=minilm_l6
case=tests/golden/models/minilm_l6_layer0
command -v "$CC" >/dev/null || { echo "demo: no compiler $CC: make deps" >&2; exit 3; }

out=${BUILD:-build}/demo
if ! mkdir -p "$out" 2>/dev/null || ! [ -w "$out" ]; then
  if [ -n "${BUILD:-}" ]; then echo "demo: cannot write to $out" >&2; exit 3; fi
  out=$(mktemp -d) || { echo "demo: no folder to write to: set BUILD" >&2; exit 3; }
  echo "demo: this checkout is read-only; writing to $out"
fi

say() { printf '\n$ %s\n' "$*"; }
step() { say "$@"; "$@"; }

echo "The attention of MiniLM-L6's first block: 12 heads of 32 in a width of 384, residual, layer"
echo "norm, padding mask, up to 256 tokens. Its spec:"
echo
sed '/^--/d; s/^/  /' "specs/$layer.lua"

step generator/qkvc generate "$layer" --target portable --target avx2 --target avx512 -o "$out"
step generator/qkvc pack "$layer" "$case.safetensors" --family bert --layer 0 \
  -o "$out/$layer.blob"
step lua5.4 examples/tensors.lua "$case.safetensors" "$out" hidden_states attention_mask expected.y

sources=examples/demo.c
for file in "$out/$layer"/*.c; do
  case $file in *_test.c) ;; *) sources="$sources $file" ;; esac
done
# CFLAGS and sources are several words each
step "$CC" -std=c11 $CFLAGS -I "$out/$layer" -o "$out/demo" $sources -lm

say "$out/demo $out"
sed -n 's/^ *"note": "\(.*\)",$/\1/p' "$case.json" | fold -s -w 96
"$out/demo" "$out"

cat <<END

generated   $(ls "$out/$layer" | wc -l) files, $(cat "$out/$layer"/* | wc -l) lines, $(
  cat "$out/$layer"/* | wc -c) bytes; packed weights $(wc -c <"$out/$layer.blob") bytes
errors      against BertAttention of transformers in float64, rounded to float once; relative to
            the value, or to 0.01 where that is larger
look next   $out/$layer/$layer.h, then ${layer}_attention.c beside it
            examples/demo.c calls it; examples/first_layer.lua and .c are a layer from scratch
            docs/using.md: threads, caches, masks; docs/manual.md: the spec
END
