#!/bin/sh
# Questions whose answer stands on a known page, slide or row of files that other programs made: the first citation
# is of that place, of nineteen in twenty. tests/data/formats/questions.tsv asks, tests/bench/formats.sh counts. TAP.
. "$(dirname "$0")/tap.sh"
command -v pdftotext >/dev/null || skip_all places "no pdftotext"
sh tests/bench/formats.sh places >"$work/out" 2>"$work/err"
status=$?
tail -n 1 "$work/out" | sed 's/^/# /'
check "the first citation is of the page, slide or row that answers" $status
finish
