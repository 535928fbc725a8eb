#!/bin/sh
# In a real browser (page_test.sh says which): a cited page of a PDF with the passage marked, and a folder kept in step from
# the page. PICTURES=DIR keeps the screenshots.
. "$(dirname "$0")/tap.sh"
chromium=$(command -v chromium)
export NODE_PATH="${NODE_PATH:-$PWD/build/node/node_modules}"
without() { skip_all "documents in a browser" "$*"; }
command -v node >/dev/null || without "node is not installed"
[ -n "$chromium" ] || without "chromium is not installed"
command -v pdftoppm >/dev/null || without "poppler-utils is not installed"
node -e 'require("playwright-core")' 2>/dev/null || without "playwright-core is not installed (.ci/deps.sh check)"
timeout 120 node "$(dirname "$0")/e2e/browser.js" "$chromium" || without "chromium does not start here"
failed() { grep '^not ok' "$work/checks" | grep -qv 'has been closed'; } # closed: by the time limit
for try in 1 2; do # a browser that stalls is asked once more
    notes=$work/notes$try
    mkdir -p "$work/pictures" "$notes"
    printf '# Heron\n\nThe grey heron is one metre tall.\n' >"$notes/heron.md"
    cp tests/data/formats/words.png "$notes/"
    serve "$work/home$try" --log-level off --source "notes=$notes" --max-deletes 100%
    timeout -k 5 400 node "$(dirname "$0")/e2e/sources.js" "$url" "$chromium" "$work/pictures" \
        tests/data/formats/columns.pdf "$notes" >"$work/checks"
    rc=$?
    [ $rc -eq 124 ] || [ $rc -eq 137 ] || break
    failed && break
done
if [ $rc -eq 124 ] || [ $rc -eq 137 ]; then
    failed || without "chromium stalled twice"
fi
cat "$work/checks"
test -n "${PICTURES:-}" && cp "$work"/pictures/*.png "$PICTURES"
exit $rc
