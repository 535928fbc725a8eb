#!/bin/sh
# Includes point down only: server -> retrieval -> {engine, index, data} -> kernels.
set -u
bad=0
forbid() { # ROOM may not include any of the other rooms named
    room=$1
    shift
    for other in "$@"; do
        if grep -n "^[[:space:]]*#[[:space:]]*include \"$other/" "$room"/*.[ch] 2>/dev/null; then
            echo "$room/ must not include $other/" >&2
            bad=1
        fi
    done
}
forbid kernels data index engine retrieval server
forbid data index engine retrieval server
forbid index data engine retrieval server
forbid engine data index retrieval server
forbid retrieval server
# Libraries never print, exit, or read the environment; FORAGE_CPU and FORAGE_NUMA in kernels/cpu.c are the exception.
for room in kernels data index engine retrieval; do
    if grep -nE '(^|[^_a-zA-Z0-9])(printf|puts|putchar|perror|exit|abort|getenv)[[:space:]]*\(' "$room"/*.c |
        grep -v '^kernels/cpu.c:'; then
        echo "$room/: libraries neither print nor exit nor read the environment" >&2
        bad=1
    fi
    if grep -nE 'fprintf[[:space:]]*\([[:space:]]*(stderr|stdout)' "$room"/*.c; then
        echo "$room/: libraries do not print" >&2
        bad=1
    fi
done
# Names of files are unique across the tree, so that one name means one file.
twice=$(ls kernels/*.[ch] data/*.[ch] index/*.[ch] engine/*.[ch] retrieval/*.[ch] server/*.[ch] |
    sed 's|.*/||' | sort | uniq -d)
[ -z "$twice" ] || { echo "file names used twice: $twice" >&2; bad=1; }
for f in kernels/*.[ch] data/*.[ch] index/*.[ch] engine/*.[ch] retrieval/*.[ch] server/*.[ch]; do
    lines=$(wc -l <"$f")
    [ "$lines" -le 1000 ] || { echo "$f has $lines lines: two subjects, two files" >&2; bad=1; }
done
exit $bad
