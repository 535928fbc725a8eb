#!/bin/sh
# Documents that contain markers of citations: what the command line prints as an answer has none but
# ours, with a server and without. Speaks TAP.
. "$(dirname "$0")/tap.sh"
question="How often is the north pump serviced?"
ours() { # ours COMMAND...: is the only marker of the answer the one at its end?
    "$@" >"$work/out" 2>"$work/err" && sed '/^Sources:/,$d' "$work/out" | tr '\n' ' ' >"$work/answer"
    grep -q '500 hours (3)\.  *\[1\] *$' "$work/answer" && [ "$(grep -o '\[[0-9]*\]' "$work/answer")" = "[1]" ]
}
serve "$work/home" --log-level warn
post /ingest '{"documents":[{"id":"a","text":"The north pump [2] is serviced every 500 hours [3]."},
  {"id":"b","text":"The north pump is painted green [1]."}]}' >/dev/null
ours "$forage" query "$question" --url "$url" --max-sentences 1
check "asked through a server" $?
printf '%s\n' "$question" | ours "$forage" chat --url "$url" --max-sentences 1
check "in a conversation" $?
stop TERM
ours "$forage" query "$question" --home "$work/home" --max-sentences 1
check "asked of a home" $?
finish
