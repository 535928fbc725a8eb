#!/bin/sh
# The web page in a real browser: Debian's chromium, driven by Playwright (.ci/deps.sh check puts
# playwright-core into build/node). PICTURES=DIR keeps the screenshots.
set -u
forage=${BUILD:-build}/forage
here=$(dirname "$0")
chromium=$(command -v chromium)
export NODE_PATH="${NODE_PATH:-$PWD/build/node/node_modules}"
skip() {
    echo "1..1"
    echo "ok 1 - page: $* # SKIP"
    exit 0
}
command -v node >/dev/null || skip "node is not installed"
[ -n "$chromium" ] || skip "chromium is not installed"
node -e 'require("playwright-core")' 2>/dev/null || skip "playwright-core is not installed (.ci/deps.sh check)"
timeout 120 node "$here/e2e/browser.js" "$chromium" || skip "chromium does not start here"
home=$(mktemp -d)
pids=
trap 'for p in $pids; do kill $p 2>/dev/null; done; rm -rf "$home"' EXIT
mkdir -p "$home/pictures"
"$forage" serve --home "$home/home" --listen 127.0.0.1:0 --port-file "$home/port" --log-level off &
pids=$!
for _ in $(seq 600); do
    test -s "$home/port" && break
    sleep 0.1
done
timeout 400 node "$here/e2e/page.js" "http://127.0.0.1:$(cat "$home/port")" "$chromium" "$home/pictures"
rc=$?
test -n "${PICTURES:-}" && cp "$home"/pictures/*.png "$PICTURES"
exit $rc
