#!/bin/sh
# chat_turns_test.sh - ten turns of a conversation with a real model: each turn finds the tokens of all
# turns before it, so that it costs its own alone; `forage bench chat` tells.
. "$(dirname "$0")/tap.sh"
model=models/smollm2-135m-instruct-q4_1.gguf
[ -f "$model" ] || skip_all "ten turns" "no model is here (make models)"
serve "$work/home" --model "$model" --kv-ram 256M --log-level warn
check "the service starts" $?

# column NAME TURN: a figure of a turn, from 1
column() {
    sed -n "s/.*\"$1\":\[\([0-9.,]*\)\].*/\1/p" "$work/figures" | cut -d, -f"$2"
}
run 0 "$forage" bench chat --url "$url" --turns 10 --max-tokens 12 --json
cp "$work/out" "$work/figures"
rc=0
[ -n "$(column prompt_tokens 10)" ] || rc=1
for turn in 2 3 4 5 6 7 8 9 10; do
    # All of the prompt before, whole pages of it; the question, the answer and their marks are new.
    before=$(column prompt_tokens $((turn - 1)))
    [ "$(column cached_tokens $turn)" -ge $((before - 16)) ] || rc=1
    [ $(($(column prompt_tokens $turn) - $(column cached_tokens $turn))) -le 80 ] || rc=1
done
check "a turn costs its own tokens" $rc

printf 'The harbour master keeps the keys of the boathouse. The boathouse opens at nine.\n' >"$work/keys.txt"
"$forage" ingest "$work/keys.txt" --url "$url" >/dev/null 2>&1
printf '%s\n' "When does the boathouse open?" "And who keeps its keys?" "Thanks!" >"$work/questions"
run 0 "$forage" bench chat --url "$url" --collection default --questions "$work/questions" --json
cp "$work/out" "$work/figures"
rc=0
for turn in 1 2 3; do
    case $(column first_visible_ms $turn) in '' | 0.0) rc=1 ;; esac
done
[ "$(column prompt_tokens 3)" = 0 ] || rc=1
check "every turn of a conversation with documents shows words, thanks cost none" $rc

printf '%s\n' "When does the boathouse open?" "And who keeps its keys?" "Thanks!" |
    "$forage" chat --url "$url" >"$work/out" 2>"$work/err"
grep -q 'nine' "$work/out" && grep -q 'harbour master' "$work/out" && grep -q 'You are welcome' "$work/out"
check "forage chat follows a conversation" $?

curl -sN "$url/query" -H 'Content-Type: application/json' \
    -d '{"query":"When does the boathouse open?","stream":true,"cache":"bypass"}' >"$work/out"
draft=$(grep -n '^event: draft' "$work/out" | cut -d: -f1)
token=$(grep -n '^event: token' "$work/out" | head -n 1 | cut -d: -f1)
[ -n "$draft" ] && [ -n "$token" ] && [ "$draft" -lt "$token" ] &&
    grep -A1 '^event: draft' "$work/out" | grep -q '"answer":".*nine.*"citations":\[{' &&
    grep -q '"timings":{"queue_ms":.*"first_visible_ms":.*"tokens_per_s":' "$work/out"
check "the documents' own words come before the model's" $?
stop TERM; check "the service stops cleanly" $?
finish
