#!/bin/sh
# The web page as people use it, in Debian's chromium; with a language model where there is one.
. "$(dirname "$0")/in_browser.sh"
needs_browser "the page in a browser" chromium
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
stories() {
    serve "$work/keyed$1" --log-level off
    keyed=$url
    serve "$work/reader$1" --log-level off
    # shellcheck disable=SC2086 # none, or one word
    timeout -k 5 500 node "$e2e/page.js" "$url" "$browser" "$work/pictures" "$keyed" $writer >"$work/checks"
}
played stories
