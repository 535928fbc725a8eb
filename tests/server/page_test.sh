#!/bin/sh
# The web page in Debian's chromium, driven by Playwright (npm install playwright-core, found through
# NODE_PATH). PICTURES=DIR keeps the screenshots.
set -u
forage=${BUILD:-build}/forage
here=$(dirname "$0")
chromium=$(command -v chromium)
if [ -z "$chromium" ] || ! command -v node >/dev/null || ! node -e 'require("playwright-core")' 2>/dev/null; then
    echo "1..1"
    echo "ok 1 - page: needs node, playwright-core and chromium # SKIP"
    exit 0
fi
home=$(mktemp -d)
pid=
trap 'test -n "$pid" && kill $pid 2>/dev/null; rm -rf "$home"' EXIT
mkdir -p "$home/pictures"
"$forage" serve --home "$home/home" --listen 127.0.0.1:0 --port-file "$home/port" --log-level off &
pid=$!
for _ in $(seq 300); do
    test -s "$home/port" && break
    sleep 0.1
done
node "$here/e2e/page.js" "http://127.0.0.1:$(cat "$home/port")" "$chromium" "$home/pictures"
rc=$?
test -n "${PICTURES:-}" && cp "$home"/pictures/*.png "$PICTURES"
exit $rc
