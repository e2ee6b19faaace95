#!/bin/sh
# The rules that a reader's eye would miss. Prints each breach as file:line [rule] and exits 1 for
# any. With --list-c it prints the hand-written C files instead.
set -u
export LC_ALL=C.UTF-8
cd "$(dirname "$0")/.." || exit 3

# Files that git knows or would add; without git, all but what make builds.
all_files() {
  git ls-files --cached --others --exclude-standard 2>/dev/null ||
    find . -type f ! -path './.git/*' ! -path './build/*' | sed 's|^\./||' | sort
}

files_like() {
  all_files | grep -E "$1" | while read -r file; do [ -f "$file" ] && echo "$file"; done
}

# C that people wrote: not what qkvc writes, and not templates, which are C only once rendered.
written_c() { files_like '\.[ch]$' | grep -v '^generated/'; }

if [ "${1:-}" = --list-c ]; then
  written_c
  exit
fi

for tool in luacheck clang-format; do
  command -v "$tool" >/dev/null || { echo "lint: $tool is missing: make deps" >&2; exit 3; }
done

text='\.(lua|c|h|in|sh|md|json|txt|py|yml)$|^(Makefile|\.ci/run|generator/qkvc)$'
code='\.(lua|c|h|in|sh|py)$|^(\.ci/run|generator/qkvc)$'

lines_with() { # lines_with PATTERN FILES-PATTERN RULE
  files_like "$2" | xargs -r grep -nHE "$1" | cut -d: -f1,2 | sed "s/\$/ [$3]/"
}

unended_files() {
  files_like "$text" | while read -r file; do
    [ -n "$(tail -c 1 "$file")" ] && echo "$file [no newline at the end]"
  done
}

# The order of pairs differs from run to run, so each use says why that is harmless.
unexplained_pairs() {
  files_like '\.lua$' | xargs -r awk '
    FNR == 1 { above = "" }
    /(^|[^i_[:alnum:]])pairs\(/ && !/order does not matter: ./ &&
      above !~ /order does not matter: ./ {
      print FILENAME ":" FNR " [pairs without \"order does not matter: why\"]"
    }
    { above = $0 }'
}

unformatted_c() {
  written_c | xargs -r clang-format --dry-run 2>&1 | grep -E '^[^ ].*:[0-9]+:[0-9]+:' |
    cut -d: -f1,2 | uniq | sed 's/$/ [not as make fmt leaves it]/'
}

breaches=$(
  lines_with "$(printf '\t')" "$code" "tab"
  lines_with '[[:space:]]$' "$text" "trailing space"
  lines_with '^.{101}' "$code" "longer than 100 columns"
  unended_files
  unexplained_pairs
  unformatted_c
)
failed=0
[ -z "$breaches" ] || { echo "$breaches"; failed=1; }
luacheck -q . || failed=1
[ "$failed" = 0 ] && echo "lint: nothing to say"
exit "$failed"
