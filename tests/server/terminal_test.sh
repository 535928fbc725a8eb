#!/bin/sh
# Nothing that a document, a request or a model file says acts on a terminal or forges a line of the
# log: escapes, C1 controls and marks of direction come out as text. Speaks TAP.
. "$(dirname "$0")/tap.sh"

# Bytes that no output may hold: controls but tab and line end, C1 as UTF-8, marks of direction,
# separators of lines; and all of it is UTF-8.
acts='[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xd8\x9c'
tame() { # tame FILE...: is there nothing in it that acts, and anything at all?
    cat "$@" >"$work/seen"
    [ -s "$work/seen" ] || return 1
    ! LC_ALL=C grep -qaP "$acts" "$work/seen" && iconv -f utf-8 -t utf-8 "$work/seen" >/dev/null
}
shown() { grep -qF "$1" "$work/out" "$work/err"; } # shown TEXT: the escape stands there for eyes

# Title, address, id and text of one document; U+202E turns what follows around.
printf '%s\n' '{"id":"heron\u009b2J\u202e","title":"Heron \u001b]0;owned\u0007\u202egnp.exe","uri":"file:\u001b[31mx\u0085y","text":"The grey heron \u001b[5mstands\u001b[0m one \u009b31mmetre tall\u2066.","metadata":{"k\u001b":"v\u009b"}}' \
    >"$work/docs.jsonl"
printf '{"id":"bad\\u009b2J","text":"x","nonsense\\u001b[2J":1}\n' >"$work/bad.jsonl"
run 0 "$forage" ingest "$work/docs.jsonl" --home "$work/home"; check "the document goes in" $?
run 0 "$forage" query "How tall is the grey heron?" --home "$work/home" &&
    tame "$work/out" && shown 'Heron \u{1b}]0;owned\u{7}\u{202e}gnp.exe' && shown 'file:\u{1b}[31mx\u{85}y' &&
    shown 'heron\u{9b}2J'
check "an answer and its sources are text" $?
run 0 "$forage" query "How tall is the grey heron?" --home "$work/home" --no-generate && tame "$work/out"
check "contexts are text" $?
run 0 "$forage" query "How tall is the grey heron?" --home "$work/home" --json && tame "$work/out" &&
    grep -qF 'heron\u009b2J\u202e' "$work/out"
check "JSON says the same in escapes" $?
printf 'How tall is the grey heron?\n/sources\n/no\033such\n' | "$forage" chat --home "$work/home" >"$work/out" 2>"$work/err"
tame "$work/out" && shown '/no\u{1b}such'; check "a conversation is text" $?
run 1 "$forage" ingest "$work/bad.jsonl" --home "$work/home"
tame "$work/err" && shown 'bad\u{9b}2J'; check "what is wrong with a document is text" $?
run 1 "$forage" query x --home "$work/home" --filter '{"type":"\u001b[2J\u202e"}'; tame "$work/err"
check "what is wrong with a filter is text" $?
run 2 "$forage" query x --home "$work/home" "$(printf -- '--\033[2J')"; tame "$work/err"
check "what is wrong with an option is text" $?
printf '{"id":"q\\u001b[2J","text":"How tall is the grey heron?"}\n' >"$work/q.jsonl"
printf 'q\033[2J\theron\t1\n' >"$work/qrels.tsv"
run 0 "$forage" eval --home "$work/home" --queries "$work/q.jsonl" --qrels "$work/qrels.tsv" --json
tame "$work/out"; check "an evaluation is text" $?

for format in text json; do
    serve "$work/home" --log-format $format --log-level debug
    tab=$(printf '\t')
    curl -s -H "$(printf 'X-Request-Id: r\302\2332J\342\200\256')" "$url/x%1b%5b2J%c2%9b%e2%80%ae%0aforged" >"$work/out"
    tame "$work/out"; check "a reply to a hostile path is text ($format)" $?
    curl -s "$url/documents/heron%C2%9B2J%E2%80%AE" >"$work/out"
    tame "$work/out" && grep -q '"text"' "$work/out"; check "a document is sent as text ($format)" $?
    curl -s -H 'Content-Type: application/json' "$url/query" \
        -d '{"query":"How tall is the grey heron? \u001b[2J\u202e\u009b","collection":"default"}' >"$work/out"
    tame "$work/out"; check "an answer is sent as text ($format)" $?
    run 0 "$forage" query "How tall is the grey heron?" --url "$url" && tame "$work/out"
    check "the service's answer is printed as text ($format)" $?
    run 0 "$forage" query "How tall is the grey heron?" --url "$url" --json && tame "$work/out"
    check "and its JSON ($format)" $?
    run 1 "$forage" ingest "$work/bad.jsonl" --url "$url"; tame "$work/err"
    check "what the service finds wrong is printed as text ($format)" $?
    stop TERM
    tame "$log" && ! grep -q '^forged' "$log" && ! grep -q "$tab" "$log"; check "the log is text ($format)" $?
done
finish
