#!/bin/sh
# The README's two commands on a fresh Debian 12: clean roots made with debootstrap hold git, make
# and nothing else that qkvc needs; each command runs alone from a fresh clone.
#
#   sudo apt-get install debootstrap
#   sudo sh tests/fresh/fresh.sh [FOLDER]
#
# Needs root, util-linux's unshare, a network of Debian packages, 8 GB below FOLDER (default: a new
# folder below /var/tmp) and half an hour. What is committed is tested: HEAD is cloned. FOLDER/base
# is made once and used again; the roots beside it are removed at the end, their logs stay.
#
#   as root        `make deps demo` in one root, `make deps test` in another; then `make deps` once
#                  more, which must install nothing
#   as plain user  `make deps demo` and `make deps test` in a third: both must stop and print the
#                  one command to run; root runs that command; then both go through
#
# Prints a line for each step. Exit 0 where all did what they must, 1 where one did not, 3 where the
# roots cannot be made.
set -u

suite=bookworm
folder=${1:-}
here=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
passed=0

stop() { echo "fresh: $*" >&2; exit 3; }

[ "$(id -u)" = 0 ] || stop "must be run as root: it makes roots and changes into them"
for tool in debootstrap unshare chroot git; do
  command -v "$tool" >/dev/null || stop "$tool is missing"
done
git -C "$here" rev-parse -q --verify HEAD >/dev/null || stop "$here is no git checkout"

if [ -z "$folder" ]; then
  folder=$(mktemp -d /var/tmp/qkvc-fresh.XXXXXX) || exit 3
else
  mkdir -p "$folder" || exit 3
fi
folder=$(cd "$folder" && pwd)
echo "fresh: in $folder, $(git -C "$here" log -1 --format=%h)"

# This system's own mirrors and settings serve where it is the same Debian.
same_debian() { grep -qs "^VERSION_CODENAME=$suite\$" /etc/os-release; }

make_base() {
  debootstrap --variant=minbase --include=git,make,ca-certificates "$suite" "$folder/base.new" \
    >"$folder/base.log" 2>&1 || { tail -n 5 "$folder/base.log" >&2; stop "debootstrap failed"; }
  mv "$folder/base.new" "$folder/base"
}

adapt_base() {
  cp /etc/resolv.conf "$folder/base/etc/resolv.conf" || exit 3
  if same_debian; then
    rm -rf "$folder/base/etc/apt/sources.list" "$folder/base/etc/apt/sources.list.d"
    for part in sources.list sources.list.d apt.conf.d; do
      [ -e "/etc/apt/$part" ] && cp -a "/etc/apt/$part" "$folder/base/etc/apt/"
    done
  fi
  chroot "$folder/base" id builder >/dev/null 2>&1 ||
    chroot "$folder/base" useradd --create-home --shell /bin/sh builder || exit 3
}

# inside ROOT USER COMMAND: runs a command in a root, with mounts and processes that end with it.
inside() {
  unshare --mount --pid --fork --kill-child sh -c '
    mount --make-rprivate / && mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" &&
    if [ "$2" = root ]; then
      exec chroot "$1" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb sh -c "$3"
    else
      exec chroot "$1" env -i PATH=/usr/bin:/bin TERM=dumb su "$2" -s /bin/sh -c "cd && $3"
    fi' inside "$folder/$1" "$2" "$3" </dev/null
}

make_root() {
  rm -rf "${folder:?}/$1"
  cp -a --reflink=auto "$folder/base" "$folder/$1" || stop "cannot copy the base"
}

# clone ROOT USER NAME: a fresh clone of what is committed, in the user's home.
clone() {
  home=$([ "$2" = root ] && echo /root || echo "/home/$2")
  git clone -q --no-hardlinks "$here" "$folder/$1$home/$3" || stop "cannot clone"
  chroot "$folder/$1" chown -R "$2:" "$home/$3"
}

# step WANTED WHAT ROOT USER COMMAND [TEXT]: the exit must be 0 or not (make gives 2 for whatever
# fails), and the output must hold TEXT.
step() {
  wanted=$1 what=$2 log=$folder/$(echo "$2" | tr ' ' '-').log
  began=$(date +%s)
  inside "$3" "$4" "$5" >"$log" 2>&1
  code=$?
  verdict=ok
  if [ "$wanted" = 0 ] && [ "$code" != 0 ]; then verdict=FAILED; fi
  if [ "$wanted" != 0 ] && [ "$code" = 0 ]; then verdict=FAILED; fi
  if [ -n "${6:-}" ] && ! grep -q "$6" "$log"; then verdict=FAILED; fi
  echo "fresh: $verdict: $what: exit $code, $(($(date +%s) - began)) s, last: $(tail -n 1 "$log")"
  if [ $verdict = ok ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    tail -n 20 "$log" | sed 's/^/    /'
  fi
}

as_root() {
  for command in demo test; do
    make_root "root-$command"
    clone "root-$command" root qkvc
    step 0 "root $command" "root-$command" root "cd /root/qkvc && make deps $command"
    step 0 "root $command, deps again" "root-$command" root "cd /root/qkvc && make deps" \
      "everything is installed"
    rm -rf "${folder:?}/root-$command"
  done
}

as_user() {
  make_root user
  for command in demo test; do
    clone user builder "$command"
    step 1 "user $command before" user builder "cd $command && make deps $command" \
        "needs root; run: "
    rm -rf "$folder/user/home/builder/$command"
  done
  # the command between quotes, as a person would paste it where su asks for root's password
  printed=$(sed -n "s/.*needs root; run: [a-z ]*-c '\(.*\)'\$/\1/p" "$folder/user-test-before.log")
  if [ "$(echo "$printed" | grep -c .)" != 1 ]; then
    echo "fresh: FAILED: user: not one command to run: $printed"
    failed=$((failed + 1))
  else
    step 0 "user, what root runs" user root "export DEBIAN_FRONTEND=noninteractive; $printed"
    for command in demo test; do
      clone user builder "$command"
      step 0 "user $command" user builder "cd $command && make deps $command" \
        "everything is installed"
    done
  fi
  rm -rf "${folder:?}/user"
}

[ -d "$folder/base" ] || make_base
adapt_base
as_root
as_user
echo "fresh: $passed passed, $failed failed"
[ $failed = 0 ]
