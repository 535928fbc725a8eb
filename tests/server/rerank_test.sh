#!/bin/sh
# --rerank-model of the commands that ask a home, and of a service that is asked by MCP: the cross-encoder puts what was
# found in order. Speaks TAP.
. "$(dirname "$0")/tap.sh"
tests=$(dirname "$0")/clients
command -v curl >/dev/null || skip_all "a cross-encoder of the commands" "no curl"
python3=$(command -v python3) || skip_all "a cross-encoder of the commands" "no python3"

printf '%s\n' '{"id":"heron","text":"The grey heron stands one metre tall. It eats fish and frogs."}' \
    '{"id":"owl","text":"The barn owl hunts mice at night."}' >"$work/docs.jsonl"
mkdir "$work/bert" && "$python3" "$tests/small_bert.py" "$work/bert" scores &&
    run 0 "$forage" convert "$work/bert" "$work/cross.gguf" --progress none &&
    run 0 "$forage" ingest "$work/docs.jsonl" --home "$work/home"
check "a cross-encoder and a home" $?

scored() { grep -q '"scores":{[^}]*"rerank":-\{0,1\}[0-9]' "$work/out"; } # null without
ask() { run 0 "$forage" query "How tall is the grey heron?" --home "$work/home" --json "$@"; }
ask --no-generate --rerank-model "$work/cross.gguf" && scored; check "it scores what forage query finds" $?
ask --rerank-model "$work/cross.gguf" && scored; check "what is answered from, too" $?
ask --no-generate && ! scored; check "without one nothing is scored" $?

# Its weights mean nothing, and put the owl first: one context is the wrong one.
printf 'How tall is the grey heron?\n' >"$work/lines"
chat() { run 0 "$forage" chat --home "$work/home" --top-k 1 "$@" <"$work/lines"; }
chat && grep -q 'one metre tall' "$work/out" && chat --rerank-model "$work/cross.gguf" && ! grep -q 'one metre tall' "$work/out"
check "it puts in order what forage chat finds" $?
call='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"query":"How tall is the grey heron?","limit":1}}}'
mcp() { echo "$call" | run 0 "$forage" mcp --home "$work/home" --read-only "$@"; }
mcp && grep -q 'default/heron' "$work/out" && mcp --rerank-model "$work/cross.gguf" && grep -q 'default/owl' "$work/out"
check "and what forage mcp finds" $?
serve "$work/home" --rerank-model "$work/cross.gguf"
curl -s -H 'Content-Type: application/json' "$url/mcp" -d "$call" >"$work/out" && grep -q 'default/owl' "$work/out"
check "and what POST /mcp of a service finds" $?
stop TERM
finish
