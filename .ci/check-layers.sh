#!/bin/sh
# Includes point down only: every `#include "folder/file.h"` is held against .ci/layers.txt.
set -u
bad=0
sources=$(ls ./*/*.[ch] ./*/*/*.[ch] | sed 's|^\./||' | grep -v '^tests/\|^build')
# shellcheck disable=SC2086 # a list of names
awk '
FNR == NR { # the table: may[folder, below] for all that lies below
    sub(/#.*/, "")
    if (!NF) next
    folder = $1
    if (sub(/:$/, "", folder) != 1) { print FILENAME ": no colon: " $0; bad = 1 }
    row[folder] = 1
    may[folder, folder] = 1
    for (i = 2; i <= NF; i++) {
        if (substr($i, 1, 1) == "!") continue
        if (!($i in row)) { print FILENAME ": " folder " names " $i ", which stands on no row above"; bad = 1 }
        for (below in row) if ((($i), below) in may) may[folder, below] = 1
    }
    for (i = 2; i <= NF; i++) {
        if (substr($i, 1, 1) != "!") continue
        if (!(substr($i, 2) in row)) { print FILENAME ": " folder " names " $i ", which stands on no row above"; bad = 1 }
        delete may[folder, substr($i, 2)]
    }
    next
}
FNR == 1 {
    here = FILENAME
    sub(/\/[^\/]*$/, "", here)
    if (!(here in row)) { print FILENAME ": " here "/ has no row in .ci/layers.txt"; bad = 1 }
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    there = $0
    sub(/^[^"]*"/, "", there); sub(/".*/, "", there)
    if (there ~ /\.inc$/) next # a file of the build
    sub(/\/[^\/]*$/, "", there)
    arrows++
    if (!((here, there) in may)) { print FILENAME ":" FNR ": " here "/ must not include " there "/"; bad = 1 }
}
END { exit bad }' .ci/layers.txt $sources >&2 || bad=1
# Libraries never print, exit, or read the environment; FORAGE_CPU and FORAGE_NUMA in kernels/cpu.c are the exception.
libraries=$(echo "$sources" | grep '\.c$' | grep -v '^server/')
# shellcheck disable=SC2086
if grep -nE '(^|[^_a-zA-Z0-9])(printf|puts|putchar|perror|exit|abort|getenv)[[:space:]]*\(' $libraries |
    grep -v '^kernels/cpu.c:'; then
    echo "libraries neither print nor exit nor read the environment" >&2
    bad=1
fi
# shellcheck disable=SC2086
if grep -nE 'fprintf[[:space:]]*\([[:space:]]*(stderr|stdout)' $libraries; then
    echo "libraries do not print" >&2
    bad=1
fi
# Waits end by the monotonic clock (kernels/cond.h).
# shellcheck disable=SC2086
if grep -nE 'pthread_cond_(timed|clock)wait|CLOCK_REALTIME' $sources |
    grep -vE '^(kernels/cond\.h|kernels/clock\.h):'; then
    echo "waits end by fo_cond_wait_until, times since 1970 come from kernels/clock.h" >&2
    bad=1
fi
# A test's first lines say what it covers.
for f in tests/*/*_test.c tests/*/*/*_test.c; do
    [ -e "$f" ] || continue
    head -n 1 "$f" | grep -q '^/\*' || { echo "$f does not begin with what it covers" >&2; bad=1; }
done
# Names of files are unique across the tree, so that one name means one file.
twice=$(echo "$sources" | sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || { echo "file names used twice: $twice" >&2; bad=1; }
for f in $sources; do
    lines=$(wc -l <"$f")
    [ "$lines" -le 1000 ] || { echo "$f has $lines lines: two subjects, two files" >&2; bad=1; }
done
exit $bad
