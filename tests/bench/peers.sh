#!/bin/sh
# Measures generated C beside other software, interleaved in one run. That software is installed
# with pip into a virtual environment below build/, after asking; YES=1 answers for you.
#   sh tests/bench/peers.sh [--torch] [--ggml] [OPTION of peers.py]...
# --torch installs PyTorch, too, which is large: several GB where its CPU version is not to be had.
# --ggml installs ggml, too, which pip compiles; it needs a C++ compiler and some minutes.
# Results: build/peers/peers.jsonl. `sh tests/bench/publish.sh` brings them into docs/.
set -eu
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."

place=build/peers
packages="numpy onnx onnxruntime openvino"
torch=no ggml=no
while :; do
  case ${1:-} in
    --torch) torch=yes ;;
    --ggml) ggml=yes ;;
    *) break ;;
  esac
  shift
done

fail() { echo "bench-peers: $1" >&2; exit 3; }

command -v python3 >/dev/null || fail "python3 is missing: apt-get install python3-venv"

ask() { # ask WHAT
  [ "${YES:-}" = 1 ] && return
  [ -t 0 ] || fail "would install $1 with pip below $place: YES=1 allows it"
  printf 'Install %s with pip below %s? [y/N] ' "$1" "$place"
  read -r answer
  case $answer in y | Y | yes) ;; *) fail "nothing was installed" ;; esac
}

python=$place/venv/bin/python
has() { "$python" -c "import $1" 2>/dev/null; }

if ! [ -x "$python" ] || ! has numpy || ! has onnx || ! has onnxruntime || ! has openvino; then
  ask "$packages (about 300 MB)"
  mkdir -p "$place"
  python3 -m venv "$place/venv" || fail "no virtual environment: apt-get install python3-venv"
  # shellcheck disable=SC2086
  "$python" -m pip install --quiet $packages || fail "pip did not install $packages"
fi
if [ "$torch" = yes ] && ! has torch; then
  ask torch
  "$python" -m pip install --quiet torch --index-url https://download.pytorch.org/whl/cpu ||
    "$python" -m pip install --quiet torch || fail "pip did not install torch"
fi
if [ "$ggml" = yes ] && ! has ggml; then
  ask ggml-python
  "$python" -m pip install --quiet ggml-python || fail "pip did not install ggml-python"
fi

rm -rf "$place/libraries" "$place/peers.jsonl"
specs=tests/bench/specs
generator/qkvc bench $specs/tiny.lua $specs/bert_tiny.lua $specs/minilm.lua $specs/bert_base.lua \
  --rounds 0 --keep "$place/libraries" >/dev/null
exec "$python" tests/bench/peers.py --libraries "$place/libraries" --out "$place/peers.jsonl" "$@"
