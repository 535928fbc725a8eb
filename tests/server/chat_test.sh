#!/bin/sh
# forage chat line by line from a pipe: of a home, and of a running service. Speaks TAP.
. "$(dirname "$0")/tap.sh"
chat() { "$forage" chat "$@" >"$work/out" 2>"$work/err"; }

printf '%s\n' '{"id":"heron","text":"The grey heron stands one metre tall. It eats fish and frogs."}' \
    '{"id":"owl","text":"The barn owl hunts mice at night."}' >"$work/docs.jsonl"
"$forage" ingest "$work/docs.jsonl" --home "$work/home" >"$work/out" 2>"$work/err"
check "documents go in" $?

cat >"$work/lines" <<'END'
/sources
How tall is the grey heron?
/sources
And what does it eat?

/help
/nonsense
/new
Who won the chess championship of 1972?
/quit
What does the owl hunt?
END
chat --home "$work/home" <"$work/lines"; check "it ends with /quit" $?
cp "$work/out" "$work/whole"
grep -q '^Nothing has been asked yet' "$work/out"; check "there are no sources before a question" $?
grep -q '^The grey heron stands one metre tall. \[1\]' "$work/out"; check "a question is answered" $?
grep -q '^  \[1\] heron' "$work/out"; check "its sources are shown on demand" $?
grep -q 'It eats fish and frogs\. \[1\]' "$work/out"; check "a follow-up question is understood" $?
grep -q '^There is no /nonsense' "$work/out"; check "an unknown command is named" $?
grep -q '^The documents do not answer this' "$work/out"; check "what nothing answers is refused" $?
! grep -q 'mice' "$work/out"; check "nothing is answered after /quit" $?
printf 'How tall is the grey heron?' | chat --home "$work/home" --sources && grep -q '^  \[1\] heron' "$work/out"
check "a line without an end is a question too" $?
chat --home "$work/none" </dev/null
[ $? -eq 1 ] && [ -s "$work/err" ]; check "a home that is not there is an error" $?

serve "$work/home"
chat --url "$url" <"$work/lines" && cmp -s "$work/out" "$work/whole"
check "a service says what the home says" $?
printf 'What?\n' | chat --url "$url" --collection nowhere
[ $? -eq 1 ] && grep -q nowhere "$work/err"; check "an error of the service is told" $?
stop TERM
finish
