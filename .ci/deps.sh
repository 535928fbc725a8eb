#!/bin/sh
# .ci/deps.sh [run|static|test|coverage|check] - install what Debian 12 lacks for building Forage (run), for `make
# static`, for its tests, for `make coverage`, or for `make check` and `make fuzz` besides. Says what it installs; does
# nothing when all is there. With "names" before the word it only says what the packages are, a line each.
# With check comes what the tests of the web page and of /metrics drive: two browsers, node with
# playwright-core and axe-core (into build/node, which make clean removes) and promtool. Those tests skip without.
set -eu
packages="gcc libc6-dev make pkg-config xxd libsqlite3-dev libmicrohttpd-dev libcjson-dev
libssl-dev libxml2-dev libmd4c-dev libutf8proc-dev libstemmer-dev zlib1g-dev
libcurl4-openssl-dev libzip-dev libseccomp-dev libyaml-dev libarchive-dev libgnutls28-dev libexttextcat-dev poppler-utils"
names=
[ "${1-}" != names ] || { names=1; shift; }
case ${1:-run} in
run) ;;
static) packages="$packages dpkg-dev cmake libunistring-dev libacl1-dev libattr1-dev liblz4-dev libzstd-dev" ;;
test) packages="$packages libcmocka-dev curl tesseract-ocr" ;;
coverage) packages="$packages libcmocka-dev curl tesseract-ocr gcovr" ;;
check) packages="$packages libcmocka-dev curl tesseract-ocr clang clang-format libclang-rt-14-dev cppcheck" ;;
*) echo "usage: $0 [names] [run|static|test|coverage|check]" >&2; exit 2 ;;
esac
if [ -n "$names" ]; then
    # shellcheck disable=SC2086 # a list of names
    printf '%s\n' $packages
    exit 0
fi
sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
export DEBIAN_FRONTEND=noninteractive
missing=
for p in $packages; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q '^install ok installed$' || missing="$missing $p"
done
if [ -n "$missing" ]; then
    command -v apt-get >/dev/null || {
        echo "Forage needs these packages (Debian's names):$missing" >&2
        exit 1
    }
    echo "Installing Debian packages:$missing"
    $sudo apt-get -qq update
    # shellcheck disable=SC2086 # a list of names
    $sudo apt-get -qq install -y --no-install-recommends $missing >/dev/null
fi
[ "${1:-run}" = check ] || exit 0

# Tools by their commands: who has node from elsewhere keeps it.
playwright=1.60.0 # the newest for Debian's node 18
axe=4.10.3
missing=
while read -r command package; do
    command -v "$command" >/dev/null || missing="$missing $package"
done <<END
node nodejs
npm npm
chromium chromium
firefox-esr firefox-esr
promtool prometheus
END
if [ -n "$missing" ]; then
    echo "Installing Debian packages:$missing"
    # shellcheck disable=SC2086 # a list of names
    { $sudo apt-get -qq update && timeout 300 $sudo apt-get -qq install -y --no-install-recommends $missing >/dev/null; } ||
        { # cut short, dpkg would refuse whoever comes next
            $sudo dpkg --configure -a >/dev/null 2>&1 || :
            echo "deps: could not install$missing; the tests that need them are skipped"
        }
fi
if { [ ! -d build/node/node_modules/playwright-core ] || [ ! -d build/node/node_modules/axe-core ]; } && command -v npm >/dev/null; then
    echo "Fetching playwright-core $playwright and axe-core $axe into build/node"
    mkdir -p build/node
    timeout 120 npm install --prefix build/node --no-audit --no-fund --no-save --ignore-scripts --loglevel=error \
        "playwright-core@$playwright" "axe-core@$axe" >/dev/null ||
        echo "deps: no package registry; the test of the web page is skipped"
fi
