#!/bin/sh
# tests/bench/folders.sh FORAGE [N] - a mixed folder of N files (1000) kept in step: one JSON object with the seconds
# of the first run, of runs where nothing changed (the median of five), of one after 1 % changed, and of one after
# the whole folder moved. The program's start, and the home's opening and closing, are part of each.
set -eu
forage=$1 n=${2:-1000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/in"
i=0
while [ $i -lt "$n" ]; do # of the repository's own texts, each a little different
    to=$work/in/d$((i % 20))/e$((i % 7))
    [ $i -ge 140 ] || mkdir -p "$to"
    case $((i % 5)) in
    0) { echo "# Page $i"; cat docs/sync.md; } >"$to/p$i.md" ;;
    1) { echo "Note $i"; cat data/sample/boats.txt; } >"$to/p$i.txt" ;;
    2) { echo "<h1>Page $i</h1>"; cat data/sample/history.html; } >"$to/p$i.html" ;;
    3) { echo "name,value"; echo "row $i,$i"; cat tests/data/formats/wells.csv; } >"$to/p$i.csv" ;;
    4) { echo "/* $i */"; cat data/files/skip_counts.c; } >"$to/p$i.c" ;;
    esac
    i=$((i + 1))
done
find "$work/in" -type f -exec touch -d '1 hour ago' {} + # none so young that its content has to be read
seconds() { # seconds FOLDER: of a run
    began=$(date +%s%N)
    "$forage" sync "$work/in" --name in --home "$work/home" --json >"$work/out" 2>"$work/err" || {
        cat "$work/err" "$work/out" >&2
        exit 1
    }
    echo "$began $(date +%s%N)" | awk '{printf "%.3f\n", ($2 - $1) / 1e9}'
}
count() { sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p" "$work/out"; }
first=$(seconds) chunks=$(count chunks) created=$(count created)
for _ in 1 2 3 4 5; do seconds; done >"$work/again"
again=$(sort -n "$work/again" | sed -n 3p) unchanged=$(count unchanged)
for f in $(find "$work/in" -name '*.md' | head -n $((n / 100))); do echo "One line more." >>"$f"; done
changed=$(seconds) updated=$(count updated)
mkdir "$work/in/all" && mv "$work"/in/d* "$work/in/all"
moved=$(seconds) n_moved=$(count moved)
printf '{"files":%d,"bytes":%d,"chunks":%d,"first_s":%s,"created":%d,"again_s":%s,"unchanged":%d,"changed_s":%s,"updated":%d,"moved_s":%s,"moved":%d}\n' \
    "$n" "$(find "$work/in" -type f -printf '%s\n' | awk '{s += $1} END {print s}')" "$chunks" "$first" "$created" "$again" "$unchanged" "$changed" "$updated" "$moved" "$n_moved"
