#!/bin/sh
# The rules that a reader's eye would miss. Prints each breach as file:line and exits 1 for any.
# With --list-c it prints the hand-written C files instead.
set -u
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.."

# Files that git knows or would add; without git, all but what make builds.
all_files() {
  git ls-files --cached --others --exclude-standard 2>/dev/null ||
    find . -type f ! -path './.git/*' ! -path './build/*' | sed 's|^\./||' | sort
}

files_like() { all_files | grep -E "$1" | while read -r file; do [ -f "$file" ] && echo "$file"; done; }

written_c() { files_like '\.[ch]$' | grep -v '^generated/'; }

if [ "${1:-}" = --list-c ]; then
  written_c
  exit
fi

failed=0
rule() { # rule NAME: standard input holds the breaches
  breaches=$(cat)
  [ -z "$breaches" ] && return
  echo "$breaches" | sed "s|$| [$1]|"
  failed=1
}

text='\.(lua|c|h|in|sh|md|json|txt|py|yml)$|^(Makefile|\.ci/run|generator/qkvc)$'
code='\.(lua|c|h|in|sh|py)$|^(\.ci/run|generator/qkvc)$'
tab=$(printf '\t')

rule "tab" <<EOF
$(files_like "$code" | xargs -r grep -nH "$tab" | cut -d: -f1,2)
EOF
rule "trailing space" <<EOF
$(files_like "$text" | xargs -r grep -nHE '[[:space:]]$' | cut -d: -f1,2)
EOF
rule "longer than 100 columns" <<EOF
$(files_like "$code" | xargs -r grep -nHE '^.{101}' | cut -d: -f1,2)
EOF
rule "no newline at the end" <<EOF
$(files_like "$text" | while read -r file; do [ -n "$(tail -c 1 "$file")" ] && echo "$file"; done)
EOF
rule "pairs without -- order does not matter: why, on this line or the one above" <<EOF
$(files_like '\.lua$' | xargs -r awk '
  FNR == 1 { above = "" }
  /(^|[^i_[:alnum:]])pairs\(/ && !/order does not matter: ./ &&
    above !~ /order does not matter: ./ { print FILENAME ":" FNR }
  { above = $0 }')
EOF
rule "clang-format: make fmt" <<EOF
$(written_c | xargs -r clang-format --dry-run 2>&1 | grep -E '^[^ ].*:[0-9]+:[0-9]+:' | cut -d: -f1,2)
EOF

luacheck -q . || failed=1
[ "$failed" = 0 ] && echo "lint: nothing to say"
exit "$failed"
