#!/bin/sh
# Brings measurements into docs/benchmark.md and docs/benchmark.svg: those of `make bench-peers`
# (build/peers/peers.jsonl), and those of the shapes, measured now unless build/bench/bench.jsonl is
# there already.
set -eu
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/../.."

results=build/bench/bench.jsonl
mkdir -p build/bench/plot docs
if ! [ -s "$results" ]; then
  specs=tests/bench/specs
  generator/qkvc bench $specs/tiny.lua $specs/bert_tiny.lua $specs/minilm.lua \
    $specs/bert_base.lua --json >"$results.new"
  mv "$results.new" "$results"
fi
peers=build/peers/peers.jsonl
[ -s "$peers" ] || peers=
# shellcheck disable=SC2086
machine=$(lua5.4 tests/bench/publish.lua docs/benchmark.md build/bench/plot "$results" $peers)
gnuplot -e "folder='build/bench/plot'; image='docs/benchmark.svg'; machine='$machine'" \
  tests/bench/plot.gp
echo "wrote docs/benchmark.md docs/benchmark.svg"
