#!/bin/sh
# Each limit of a request, lowered by its flag: what is at it passes, what is past it has its own refusal.
. "$(dirname "$0")/tap.sh"
command -v curl >/dev/null || skip_all limits "no curl"

# past STATUS PARAM PATH BODY: the refusal of what is past a limit
past() {
    [ "$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: application/json' "$url$3" -d "$4")" = "$1" ] &&
        grep -qF "$2" "$work/out"
}
serve "$work/home" --max-query 32 --max-top-k 5 --max-batch 2 --max-filter 3 --max-json-depth 8 --max-headers 1K --max-body 64K \
    --header-timeout 1
d='{"text":"Herons eat fish."}'
past 200 created /ingest "{\"documents\":[$d,{\"id\":\"b\",\"text\":\"x\"}]}"; check "a batch at its limit" $?
past 400 '"param":"documents"' /ingest "{\"documents\":[$d,$d,$d]}"; check "a batch past it" $?
past 413 too_large /ingest "{\"documents\":[{\"text\":\"$(head -c 70000 /dev/zero | tr '\0' x)\"}]}"; check "a body past it" $?
past 200 contexts /search '{"query":"12345678901234567890123456789012"}'; check "a question at its limit" $?
past 400 '"param":"query"' /search '{"query":"123456789012345678901234567890123"}'; check "a question past it" $?
past 200 contexts /search '{"query":"herons","top_k":5}'; check "top_k at its limit" $?
past 400 'between 1 and 5' /search '{"query":"herons","top_k":6}'; check "top_k past it" $?
long=123456789012345678901234567890123
says() { printf '{"role":"%s","content":"%s"}' "$1" "$2"; }
past 200 contexts /search "{\"messages\":[$(says user "$long"),$(says user "${long%3}")]}"; check "the last message at the limit of a question" $?
past 400 '"param":"messages[1].content"' /search "{\"messages\":[$(says user a),$(says user "$long")]}"; check "and past it" $?
past 400 '"param":"messages[0].content"' /query "{\"messages\":[$(says user "$long")]}"; check "of a question that is answered too" $?
past 200 choices /v1/chat/completions "{\"model\":\"forage/default\",\"messages\":[$(says user "${long%3}")]}"; check "a chat at it" $?
past 400 '"param":"messages"' /v1/chat/completions "{\"model\":\"forage/default\",\"messages\":[$(says user "$long")]}"; check "and past it" $?
past 400 '"param":"input"' /v1/responses "{\"model\":\"forage/default\",\"input\":\"$long\"}"; check "a response past it" $?
tool() { # tool WORDS NAME ARGUMENTS: what a tool says
    past 200 "$1" /mcp "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":{$3}}}"
}
tool '"isError":false' search "\"query\":\"${long%3}\",\"limit\":5" && tool '"isError":false' ask "\"question\":\"${long%3}\""
check "tools at it" $?
tool 'query must have at most 32 bytes' search "\"query\":\"$long\"" &&
    tool 'question must have at most 32 bytes' ask "\"question\":\"$long\""; check "and past it" $?
tool 'limit must be between 1 and 5' search '"query":"herons","limit":6'; check "and past top_k" $?
e='{"type":"exists","key":"a"}'
past 200 contexts /search "{\"query\":\"herons\",\"filter\":{\"type\":\"or\",\"filters\":[$e,$e]}}"; check "a filter at its limit" $?
past 413 'at most 3 are taken' /search "{\"query\":\"herons\",\"filter\":{\"type\":\"or\",\"filters\":[$e,$e,$e]}}"
check "a filter past it" $?
past 200 created /ingest '{"documents":[{"id":"m","text":"x","metadata":{"a":{"b":{"c":{"d":1}}}}}]}'; check "JSON at its depth" $?
past 400 'nested too deep' /ingest '{"documents":[{"id":"m","text":"x","metadata":{"a":{"b":{"c":{"d":{"e":{"f":1}}}}}}}]}'
check "JSON past it" $?
[ "$(curl -s -o "$work/out" -w '%{http_code}' -H "X-Long: $(head -c 1100 /dev/zero | tr '\0' x)" "$url/health")" = 431 ]
check "headers past their limit" $?
grep -q '"code":"headers_too_large"' "$work/out"; check "which has a name" $?
past 400 '"param":"timeout_ms"' /search '{"query":"herons","timeout_ms":600001}'; check "a timeout past its limit" $?
stop TERM
serve "$work/home"
awk 'BEGIN { for (i = 0; i < 400000; i++) print "Heron " i " eats fish number " i " in the pond." }' >"$work/large.txt"
[ "$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: text/plain' --data-binary @"$work/large.txt" "$url/ingest?id=large&timeout_ms=1")" = 408 ] &&
    grep -q '"param":"timeout_ms"' "$work/out"; check "reading a document ends with timeout_ms" $?
[ "$(curl -s -o "$work/out" -w '%{http_code}' "$url/documents/large")" = 404 ]; check "and nothing of it is stored" $?
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "{\"id\":\"n%d\",\"text\":\"Heron %d wades.\",\"metadata\":{\"n\":%d}}\n", i, i, i }' >"$work/many.ndjson"
[ "$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: application/x-ndjson' --data-binary @"$work/many.ndjson" "$url/ingest?collection=many")" = 200 ]; check "many documents" $?
[ "$(curl -s -o "$work/out" -w '%{http_code}' -X POST "$url/admin/snapshot?timeout_ms=1")" = 408 ] && grep -q '"param":"timeout_ms"' "$work/out" &&
    [ -z "$(ls "$work/home/backups")" ]; check "a backup ends with timeout_ms, and leaves nothing" $?
documents() { curl -s "$url/collections" | grep -o '"name":"many"[^}]*' | grep -o '"documents":[0-9]*' | cut -d: -f2; }
all='%7B%22type%22:%22gte%22,%22key%22:%22n%22,%22value%22:0%7D'
[ "$(curl -s -o "$work/out" -w '%{http_code}' -X DELETE "$url/documents?collection=many&filter=$all&timeout_ms=1")" = 408 ] && grep -q '"param":"timeout_ms"' "$work/out"
check "deleting by a condition ends with timeout_ms" $?
gone=$(grep -o '[0-9]* documents were deleted' "$work/out" | cut -d' ' -f1)
[ "$gone" -lt 20000 ] && [ "$(documents)" = "$((20000 - gone))" ]; check "and says how many went" $?
bad=
for route in "GET /documents" "DELETE /documents" "POST /admin/snapshot" "DELETE /collections/many" "GET /conversations" "POST /conversations" \
    "GET /conversations/c_1" "PATCH /conversations/c_1" "DELETE /conversations/c_1" "PUT /conversations/c_1/turns/0" "POST /sources/x/sync" "DELETE /sources/x"; do
    [ "$(curl -s -o "$work/out" -w '%{http_code}' -X "${route% *}" -H 'Content-Type: application/json' "$url${route#* }?timeout_ms=0")" = 400 ] &&
        grep -q '"param":"timeout_ms"' "$work/out" || bad="$bad $route"
done
[ -z "$bad" ]; check "a time of nothing is refused" $?
[ "$(curl -s -o "$work/out" -w '%{http_code}' -X DELETE "$url/collections/many?timeout_ms=1")" = 408 ] && grep -q '"param":"timeout_ms"' "$work/out" &&
    [ "$(documents)" = "$((20000 - gone))" ]; check "deleting a collection ends with timeout_ms, and all of it is there" $?
curl -s -o "$work/out" -X DELETE "$url/documents?collection=many&filter=$all" && grep -q "\"deleted\":$((20000 - gone))," "$work/out"; check "what is left goes without one" $?
stop TERM
for wrong in "--max-query 65K" "--max-top-k 1001" "--max-batch 0" "--max-filter 1025" "--max-json-depth 7" "--max-headers 1M"; do
    # shellcheck disable=SC2086 # an option and its value
    run 2 "$forage" serve --home "$work/home" --listen 127.0.0.1:0 $wrong; check "$wrong is refused" $?
done
corpus='{"id":"a","text":"Herons wade."}'
{ sleep 2; echo "$corpus"; } | "$forage" index build --input - --home "$work/built" --time-limit 1 >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q -- '--time-limit: 1 s are over' "$work/err"; check "an offline build ends with --time-limit" $?
echo "$corpus" | run 0 "$forage" index build --input - --home "$work/built" --time-limit 600 && grep -q '^1 created' "$work/out"
check "and goes on when it is run again" $?
serve "$work/home" --min-free-memory 1000T
past 503 memory_low /search '{"query":"herons"}'; check "without memory what has a body is refused" $?
curl -s "$url/metrics" >"$work/out"; grep -q '^forage_access_refused_total{reason="memory_low"} 1$' "$work/out"
check "metrics count it, and are answered" $?
grep -q memory_low "$log"; check "and the log says so" $?
stop TERM
serve "$work/home" --min-free-disk 1000T
past 507 disk_low /ingest "{\"documents\":[$d]}"
[ "$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: text/plain' "$url/ingest" -d "Herons wade.")" = 507 ]
check "without room on the disk nothing is taken in" $?
past 200 contexts /search '{"query":"herons"}'; check "and questions are answered" $?
stop TERM
finish
