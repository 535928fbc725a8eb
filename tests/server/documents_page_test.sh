#!/bin/sh
# In a real browser: a cited page of a PDF with the passage marked, and a folder kept in step from the page.
. "$(dirname "$0")/in_browser.sh"
needs_browser "documents in a browser" chromium
command -v pdftoppm >/dev/null || skip_all "documents in a browser" "poppler-utils is not installed"
stories() {
    notes=$work/notes$1
    mkdir -p "$notes"
    printf '# Heron\n\nThe grey heron is one metre tall.\n' >"$notes/heron.md"
    cp tests/data/formats/words.png "$notes/"
    serve "$work/home$1" --log-level off --source "notes=$notes" --max-deletes 100%
    timeout -k 5 400 node "$e2e/sources.js" "$url" "$browser" "$work/pictures" tests/data/formats/columns.pdf "$notes" \
        >"$work/checks"
}
played stories
