#!/bin/sh
# The web page's scripts by themselves, where a browser would show by chance what comes late, is called off or cannot be
# read. In node, without a browser or a service. Speaks TAP.
. "$(dirname "$0")/tap.sh"
command -v node >/dev/null || skip_all "the page's scripts" "node is not installed"
timeout -k 5 60 node "$(dirname "$0")/e2e/scripts.js" server/web
