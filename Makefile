# The habits of qkvc, one command each. `make` alone lists them.
# Every target works on a fresh Debian 12 after `make deps`.

CC      = cc
CFLAGS  = -O2
SAN     = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
LAYERS  = $(shell lua5.4 -e 'for _, one in ipairs(dofile "specs/list.lua") do \
            if one.curated then print((one.file:gsub("%.lua$$", ""))) end end')
BENCH   = tiny bert_tiny minilm bert_base
BUSTED  = busted --lua=lua5.4

# make's own exit code is 2 for whatever fails; the scripts below print why.
.NOTPARALLEL:
.PHONY: help deps demo generate current docs lint fmt test test-lua test-c test-golden \
        test-words test-examples sanitize bench verify-all tune bench-peers

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

deps: ## install what is missing of the Debian packages that qkvc needs
	@sh tests/deps.sh

demo: ## generate a real layer, compile it, run it on real input, show error and time
	@CC='$(CC)' CFLAGS='$(CFLAGS)' sh examples/demo.sh

generate: ## rewrite the files below generated/ whose text changed
	@generator/qkvc generate $(LAYERS) -o generated

current: ## prove that generated/ is what the generator writes, twice, in two environments
	@sh tests/current.sh $(LAYERS)

docs: ## renew the tables of the documentation that are made from the program's own
	@lua5.4 docs/manual.lua

lint: ## luacheck, plain-text rules, clang-format on hand-written C, tables of the documentation
	@sh tests/lint.sh
	@lua5.4 docs/manual.lua --check

fmt: ## format hand-written C; never touches generated/
	@sh tests/lint.sh --list-c | xargs -r clang-format -i

test: test-lua test-c test-golden test-examples ## everything that proves the project

test-lua: ## the generator's own tests
	@$(BUSTED)

test-c: ## compile and run the Check tests of the words and of each layer in generated/
	@CC='$(CC)' CFLAGS='$(CFLAGS)' sh tests/words.sh
	@CC='$(CC)' CFLAGS='$(CFLAGS)' sh tests/check.sh

test-words: ## every word on every target, with both compilers, all flags and an emulator
	@sh tests/words.sh --all

# Every case once; then a fixed sample of what verify-all tries.
test-golden: ## generated code against the golden vectors
	@generator/qkvc verify tests/golden
	@generator/qkvc verify tests/golden/onnx-attention --unroll full --cflags -O1 --rename 1
	@generator/qkvc verify tests/golden/seeds --unroll tile --cflags -Ofast --rename 2

test-examples: ## compile and run the examples of the documentation
	@CC='$(CC)' CFLAGS='$(CFLAGS)' sh tests/examples/run.sh

sanitize: ## Check tests and golden vectors under address and undefined-behaviour sanitizers
	@CC='$(CC)' CFLAGS='$(SAN)' sh tests/check.sh
	@generator/qkvc verify tests/golden --cflags '$(SAN)'

bench: ## measure each target on four shapes, beside this machine's ceilings
	@generator/qkvc bench $(BENCH:%=tests/bench/specs/%.lua)

verify-all: ## all vectors, compilers, flags, unrollings, and all shipped specs; takes long
	@sh tests/verify_all.sh
	@sh tests/shipped.sh

tune: ## measure kernels and fit the cost model to this machine
	@sh tests/bench/tune.sh

bench-peers: ## measure beside other software; asks, then installs it in a virtual environment
	@sh tests/bench/peers.sh
