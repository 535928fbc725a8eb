# tests/server/in_browser.sh - what the tests of the web page share, which drive a browser of Debian by Playwright. A test
# sources it; it is no test itself. Pictures lie in build/pictures afterwards, or in PICTURES=DIR.
. "$(dirname "$0")/tap.sh"
export NODE_PATH="${NODE_PATH:-$PWD/build/node/node_modules}"
e2e=$(dirname "$0")/e2e

needs_browser() { # needs_browser TITLE PROGRAM: sets $browser; ends the test where it cannot be driven here
    browser_title=$1
    browser=$(command -v "$2")
    command -v node >/dev/null || skip_all "$1" "node is not installed"
    [ -n "$browser" ] || skip_all "$1" "$2 is not installed"
    node -e 'require("playwright-core")' 2>/dev/null || skip_all "$1" "playwright-core is not installed (.ci/deps.sh check)"
    timeout 120 node "$e2e/browser.js" "$browser" || skip_all "$1" "$2 does not start here"
    mkdir -p "$work/pictures"
}

failed() { grep '^not ok' "$work/checks" | grep -qv 'has been closed'; } # closed: by the time limit

# played FUNCTION: calls it with the number of the try; it leaves its checks in $work/checks and gives back its status. A
# browser that stalls (its own processes waiting for each other, on a machine that is short of memory or of shared
# memory) is asked once more, with a service of its own; what it sees decides, not how soon.
played() {
    for try in 1 2; do
        "$1" $try
        rc=$?
        [ $rc -eq 124 ] || [ $rc -eq 137 ] || break
        failed && break
    done
    if [ $rc -eq 124 ] || [ $rc -eq 137 ]; then
        failed || skip_all "$browser_title" "the browser stalled twice"
    fi
    cat "$work/checks"
    pictures=${PICTURES:-${BUILD:-build}/pictures}
    mkdir -p "$pictures"
    cp "$work"/pictures/*.png "$pictures" 2>/dev/null # of Firefox there are none
    exit $rc
}
