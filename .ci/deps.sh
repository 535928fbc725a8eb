#!/bin/sh
# .ci/deps.sh [run|test|check] - install what Debian 12 lacks for building Forage (run), for its tests
# too, or for `make check` and `make fuzz` besides. Says what it installs; does nothing when all is there.
set -eu
packages="gcc libc6-dev make pkg-config xxd libsqlite3-dev libmicrohttpd-dev libcjson-dev
libopenblas-dev libssl-dev libxml2-dev libmd4c-dev libutf8proc-dev libstemmer-dev zlib1g-dev
libroaring-dev libcurl4-openssl-dev"
case ${1:-run} in
run) ;;
test) packages="$packages libcmocka-dev" ;;
check) packages="$packages libcmocka-dev clang clang-format libclang-rt-14-dev cppcheck" ;;
*) echo "usage: $0 [run|test|check]" >&2; exit 2 ;;
esac
missing=
for p in $packages; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
command -v apt-get >/dev/null || {
    echo "Forage needs these packages (Debian's names):$missing" >&2
    exit 1
}
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
echo "Installing Debian packages:$missing"
export DEBIAN_FRONTEND=noninteractive
$sudo apt-get -qq update
# shellcheck disable=SC2086 # a list of names
$sudo apt-get -qq install -y --no-install-recommends $missing >/dev/null
