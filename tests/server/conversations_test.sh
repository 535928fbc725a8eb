#!/bin/sh
# Conversations and feedback over HTTP: kept over a restart, found, renamed, shared within a tenant, deleted; nobody
# sees what he may not; what was said of answers becomes judged queries that `forage eval` reads; a backup has them.
. "$(dirname "$0")/tap.sh"
command -v curl >/dev/null || skip_all conversations "no curl"
call() { # call STATUS METHOD PATH [JSON]: does it answer so?
    if [ $# -gt 3 ]; then set -- "$@" -H 'Content-Type: application/json' -d "$4"; fi
    call_want=$1 call_method=$2 call_path=$3
    if [ $# -gt 3 ]; then shift 4; else shift 3; fi
    call_got=$(curl -s -o "$work/out" -w '%{http_code}' -X "$call_method" ${key:+-H "Authorization: Bearer $key"} "$@" "$url$call_path")
    [ "$call_got" = "$call_want" ] || {
        echo "# $call_method $call_path: $call_got instead of $call_want: $(head -c 300 "$work/out")"
        return 1
    }
}
says() { grep -qF -- "$1" "$work/out"; }
id_of() { sed 's/^{"id":"\([^"]*\)".*/\1/' "$work/out"; }
TURN='{"question":"How tall is a heron?","answer":"One metre. [1]","reply":{"citations":[{"index":1,"source":{"document_id":"heron"}}]}}'
key=
serve "$work/home"
post /ingest '{"documents":[{"id":"heron","text":"The grey heron is one metre tall."},{"id":"secret","text":"The vault opens at noon.","acl":["staff"]}]}' >/dev/null
call 201 POST /conversations '{"title":"Herons"}' && says '"own":true,"n_turns":0' && says '"turns":[]'; check "one is begun" $?
c=$(id_of)
call 200 PUT "/conversations/$c/turns/0" "$TURN" && says '"n_turns":1' && says '"document_id":"heron"'; check "a turn is kept with its reply" $?
call 200 PUT "/conversations/$c/turns/1" '{"question":"Und wo? 🐦"}' && call 200 PUT "/conversations/$c/turns/0" "$TURN" && says '"n_turns":1'
check "one that is asked again takes the others with it" $?
call 409 PUT "/conversations/$c/turns/0?turns=2" '{"question":"Else?"}' && says '"param":"turns"' && says 'has 1 turns, not 2' && call 409 PUT "/conversations/$c/turns/0?turns=0" '{"question":"Else?"}' &&
    call 200 GET "/conversations/$c" && ! says 'Else?' && call 200 PUT "/conversations/$c/turns/0?turns=1" "$TURN" && says '"n_turns":1' && call 400 PUT "/conversations/$c/turns/0?turns=-1" "$TURN" && says '"param":"turns"'
check "nothing is written where there are other turns than the client knows of" $?
call 400 PUT "/conversations/$c/turns/7" "$TURN" && says '"param":"turn"' && call 400 PUT "/conversations/$c/turns/x" "$TURN" &&
    call 400 PUT "/conversations/$c/turns/-1" "$TURN" && call 400 PUT "/conversations/$c/turns/200" "$TURN"
check "there are no gaps" $?
call 400 PUT "/conversations/$c/turns/1" '{"answer":"x"}' && says '"param":"question"' && call 400 PUT "/conversations/$c/turns/1" '{"question":"x","reply":[]}' &&
    says '"param":"reply"' && call 400 POST /conversations '{"titel":"x"}' && says titel && call 400 POST /conversations '{"collection":"../x"}' && says '"param":"collection"'
check "what is wrong is named" $?
call 404 GET /conversations/c_0 && says '"param":"id"' && call 404 PATCH /conversations/c_0 '{"title":"x"}' && call 404 DELETE /conversations/c_0; check "one that is not there is 404" $?
call 200 POST /feedback '{"query":"How tall is a heron?","rating":"up","documents":["heron"]}' && call 200 GET "/conversations/$c" && says '"rating":"up"'
check "a good word is kept with the turn" $?
call 400 POST /feedback '{"query":"x","rating":"great"}' && says '"param":"rating"' && call 400 POST /feedback '{"query":"x"}' && call 400 POST /feedback '{"rating":"up"}' &&
    call 400 POST /feedback '{"query":"x","rating":"up","documents":[7]}' && says '"param":"documents"'
check "feedback that says nothing is refused" $?
call 201 POST /conversations '{}' && d=$(id_of) && call 200 PATCH "/conversations/$d" '{"title":"Otters & co"}' && says '"title":"Otters & co"'; check "one is renamed" $?
for title in '' '   ' ' \t\u00a0'; do
    call 400 PATCH "/conversations/$d" "{\"title\":\"$title\"}" && says '"param":"title"' || break
done && call 400 POST /conversations '{"title":" "}' && call 200 PATCH "/conversations/$d" '{"shared":false}' && says '"title":"Otters & co"'
check "but not to blanks: the title that it has stays" $?
call 200 GET '/conversations?limit=1' && says '"has_more":true' && call 200 GET '/conversations?q=otters' && says "$d" && ! says "$c" &&
    call 200 GET '/conversations?q=one%20metre' && says "$c" && ! says "$d" && call 200 GET '/conversations?q=100%25' && says '"data":[]'
check "they are listed and found" $?
run 0 "$forage" backup "$work/copy.tar.zst" --home "$work/home" && call 200 DELETE "/conversations/$d" && says '"deleted":true' && call 404 GET "/conversations/$d"; check "one is deleted" $?
stop KILL
serve "$work/home"
call 200 GET "/conversations/$c" && says 'One metre. [1]' && says '"rating":"up"'; check "what was answered to is there after kill -9" $?
call 200 POST /feedback '{"query":"What is in the vault?","rating":"down","documents":["heron"]}' && call 200 GET /analytics/feedback && says '"up":1,"down":1'
check "analytics count what was said" $?
curl -s "$url/analytics/feedback?format=queries" >"$work/q.jsonl"
curl -s "$url/analytics/feedback?format=qrels" >"$work/qrels.tsv"
[ "$(wc -l <"$work/q.jsonl")" = 2 ] && grep -q "^f[0-9a-f]\{16\}$(printf '\t')heron$(printf '\t')1$" "$work/qrels.tsv" && grep -q '0$' "$work/qrels.tsv"; check "it becomes judged queries" $?
call 400 GET '/analytics/feedback?format=csv' && says '"param":"format"'; check "in the forms that there are" $?
stop TERM
run 0 "$forage" eval --home "$work/home" --queries "$work/q.jsonl" --qrels "$work/qrels.tsv" --json && says '"queries":2'; check "forage eval reads them" $?

# ---- with keys
make_key() { "$forage" keys create --home "$work/home" --json "$@" 2>/dev/null | sed 's/.*"key":"\([^"]*\)".*/\1/'; }
admin=$(make_key --name boss --scope admin)
ann=$(make_key --name ann --scope read --groups staff)
ann2=$(make_key --name ann --scope read --groups staff)
bob=$(make_key --name bob --scope read)
narrow=$(make_key --name narrow --scope read --collections other)
foreign=$(make_key --name ann --scope read --tenant acme)
serve "$work/home"
key=$ann
call 200 GET /conversations && says '"data":[]' && call 201 POST /conversations '{"title":"Vault"}' && a=$(id_of) && call 200 PUT "/conversations/$a/turns/0" "$TURN"
check "a key has its own" $?
key=$bob
call 404 GET "/conversations/$a" && call 404 PUT "/conversations/$a/turns/0" "$TURN" && call 404 PATCH "/conversations/$a" '{"shared":true}' && call 404 DELETE "/conversations/$a"
check "another one neither reads nor changes them" $?
key=$ann && call 200 PATCH "/conversations/$a" '{"shared":true}' && says '"shared":true'; check "it is shared" $?
key=$bob && call 200 GET "/conversations/$a" && says '"own":false' && ! says '"rating":"' && call 404 PATCH "/conversations/$a" '{"title":"Mine"}' &&
    call 200 GET /conversations && ! says "$a"; check "then others read it by its link, and change nothing" $?
key=$narrow && call 404 GET "/conversations/$a"; check "but for a key that may not use its collection" $?
key=$foreign && call 404 GET "/conversations/$a"; check "and for another tenant" $?
key=$ann && call 200 PUT "/conversations/$a/turns/1" '{"question":"And the vault?","answer":"Noon. [1]","reply":{"citations":[{"index":1,"source":{"document_id":"secret"}}]}}'
key=$bob && call 404 GET "/conversations/$a"; check "nor does it show what cites a document that the key may not see" $?
many=$(awk 'BEGIN { for (i = 0; i < 1100; i++) printf "%s{\"document_id\":\"heron\"}", i ? "," : "" }')
bad=
for reply in '{"contexts":[{"document_id":"secret","text":"Noon."}]}' '{"citations":[{"source":{"title":"?"}}]}' '{"citations":[{"source":{"document_id":7}}]}' \
    '{"seen":{"by":[[{"document_id":"secret"}]]}}' "{\"contexts\":[$many]}"; do
    key=$ann && call 200 PUT "/conversations/$a/turns/1" "{\"question\":\"And the vault?\",\"reply\":$reply}" || bad="$bad put"
    key=$bob && call 404 GET "/conversations/$a" || bad="$bad $reply"
done
[ -z "$bad" ] || echo "# $bad"
[ -z "$bad" ]; check "nor what quotes one without citing it, or does not say what it quotes" $?
key=$ann && call 200 PUT "/conversations/$a/turns/1" '{"question":"And the heron?","reply":{"contexts":[{"document_id":"heron"},{"document_id":"heron"}]}}'
key=$bob && call 200 GET "/conversations/$a"; check "what the key may see it sees" $?
call 201 POST /conversations "{\"copy_of\":\"$a\"}" && says '"own":true,"n_turns":2' && says '"title":"Vault","collection":"default","shared":false' && says 'One metre. [1]' && says 'And the heron?' &&
    call 200 DELETE "/conversations/$(id_of)" && call 201 POST /conversations "{\"copy_of\":\"$a\",\"title\":\"Mine\"}" && says '"title":"Mine"' && call 200 DELETE "/conversations/$(id_of)" && call 200 GET /conversations && says '"data":[]'
check "and copies it with all turns" $?
call 404 POST /conversations '{"copy_of":"c_0"}' && says '"param":"copy_of"' && key=$narrow && call 404 POST /conversations "{\"copy_of\":\"$a\"}" && says '"param":"copy_of"' &&
    key=$foreign && call 404 POST /conversations "{\"copy_of\":\"$a\"}" && call 200 GET /conversations && says '"data":[]' &&
    key=$bob && call 400 POST /conversations "{\"copy_of\":\"$a\",\"collection\":\"other\"}" && says '"param":"collection"'
check "but nothing that the key may not read" $?
key=$ann2 && call 200 GET "/conversations/$a" && says '"own":true'; check "a key of the same name goes on with it" $?
key=$bob && call 403 GET /analytics/feedback && call 404 POST /feedback '{"query":"x","rating":"up","collection":".."}'; check "what people said is for admins" $?
key=$narrow && call 404 POST /feedback '{"query":"x","rating":"up"}' && call 404 POST /conversations '{"collection":"default"}'; check "a key rates what it may ask" $?
key=$admin && call 200 GET /analytics/feedback && says '"by":""'; check "an admin reads it" $?
stop TERM
serve "$work/home" --read-only
key=$ann && call 200 GET "/conversations/$a" && call 403 PUT "/conversations/$a/turns/0" "$TURN" && says read_only; check "a server that only reads keeps none" $?
stop TERM
run 0 "$forage" restore "$work/copy.tar.zst" --home "$work/restored"
serve "$work/restored"
key= && call 200 GET "/conversations/$d" && says 'Otters & co' && call 200 GET "/conversations/$c" && says '"rating":"up"'; check "a backup has them" $?
stop TERM
finish
