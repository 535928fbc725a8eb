#!/bin/sh
# The web page in a real browser: Debian's chromium, driven by Playwright (.ci/deps.sh check puts
# playwright-core and axe-core into build/node). Its pictures, every view at four widths in both themes, lie in
# build/pictures afterwards, or in PICTURES=DIR.
. "$(dirname "$0")/tap.sh"
chromium=$(command -v chromium)
export NODE_PATH="${NODE_PATH:-$PWD/build/node/node_modules}"
without() { skip_all "the page in a browser" "$*"; }
command -v node >/dev/null || without "node is not installed"
[ -n "$chromium" ] || without "chromium is not installed"
node -e 'require("playwright-core")' 2>/dev/null || without "playwright-core is not installed (.ci/deps.sh check)"
timeout 120 node "$(dirname "$0")/e2e/browser.js" "$chromium" || without "chromium does not start here"
mkdir -p "$work/pictures"
writer=
model=models/smollm2-135m-instruct-q4_1.gguf
if [ -f $model ]; then
    serve "$work/writer" --log-level off --model $model --kv-ram 64M
    writer=$url
    post /ingest '{"documents":[{"id":"heron","title":"Heron",
        "text":"The grey heron stands one metre tall. It eats fish and frogs and stands still for hours."}]}' >/dev/null
else
    echo "# no language model here: writing is not looked at"
fi
# A browser that stalls (its own processes waiting for each other, on a machine that is short of memory
# or of shared memory) is asked once more, with a service of its own; what it sees decides, not how soon.
failed() { grep '^not ok' "$work/checks" | grep -qv 'has been closed'; } # closed: by the time limit
for try in 1 2; do
    serve "$work/reader$try" --log-level off
    # shellcheck disable=SC2086 # none, or one word
    timeout -k 5 500 node "$(dirname "$0")/e2e/page.js" "$url" "$chromium" "$work/pictures" $writer >"$work/checks"
    rc=$?
    [ $rc -eq 124 ] || [ $rc -eq 137 ] || break
    failed && break
done
if [ $rc -eq 124 ] || [ $rc -eq 137 ]; then
    failed || without "chromium stalled twice"
fi
cat "$work/checks"
mkdir -p "${PICTURES:=${BUILD:-build}/pictures}"
cp "$work"/pictures/*.png "$PICTURES"
exit $rc
