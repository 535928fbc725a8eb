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
trap 'kill $pids 2>/dev/null; wait; rm -rf "$home"' EXIT
mkdir -p "$home/pictures"
# start NAME OPTION...: a service; its URL is in $url
start() {
    name=$1
    shift
    "$forage" serve --home "$home/$name" --listen 127.0.0.1:0 --port-file "$home/$name.port" --log-level off "$@" &
    pids="$pids $!"
    for _ in $(seq 600); do
        test -s "$home/$name.port" && break
        sleep 0.1
    done
    url=http://127.0.0.1:$(cat "$home/$name.port")
}
writer=
model=models/smollm2-135m-instruct-q4_1.gguf
if [ -f $model ]; then
    start writer --model $model --kv-ram 64M
    writer=$url
    curl -s -H 'Content-Type: application/json' "$url/ingest" -d '{"documents":[{"id":"heron","title":"Heron",
        "text":"The grey heron stands one metre tall. It eats fish and frogs and stands still for hours."}]}' >/dev/null
else
    echo "# no language model here: writing is not looked at"
fi
# A browser that stalls (its own processes waiting for each other, on a machine that is short of memory
# or of shared memory) is asked once more, with a service of its own; what it sees decides, not how soon.
failed() { grep '^not ok' "$home/checks" | grep -qv 'has been closed'; } # closed: by the time limit
for try in 1 2; do
    start "reader$try"
    # shellcheck disable=SC2086 # none, or one word
    timeout -k 5 200 node "$here/e2e/page.js" "$url" "$chromium" "$home/pictures" $writer >"$home/checks"
    rc=$?
    [ $rc -eq 124 ] || [ $rc -eq 137 ] || break
    failed && break
done
if [ $rc -eq 124 ] || [ $rc -eq 137 ]; then
    failed || skip "chromium stalled twice"
fi
cat "$home/checks"
test -n "${PICTURES:-}" && cp "$home"/pictures/*.png "$PICTURES"
exit $rc
