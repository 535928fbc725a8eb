#!/bin/sh
# .ci/check-layers.sh over small trees: an arrow that is not in the table is told, one that is taken away again ("!")
# too, also where it leads through another folder.
set -u
here=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0
check() { # NAME STATUS
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; fi
}
tree() { # TABLE: a fresh tree with a store, a service above it, routes and commands above that
    rm -rf "$work/t"
    mkdir -p "$work/t/.ci" "$work/t/data/store" "$work/t/retrieval/service" "$work/t/server/routes" "$work/t/server/cli" \
        "$work/t/kernels" "$work/t/tests/kernels/error"
    echo '/* nothing */' | tee "$work/t/kernels/error.c" "$work/t/tests/kernels/error_test.c" \
        > "$work/t/tests/kernels/error/error_test.c"
    printf '%s\n' "$1" > "$work/t/.ci/layers.txt"
    echo '#pragma once' > "$work/t/data/store/store.h"
    echo '#include "data/store/store.h"' > "$work/t/retrieval/service/service.h"
    echo '#include "retrieval/service/service.h"' > "$work/t/server/routes/app.c"
    echo '#include "retrieval/service/service.h"' > "$work/t/server/cli/cli.c"
}
layers() { (cd "$work/t" && "$here/.ci/check-layers.sh" 2>&1); }
rows='kernels:
data/store:
retrieval/service: data/store
server/routes: retrieval/service'

tree "$rows
server/cli: server/routes"
layers > "$work/said"; check "a tree that keeps to its table passes" $?
echo '#include "data/store/store.h"' >> "$work/t/server/routes/app.c"
layers > "$work/said"; check "what lies further below may be included, too" $?

tree "$rows !data/store
server/cli: server/routes"
layers > "$work/said"; check "what is taken away need not be asked for" $?
echo '#include "data/store/store.h"' >> "$work/t/server/routes/app.c"
said=$(layers) && bad=1 || bad=0
[ "$said" = "server/routes/app.c:2: server/routes/ must not include data/store/" ] || bad=1
check "what is taken away may not be included" $bad

tree "$rows !data/store
server/cli: server/routes"
echo '#include "data/store/store.h"' >> "$work/t/server/cli/cli.c"
said=$(layers) && bad=1 || bad=0
[ "$said" = "server/cli/cli.c:2: server/cli/ must not include data/store/" ] || bad=1
check "nor by who reaches it through that folder alone" $bad

tree "$rows !data/shop
server/cli: server/routes"
said=$(layers) && bad=1 || bad=0
[ "$said" = ".ci/layers.txt: server/routes names !data/shop, which stands on no row above" ] || bad=1
check "a name without a row is told" $bad
echo "1..$n"
