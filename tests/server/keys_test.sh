#!/bin/sh
# forage keys on the command line, beside a server; what may be listened on; commands that bring a key.
. "$(dirname "$0")/tap.sh"
command -v curl >/dev/null || skip_all keys "no curl"

code() { curl -s -o "$work/out" -w '%{http_code}' "$@"; }
with() { # with KEY CURL-ARGUMENTS...: the status
    key=$1
    shift
    code -H "Authorization: Bearer $key" "$@"
}
make_key() { "$forage" keys create --home "$work/home" "$@" 2>/dev/null; }

run 2 "$forage" serve --home "$work/home" --listen 0.0.0.0:0 && grep -q 'has no keys' "$work/err"
check "an address that others reach is refused where there are no keys" $?
serve "$work/home"
[ "$(code "$url/collections")" = 200 ]; check "on loopback nobody needs a key" $?
run 0 "$forage" keys create --home "$work/home" --name all --scope admin --json &&
    grep -q '^{"id":"k_[0-9a-f]*","key":"fk_[0-9a-f_]*"}$' "$work/out"
check "a key is made beside a server, as JSON" $?
admin=$(sed 's/.*"key":"\([^"]*\)".*/\1/' "$work/out")
is_on() { [ "$(code "$url/collections")" = 401 ]; }
wait_for is_on; check "then everybody needs one" $?
[ "$(with "$admin" "$url/collections")" = 200 ]; check "who has it is let in" $?
curl -s -D - -o /dev/null "$url/stats" | grep -qi '^WWW-Authenticate: Bearer'
check "a refusal says how to ask" $?
[ "$(code "$url/")" = 200 ] && [ "$(code "$url/health")" = 200 ] && [ "$(code "$url/ready")" = 200 ]
check "the page and the probes need none" $?
! grep -qF "${admin#fk_*_}" "$work/home/keys" && [ "$(stat -c %a "$work/home/keys")" = 600 ]
check "its secret is not kept" $?
reader=$(make_key --name r --scope read --collections notes --groups staff)
run 0 "$forage" keys list --home "$work/home" && [ "$(wc -l <"$work/out")" = 2 ] && grep -q ' r .*notes; staff' "$work/out" &&
    ! grep -q fk_ "$work/out"; check "keys are listed without their secrets" $?
run 0 "$forage" keys list --home "$work/home" --output md && grep -q ' | r | read | default | notes | staff |  |$' "$work/out"; check "as a table of Markdown, too" $?

sees_reader() { [ "$(with "$reader" "$url/collections")" = 200 ]; }
wait_for sees_reader
echo 'Herons eat fish in the pond.' >"$work/heron.txt"
run 0 env FORAGE_KEY="$admin" "$forage" ingest "$work/heron.txt" --url "$url" --collection notes
check "ingest brings the key of FORAGE_KEY" $?
run 0 env FORAGE_KEY="$reader" "$forage" query "What do herons eat?" --url "$url" --collection notes &&
    grep -q fish "$work/out"; check "query does" $?
run 0 "$forage" query "What do herons eat?" --url "$url" --collection notes --api-key "$reader" &&
    grep -q fish "$work/out"; check "and that of --api-key" $?
run 1 "$forage" query "What do herons eat?" --url "$url" --collection notes &&
    grep -q '^forage: the server answered 401: .*asks for a key.*FORAGE_KEY' "$work/err"
check "without one the server's sentence is told, and where a command takes it from" $?
run 1 env FORAGE_KEY="$reader" "$forage" stats --url "$url" &&
    grep -q '^forage: the server answered 403: .*the scope metrics' "$work/err"
check "a scope that is missing is told" $?
run 0 env FORAGE_KEY="$admin" "$forage" stats --url "$url"; check "stats brings it too" $?
run 1 env FORAGE_KEY="$reader" "$forage" ingest "$work/heron.txt" --url "$url" --collection notes &&
    grep -q "^forage: the server answered 403: .* lacks the scope ingest; 'forage keys create --scope ingest' " "$work/err"
check "a key that reads brings nothing in, and is told what makes one that does" $?

echo 'Herons eat gold of the board.' >"$work/board.txt"
run 0 env FORAGE_KEY="$admin" "$forage" ingest "$work/board.txt" --url "$url" --collection notes --acl board &&
    run 0 env FORAGE_KEY="$reader" "$forage" query "What do herons eat?" --url "$url" --collection notes --no-generate &&
    ! grep -q gold "$work/out" && grep -q fish "$work/out"; check "what is for others is not found" $?
bringer=$(make_key --name b --scope ingest)
brings() { run 0 env FORAGE_KEY="$bringer" "$forage" ingest "$work/heron.txt" --url "$url" --collection other; }
wait_for brings; check "a key that ingests alone brings documents in" $?
[ "$(with "$bringer" "$url/documents?collection=other")" = 403 ]; check "and reads none" $?

id=$("$forage" keys list --home "$work/home" | sed -n 's/^\(k_[0-9a-f]*\)  r .*/\1/p')
run 0 "$forage" keys revoke "$id" --home "$work/home"; sleep 1
[ "$(with "$reader" "$url/collections")" = 401 ]; check "a revoked key is refused a second later" $?
run 1 "$forage" keys revoke "$id" --home "$work/home" && grep -q 'revoked already' "$work/err"
check "and is revoked once" $?
lost=$("$forage" keys create --home "$work/home" --name 'a lost one' --scope read 2>/dev/null)
its_id=k_$(echo "$lost" | cut -c 4-19)
run 1 "$forage" keys revoke 'a lost one' --home "$work/home" && grep -q "is the name of $its_id; a key is revoked by its id" "$work/err"
check "whoever gives a key's name is told its id" $?
run 0 "$forage" keys revoke "$lost" --home "$work/home" && grep -qx "$its_id is revoked" "$work/out" &&
    run 1 "$forage" keys revoke 'a lost one' --home "$work/home" && grep -q "there is no key 'a lost one'" "$work/err"
check "a key that was found is revoked by itself" $?
brief=$("$forage" keys create --home "$work/home" --name brief --scope read --expires 3s 2>"$work/err"); sleep 1
[ "$(with "$brief" "$url/collections")" = 200 ] && sleep 3 && [ "$(with "$brief" "$url/collections")" = 401 ]
check "a key whose time is over is refused" $?
curl -s -H "Authorization: Bearer $brief" "$url/collections" | grep -q 'or its time is over'
check "and its refusal says that this may be why" $?
run 0 "$forage" keys list --home "$work/home" --all && grep -q 'brief.*; expired' "$work/out" &&
    run 0 "$forage" keys list --home "$work/home" && ! grep -q brief "$work/out"
check "and listed as such" $?
run 2 "$forage" keys create --home "$work/home" --name b --scope read --expires soon && grep -q 'soon' "$work/err"
check "a time that is none is refused" $?
run 2 "$forage" keys create --home "$work/home" --name x --scope root && grep -q "'root' is no scope" "$work/err"
check "a scope that there is not is refused by name" $?
# The line is there before the reply is: nothing is waited for.
audited() { grep -q "$1" "$work/home/audit.log"; }
[ "$(with "$admin" -X DELETE "$url/collections/notes")" = 200 ] &&
    audited '"act":"DELETE /collections/{name}","what":"/collections/notes","who":"k_.*"status":200' &&
    audited '"act":"keys revoke","what":"'"$id"
check "what an admin did stands in the audit log" $?
stop TERM; run 0 "$forage" index verify --home "$work/home"; check "the home is sound with keys in it" $?

# On all addresses with keys; --insecure asks nobody and says so.
tap_listen() { "$forage" serve --home "$work/home" --listen 0.0.0.0:0 --port-file "$work/all" "$@" 2>"$work/log.all" & }
tap_listen
pid=$! services="$services $pid"
has_all() { [ -s "$work/all" ] || ! kill -0 "$pid" 2>/dev/null; }
wait_for has_all; all=http://127.0.0.1:$(cat "$work/all")
[ "$(code "$all/collections")" = 401 ] && [ "$(with "$admin" "$all/collections")" = 200 ]
check "with keys all addresses may be listened on" $?
stop TERM; rm -f "$work/all"
tap_listen --insecure
pid=$! services="$services $pid"
wait_for has_all; all=http://127.0.0.1:$(cat "$work/all")
[ "$(code "$all/collections")" = 200 ] && grep -q 'insecure.*asked for no key' "$work/log.all"
check "--insecure asks nobody, and says so" $?
stop TERM
sed -i 's/"name":"all"/"name":"alt"/' "$work/home/keys"
run 1 "$forage" serve --home "$work/home" --listen 127.0.0.1:0 && grep -q 'keys is damaged' "$work/err"
check "a damaged file of keys is no open door" $?
rm "$work/home/keys"
serve "$work/home"
grep -q 'keys_gone.*audit.log tells of keys' "$log"; check "a home that has lost its keys says so at the start" $?
stop TERM
serve "$work/fresh"
! grep -q keys_gone "$log"; none=$?
stop TERM
"$forage" keys create --home "$work/fresh" --name only --scope read >/dev/null 2>&1
"$forage" keys revoke "$("$forage" keys list --home "$work/fresh" | sed -n 's/^\(k_[0-9a-f]*\) .*/\1/p')" --home "$work/fresh" 2>"$work/err"
serve "$work/fresh"
[ $none -eq 0 ] && ! grep -q keys_gone "$log" && [ "$(code "$url/collections")" = 401 ]
check "and one that never had any, or whose last was revoked, does not" $?
stop TERM
# A tier that lets in one request a second: commands wait their turn.
serve "$work/slow" --tier 'one: requests=1' --address-tier one
ok=0
for i in 1 2 3; do run 0 "$forage" collections --url "$url" || ok=1; done
check "what comes too soon for a tier waits, and goes out again" $ok
for i in 1 2 3; do code "$url/collections" >/dev/null; done
grep -q 'this address may have 1 request a second (tier one); try again in 1 s' "$work/out"
check "others are told what the tier allows" $?
finish
