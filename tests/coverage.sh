#!/bin/sh
# tests/coverage.sh BUILD [ROOM...] - run the tests (of these rooms) of a build with --coverage, and say what they ran, and
# what those of other rooms ran before: so that a machine with little time goes room by room. Without a room all is run, from
# nothing. Lines of each room, and the ten files with the most lines that none ran. SIMD files of levels that this machine lacks are left
# out of nothing: they count. What a process counted it writes at its end, into a temporary folder, since a service may write
# nowhere else (serve --sandbox); one that was killed, or that reads documents, has no end and counts for nothing.
set -eu
build=$1
shift
counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT
mkdir -p "$counts$PWD"
if [ $# -gt 0 ]; then # a process adds to what is there
    find "$build" -name '*.gcda' | tar -cf - -T - | tar -xf - -C "$counts$PWD"
else
    find "$build" -name '*.gcda' -delete
fi
GCOV_PREFIX=$counts TEST_TIMEOUT=${TEST_TIMEOUT:-3600} tests/run.sh "$build" "$@" ||
    echo 'coverage: tests failed; what they ran counts all the same'
[ ! -d "$counts$PWD/$build" ] || cp -a "$counts$PWD/$build/." "$build/"
out=$build/coverage.csv
gcovr -j "$(nproc)" --root . --csv -o "$out" --exclude 'tests/' --exclude 'build/' --gcov-ignore-parse-errors \
    --exclude-unreachable-branches "$build" 2>"$build/coverage.log" || {
    tail -n 5 "$build/coverage.log" >&2
    exit 1
}
# filename,line_total,line_covered,...
awk -F, 'NR > 1 { split($1, p, "/"); all[p[1]] += $2; run[p[1]] += $3 }
    END { print "| room | lines | run by tests |"; print "|---|---|---|"
        n = split("kernels data index engine retrieval server", rooms, " ")
        for (i = 1; i <= n; i++) if (all[rooms[i]])
            printf "| `%s` | %d | %.1f %% |\n", rooms[i], all[rooms[i]], 100 * run[rooms[i]] / all[rooms[i]] }' "$out"
echo
echo "Most lines that no test runs:"
awk -F, 'NR > 1 { print $2 - $3, $1, $3 "/" $2 }' "$out" | sort -rn | head -n 10 | sed 's/^/  /'
