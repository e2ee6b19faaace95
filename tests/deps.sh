#!/bin/sh
# Installs what is missing of the Debian packages that qkvc's habits use. Exit 0 with everything
# there, 3 where that needs root, the network or another system.
set -u

# the generator; compilers with their headers; tests; linters; other machines and plots
packages="lua5.4 lua-argparse lua-dkjson lua-lpeg lua-filesystem
  lua-zlib
  gcc g++ libc6-dev clang libclang-rt-dev make pkg-config
  check lua-busted
  lua-check clang-format
  qemu-user gnuplot-nox"

if ! command -v dpkg-query >/dev/null; then
  echo "deps: this is no Debian system; install the counterparts of:" $packages >&2
  exit 3
fi

missing=
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)
  # the query gives one word for each architecture that the package is there for
  case $state in installed*) ;; *) missing="$missing $package" ;; esac
done

if [ -z "$missing" ]; then
  echo "deps: everything is installed"
  exit 0
fi

echo "deps: missing:$missing"
install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" != 0 ]; then
  if command -v sudo >/dev/null; then
    echo "deps: needs root; run: sudo sh -c 'apt-get update && $install'" >&2
  else
    echo "deps: needs root; run: su -c 'apt-get update && $install'" >&2
  fi
  exit 3
fi

export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update -q && $install; }; then
  echo "deps: apt-get failed, see above" >&2
  exit 3
fi
echo "deps: installed:$missing"
