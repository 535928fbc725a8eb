#!/bin/sh
# The Model Context Protocol as programs meet it: POST /mcp with its headers, statuses, keys and analytics;
# forage mcp on standard input and output, for a home and in front of a service.
. "$(dirname "$0")/tap.sh"
command -v curl >/dev/null || skip_all mcp "no curl"

META='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'
mkdir "$work/docs"
printf '# Boats\n\nThe rowing boat Grebe carries four people.\n' >"$work/docs/boats.md"
serve "$work/home"
run 0 "$forage" ingest "$work/docs" --url "$url"; check "documents are there" $?

mcp() { # mcp MESSAGE CURL-ARGUMENTS...: the status; the reply in $work/out
    message=$1
    shift
    curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: application/json' "$@" "$url/mcp" -d "$message"
}
ask='{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{"question":"How many people does the Grebe carry?"}}}'
[ "$(mcp "$ask")" = 200 ] && grep -q 'four people' "$work/out"; check "an older client asks" $?
new=$(printf '%s' "$ask" | sed "s|\"params\":{|&$META,|")
[ "$(mcp "$new" -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: ask')" = 200 ] &&
    grep -q '"resultType":"complete"' "$work/out"; check "a newer one does" $?
[ "$(mcp "$new" -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/call' -H 'Mcp-Name: search')" = 400 ] &&
    grep -q -- '-32020' "$work/out"; check "headers and message have to agree" $?
[ "$(mcp '{"jsonrpc":"2.0","method":"notifications/initialized"}')" = 202 ] && [ ! -s "$work/out" ]
check "a notification has no reply" $?
[ "$(curl -s -o "$work/out" -D "$work/err" -w '%{http_code}' "$url/mcp")" = 405 ] && grep -qi '^Allow: .*POST' "$work/err"
check "there is no stream to GET" $?
[ "$(mcp "$ask" -H 'Origin: https://evil.example')" = 403 ]; check "a page from elsewhere is refused" $?
[ "$(mcp "$ask" -H 'Host: evil.example')" = 421 ]; check "another name of this machine is refused" $?
counted() { curl -s "$url/analytics/queries?window=1h&order=hot" | grep -q 'How many people does the Grebe carry'; }
wait_for counted; check "questions are counted as all others" $?

# stdio in front of the service
lines() { # lines MESSAGE...: one a line
    for m; do printf '%s\n' "$m"; done
}
init='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}'
lines "$init" '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$ask" "$new" '' 'nonsense' |
    "$forage" mcp --url "$url" >"$work/out" 2>"$work/err" && [ "$(wc -l <"$work/out")" = 4 ] &&
    [ "$(grep -c 'four people' "$work/out")" = 2 ] && grep -q '"id":null,"error":{"code":-32700' "$work/out"
check "forage mcp --url passes messages on" $?
odd='{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{'$META',"uri":"forage://default/böats.md"}}'
lines "$odd" | "$forage" mcp --url "$url" >"$work/out" 2>"$work/err" && grep -q "does not exist" "$work/out"
check "a name that is no ASCII goes through a header" $?
lines "$ask" | "$forage" mcp --url http://127.0.0.1:9 >"$work/out" 2>"$work/err" && grep -q '"id":1,"error":{"code":-32603' "$work/out"
check "a service that is away is told to the assistant" $?
lines "$init" | "$forage" mcp --home "$work/home" >"$work/out" 2>"$work/err"
[ $? = 1 ] && [ ! -s "$work/out" ] && grep -q -- '--url' "$work/err"
check "a home that a server holds is not opened twice, and it says what to do" $?
lines "$init" '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' "$ask" | "$forage" mcp --home "$work/home" --read-only >"$work/out" 2>"$work/err" &&
    grep -q 'four people' "$work/out" && ! grep -q '"name":"ingest"' "$work/out"
check "it is read beside one" $?
lines "$init" >"$work/init" && run 2 "$forage" mcp --url "$url" --read-only <"$work/init" && grep -q -- '--read-only is for --home' "$work/err"
check "what a service may do is not said by --read-only" $?

reader=$("$forage" keys create --home "$work/home" --name r --scope read 2>/dev/null)
is_on() { [ "$(mcp "$ask")" = 401 ]; }
wait_for is_on; check "where there are keys, one is needed" $?
may() { [ "$(mcp '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' -H "Authorization: Bearer $reader")" = 200 ]; }
wait_for may && ! grep -q '"name":"ingest"' "$work/out" && grep -q '"name":"search"' "$work/out"
check "a key that reads has no tool to write" $?
lines "$ask" | FORAGE_KEY=$reader "$forage" mcp --url "$url" >"$work/out" 2>"$work/err" && grep -q 'four people' "$work/out"
check "forage mcp brings a key" $?
lines "$ask" | FORAGE_KEY='' "$forage" mcp --url "$url" >"$work/out" 2>"$work/err" && grep -q 'asks for a key' "$work/out"
check "without one the server's sentence is told" $?
stop TERM

# stdio on a home of its own
lines "$init" '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ingest","arguments":{"documents":[{"id":"w","text":"The weir is opened in March."}]}}}' \
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ask","arguments":{"question":"When is the weir opened?"}}}' |
    "$forage" mcp --home "$work/own" >"$work/out" 2>"$work/err" && grep -q '"created":1' "$work/out" &&
    grep -q '"answer":"The weir is opened in March' "$work/out"
check "documents come in and are asked" $?
run 0 "$forage" index verify --home "$work/own"; check "they are kept" $?
{ head -c 17000000 /dev/zero | tr '\0' ' '; echo; lines "$init"; } | "$forage" mcp --home "$work/own" >"$work/out" 2>"$work/err" &&
    [ "$(wc -l <"$work/out")" = 2 ] && grep -q 'longer than' "$work/out" && grep -q '"protocolVersion":"2025-11-25"' "$work/out"
check "a line that is too long is refused, and the next one is read" $?
{
    i=10
    while [ $i -lt 40 ]; do
        echo '{"jsonrpc":"2.0","id":'$i',"method":"tools/call","params":{"name":"ask","arguments":{"question":"What of number '$i'?"}}}'
        i=$((i + 1))
    done
    lines '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":39}}' \
        '{"jsonrpc":"2.0","id":"last","method":"ping"}'
} | "$forage" mcp --home "$work/own" >"$work/out" 2>"$work/err" && ! grep -q '"id":39' "$work/out" && grep -q '"id":"last"' "$work/out"
check "a request that was taken back is not answered" $?
finish
