#!/bin/sh
# The same stories of the web page in Debian's firefox-esr; every width and theme is looked at, and pictured, in chromium.
. "$(dirname "$0")/in_browser.sh"
needs_browser "the page in Firefox" firefox-esr
stories() {
    serve "$work/keyed$1" --log-level off
    keyed=$url
    serve "$work/reader$1" --log-level off
    timeout -k 5 500 node "$e2e/page.js" "$url" "$browser" "$work/pictures" "$keyed" >"$work/checks"
}
played stories
