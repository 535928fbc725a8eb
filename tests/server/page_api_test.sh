#!/bin/sh
# What the web page asks of the service beside questions: who one is, keys over HTTP, documents searched and sorted and
# deleted by name, first questions. Speaks TAP.
. "$(dirname "$0")/tap.sh"
command -v curl >/dev/null || skip_all "page api" "no curl"
key=
call() { # call STATUS METHOD PATH [JSON]: does it answer so?
    call_got=$(curl -s -o "$work/out" -w '%{http_code}' -X "$2" ${key:+-H "Authorization: Bearer $key"} ${4:+-H 'Content-Type: application/json' -d "$4"} "$url$3")
    [ "$call_got" = "$1" ] || {
        echo "# $2 $3: $call_got instead of $1: $(head -c 300 "$work/out")"
        return 1
    }
}
says() { grep -qF -- "$1" "$work/out"; }
ids() { { cat "$work/out"; echo; } | sed 's/"id":"/\n&/g' | sed -n 's/^"id":"\([^"]*\)".*/\1/p' | tr '\n' ' '; }
lists() { # lists ARGUMENTS IDS
    call 200 GET "/documents?$1" && [ "$(ids)" = "$2" ] || {
        echo "# $1: $(ids)"
        return 1
    }
}
serve "$work/home"
post /ingest '{"documents":[{"id":"a/1","title":"zander","text":"A fish."},{"id":"a/2","title":"Avocet","text":"A wader with a long bill, seen on the mud flats of the coast.","metadata":{"year":1999}},
 {"id":"b/3","title":"","uri":"Mill.txt","text":"When the red flag is up, the mill is closed and nobody may enter. "},{"id":"b/4","title":"heron","text":"Tall.","metadata":{"year":2024}}]}' >/dev/null
lists '' 'a/1 a/2 b/3 b/4 ' && lists 'order=-id' 'b/4 b/3 a/2 a/1 ' && lists 'order=title' 'a/2 b/4 b/3 a/1 ' && lists 'order=-title' 'a/1 b/3 b/4 a/2 ' &&
    lists 'order=-size&limit=2' 'b/3 a/2 '; check "documents stand in the order that is asked for" $?
lists 'order=title&limit=1' 'a/2 ' && says '"has_more":true' && lists 'order=title&limit=2&after=a/2' 'b/4 b/3 ' && lists 'order=title&limit=2&after=b/3' 'a/1 ' && says '"has_more":false' &&
    lists 'order=-size&limit=2&after=a/2' 'a/1 b/4 '; check "page by page" $?
lists 'q=HERON' 'b/4 ' && lists 'q=mill' 'b/3 ' && lists 'q=a/' 'a/1 a/2 ' && lists 'q=%25' '' && lists 'q=e&order=-title' 'a/1 b/4 a/2 ' &&
    lists 'q=e&filter=%7B%22type%22:%22gte%22,%22key%22:%22year%22,%22value%22:1999%7D' 'a/2 b/4 '; check "and are found by name" $?
call 400 GET '/documents?order=colour' && says '"param":"order"' && call 404 GET '/documents?order=title&after=none' && says '"param":"after"' &&
    call 400 GET "/documents?q=$(printf '%0500d' 0)" && says '"param":"q"'; check "what is wrong is named" $?
call 200 DELETE '/documents?q=heron&dry_run=true' && says '"matched":1' && call 400 DELETE '/documents?q=' && says '"param":"filter"' &&
    call 200 DELETE '/documents?q=HERON' && says '"deleted":1' && lists '' 'a/1 a/2 b/3 '; check "and deleted so, counted first" $?
suggests() { call 200 GET /suggestions && says '"query":"What happens when the red flag is up?"'; }
wait_for suggests; check "a sentence makes a first question, because it is answered" $?
call 404 GET '/suggestions?collection=none' && call 400 GET '/suggestions?limit=9' && says '"param":"limit"'; check "of a collection that is there" $?
call 200 POST /feedback '{"query":"What is an avocet?","rating":"up"}' && call 200 GET /session && says '"keys":false' && says '"name":""' && says '"operate":true'; check "without keys everybody may do everything" $?

call 400 POST /keys '{"name":"x"}' && says '"param":"scopes"' && call 400 POST /keys '{"name":"x","scopes":["king"]}' && call 400 POST /keys '{"scopes":["read"]}' && says '"param":"name"' &&
    call 400 POST /keys '{"name":"x","scopes":["read"],"expires_days":0}' && call 400 POST /keys '{"name":"x","scopes":["read"],"collections":[1]}' && says '"param":"collections"' &&
    call 200 GET /keys && says '"data":[]'; check "a key that cannot be is not made" $?
call 201 POST /keys '{"name":"boss","scopes":["admin"]}' && says '"key":"fk_'; check "the first key is made" $?
admin=$(sed 's/.*"key":"\([^"]*\)".*/\1/' "$work/out") boss=$(sed 's/^{"id":"\([^"]*\)".*/\1/' "$work/out")
asked() { call 401 GET /session >/dev/null; }
wait_for asked; check "then everybody needs one" $?
key=$admin
call 201 POST /keys '{"name":"ann","scopes":["read"],"collections":["default"],"expires_days":30}' && ann=$(sed 's/.*"key":"\([^"]*\)".*/\1/' "$work/out") id=$(sed 's/^{"id":"\([^"]*\)".*/\1/' "$work/out") &&
    call 200 GET /keys && says "\"id\":\"$id\"" && says '"expires_at":"2' && ! says "$ann" && ! says hash; check "an admin makes others, and sees no secret" $?
call 200 GET /session && says "\"key\":\"$boss\"" && call 409 DELETE "/keys/$boss" && call 404 DELETE /keys/k_0; check "nobody revokes the key in his hand" $?
key=$ann
knows() { call 200 GET /session >/dev/null; }
wait_for knows && says '"name":"ann"' && says '"admin":false' && call 403 GET /keys && call 403 POST /keys '{"name":"x","scopes":["admin"]}' && call 403 DELETE "/keys/$boss"; check "who is no admin makes none" $?
key=$admin && call 200 DELETE "/keys/$id" && says '"revoked":true' && key=$ann
check "one is revoked" $?
refused() { call 401 GET /session >/dev/null; }
wait_for refused; check "and refused from then on" $?
grep -q 'POST /keys' "$work/home/audit.log" && grep -q 'DELETE /keys' "$work/home/audit.log"; check "the audit log knows both" $?
stop TERM
finish
