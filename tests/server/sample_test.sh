#!/bin/sh
# The handbook in data/sample, asked the questions of sample_questions.jsonl: the main job from end to
# end, by the figures of `forage eval` and by single answers as a user sees them. Speaks TAP.
. "$(dirname "$0")/tap.sh"
# at_least KEY BOUND: the figure of that name in the evaluation
at_least() {
    value=$(sed -n "s/.*\"$1\":\([0-9.][0-9.]*\).*/\1/p" "$work/out")
    [ -n "$value" ] && awk "BEGIN { exit !($value >= $2) }" || { echo "# $1 is ${value:-missing}, not $2"; return 1; }
}
ask() { # ask QUESTION [OPTION...]
    "$forage" query --home "$work/home" "$@" >"$work/out" 2>"$work/err"
}

files=$(find data/sample -type f | wc -l)
"$forage" ingest data/sample --home "$work/home" >"$work/out" 2>"$work/err" &&
    grep -q "^$files created, 0 updated, 0 unchanged, 0 failed" "$work/out"
check "every file of the handbook goes in: Markdown, HTML, text, a manual page, gzip" $?

"$forage" eval --home "$work/home" --queries tests/server/sample_questions.jsonl \
    --qrels tests/server/sample_qrels.tsv --json >"$work/out" 2>"$work/err"
check "the questions are evaluated" $?
at_least contains_gold 0.9; check "nine of ten answers contain a right answer" $?
at_least citations_verified 1; check "every citation is verified" $?
at_least 'success@1' 0.9; check "nine of ten questions find their document first" $?
at_least answerable_kept 0.95; check "answerable questions are not refused" $?
at_least recall 0.5; check "half of what the handbook does not answer is refused, or more" $?
cp "$work/out" "$work/evaluation"

set -- --queries tests/server/sample_questions.jsonl --qrels tests/server/sample_qrels.tsv --json
"$forage" eval --home "$work/home" "$@" --tune-alpha >"$work/out" 2>"$work/err" &&
    tuned=$(sed -n 's/.*,"ndcg":\([0-9.]*\).*/\1/p' "$work/out") &&
    default=$(sed -n 's/.*"default_ndcg":\([0-9.]*\).*/\1/p' "$work/out") &&
    awk "BEGIN { exit !($tuned >= $default && $tuned > 0) }" &&
    "$forage" eval --home "$work/home" "$@" --no-answers >"$work/out" 2>"$work/err" &&
    grep -q "\"ndcg@10\":$tuned" "$work/out"
check "a dense weight is tuned, kept with the collection and used" $?
"$forage" eval --home "$work/none" "$@" --tune-alpha >"$work/out" 2>"$work/err"
[ $? -eq 1 ] && [ ! -e "$work/none" ]; check "tuning makes no home where there is none" $?
set --

ask "Which option of fenlog checks the rows but writes nothing?" && grep -q "dry-run" "$work/out" &&
    grep -q "data/sample/fenlog.1" "$work/out"
check "an answer out of a manual page names the page" $?
ask "How much does a date by radiocarbon cost?" && grep -q "420 euros" "$work/out" &&
    grep -q "data/sample/peat-cores.md.gz" "$work/out"
check "an answer out of a gzipped file names the file" $?
echo "How long is the toad fence?" | ask - && grep -q "620 metres" "$work/out"; check "a question comes on standard input" $?
ask "How long is the toad fence?" && grep -q "620 metres" "$work/out" && ! grep -q "<p>\|<h2>" "$work/out"
check "an answer out of HTML carries no tags" $?
ask "How long is the toad fence?" --json && grep -q '"status":"answered"' "$work/out" &&
    grep -q '"verified":true' "$work/out" && ! grep -q '"verified":false' "$work/out"
check "its citations are verified in the JSON form too" $?
ask "How long is the toad fnece?" && sed -n 1p "$work/out" | grep -qx "(asked as: How long is the toad fence?)" &&
    grep -q "620 metres" "$work/out" && ask "How long is the toad fnece?" --output md &&
    sed -n 1p "$work/out" | grep -qx "[*]Asked as: How long is the toad fence?[*]" &&
    ask "How long is the toad fnece?" --json && grep -q '"by":"spelling"' "$work/out"
check "a misspelt word is mended, and every form of the answer says so" $?
# The question that README.md asks by the command line is one of those above, answer included.
example=$(sed -n 's/^build\/forage query "\([^"]*[?]\)".*/\1/p' README.md | head -n 1)
gold=$(grep -F "\"text\":\"$example\"" tests/server/sample_questions.jsonl | sed -n 's/.*"answers":\["\([^"]*\)".*/\1/p')
[ -n "$example" ] && [ -n "$gold" ] && ask "$example" && grep -q "$gold" "$work/out"
check "the question of the README is answered" $?
ask "What is the password of the wireless network?" && grep -q "do not answer this" "$work/out" &&
    ! grep -q "^Sources" "$work/out"
check "a question that the handbook does not answer is refused in words" $?
"$forage" ingest data/sample --home "$work/home" >"$work/out" 2>"$work/err" &&
    grep -q "$files unchanged" "$work/out"
check "the same handbook again changes nothing" $?
finish
