#!/bin/sh
# tests/coverage.sh BUILD - what the tests of a build with --coverage ran: lines of each room, and the ten files
# with the most lines that none ran. SIMD files of levels that this machine lacks are left out of nothing: they count.
set -eu
build=$1
out=$build/coverage.csv
gcovr --root . --csv -o "$out" --exclude 'tests/' --exclude 'build/' --gcov-ignore-parse-errors=negative_hits.warn \
    --exclude-unreachable-branches "$build" 2>"$build/coverage.log" ||
    gcovr --root . --csv -o "$out" --exclude 'tests/' --exclude 'build/' "$build" 2>"$build/coverage.log"
# filename,line_total,line_covered,...
awk -F, 'NR > 1 { split($1, p, "/"); all[p[1]] += $2; run[p[1]] += $3 }
    END { print "| room | lines | run by tests |"; print "|---|---|---|"
        n = split("kernels data index engine retrieval server", rooms, " ")
        for (i = 1; i <= n; i++) if (all[rooms[i]])
            printf "| `%s` | %d | %.1f %% |\n", rooms[i], all[rooms[i]], 100 * run[rooms[i]] / all[rooms[i]] }' "$out"
echo
echo "Most lines that no test runs:"
awk -F, 'NR > 1 { print $2 - $3, $1, $3 "/" $2 }' "$out" | sort -rn | head -n 10 | sed 's/^/  /'
