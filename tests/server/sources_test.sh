#!/bin/sh
# Sources of a running service: folders that it keeps in step by itself, watched; runs by request, dry runs, and how a
# source goes. Speaks TAP.
. "$(dirname "$0")/tap.sh"
command -v curl >/dev/null || skip_all sources "no curl"
call() { # call STATUS METHOD PATH: does it answer so?
    call_got=$(curl -s -o "$work/out" -w '%{http_code}' -X "$2" "$url$3")
    [ "$call_got" = "$1" ] || {
        echo "# $2 $3: $call_got instead of $1"
        return 1
    }
}
says() { grep -qF -- "$1" "$work/out"; }
source_says() { call 200 GET "/sources/$1" && says "$2"; } # source_says NAME TEXT
ids() { # ids COLLECTION: of its documents, on a line
    { curl -s "$url/documents?limit=1000&collection=$1"; echo; } | sed 's/"id":"/\n&/g' | sed -n 's/^"id":"\([^"]*\)".*/\1/p' | tr '\n' ' '
}
held() { [ "$(ids "$1")" = "$2" ]; } # held COLLECTION IDS

mkdir -p "$work/notes/deep" "$work/book" "$work/home"
echo '# Mill' >"$work/notes/mill.md"
echo '# Weir' >"$work/notes/deep/weir.md"
echo '# Ferry' >"$work/book/ferry.md"
printf 'source = notes=%s\nsource = two:book=%s\nsource = away=%s\nmax-deletes = 1\n' \
    "$work/notes" "$work/book" "$work/away" >"$work/home/forage.conf"
serve "$work/home"
wait_for held default 'notes/deep/weir.md notes/mill.md ' && wait_for held two 'book/ferry.md '
check "the folders of forage.conf are taken in at the start" $?
wait_for source_says notes '"state":"idle"' && says '"configured":true,"watched":true' && says '"documents":2' &&
    says "\"path\":\"$work/notes\"" && says '"created":2' && says '"finished_at":"2'
check "a source tells of its last run" $?
wait_for source_says away '"state":"failed"' && says "cannot open the folder $work/away" && grep -q 'sync .*source=away' "$log"
check "one whose folder is missing says so, and the service runs" $?
call 200 GET /sources && says '"name":"away"' && says '"name":"book"' && says '"name":"notes"'; check "all are listed" $?
call 404 GET /sources/none && says '"param":"source"'; check "one that is not there is 404" $?
call 404 POST /sources/none/sync; check "and cannot be synced" $?

call 200 GET /metrics && says 'forage_sync_runs_total{source="notes",outcome="whole"} ' &&
    says 'forage_sync_files_total{source="notes",outcome="created"} 2' && says 'forage_sync_files_total{source="book",outcome="created"} 1' &&
    grep -q '^forage_sync_runs_total{source="away",outcome="away"} [1-9]' "$work/out" &&
    grep -q '^forage_sync_last_success_timestamp_seconds{source="notes"} [1-9]' "$work/out" &&
    says 'forage_sync_last_success_timestamp_seconds{source="away"} 0'
check "/metrics count what runs did" $?

echo '# Lock' >"$work/notes/lock.md"
wait_for held default 'notes/deep/weir.md notes/lock.md notes/mill.md '; check "a change is seen by itself" $?
mkdir "$work/away" && echo '# Away' >"$work/away/a.md"
call 200 POST /sources/away/sync && says '"created":1' && held default 'away/a.md notes/deep/weir.md notes/lock.md notes/mill.md '
check "a folder that came back is taken in by request" $?
rm "$work/book/ferry.md"
call 200 POST /sources/book/sync && says '"refused":"the folder holds no file' && says '"withheld":1' && held two 'book/ferry.md '
check "an empty folder removes nothing here, too" $?

# What a dry run says is done by the watch a moment later: it is asked of a folder that no watch may see.
rm "$work/notes/mill.md" "$work/notes/lock.md"
wait_for source_says notes '"withheld":2'; check "nor does a watch remove more than --max-deletes" $?
call 200 POST '/sources/notes/sync?dry_run=true&max_deletes=2' && says '{"action":"remove","file":"lock.md"}' &&
    says '"dry_run":true' && says '"removed":2' && held default 'away/a.md notes/deep/weir.md notes/lock.md notes/mill.md '
check "a dry run by request names what would go" $?
call 200 POST '/sources/notes/sync?max_deletes=2' && says '"removed":2' && held default 'away/a.md notes/deep/weir.md '
check "a limit may be raised for one run" $?
call 400 POST '/sources/notes/sync?max_deletes=x' && says '"param":"max_deletes"'; check "a limit that is none is refused" $?
echo '# Quay' >"$work/notes/quay.md"
run 0 "$forage" sync "$work/notes" --url "$url" && says "source notes: $work/notes, in collection default" && held default 'away/a.md notes/deep/weir.md notes/quay.md '
check "the command line asks a service to look" $?
rm "$work/notes/quay.md"
run 0 "$forage" sync --name notes --url "$url" --json && says '"source":"notes"' && held default 'away/a.md notes/deep/weir.md '
check "by name, too" $?
run 1 "$forage" sync --name book --url "$url" && says 'refused: the folder holds no file'; check "and hears what was refused" $?
run 1 "$forage" sync "$work/book" --name notes --url "$url" && grep -q "is the folder $work/notes" "$work/err"; check "another folder is refused" $?
call 202 POST '/sources/notes/sync?wait=false' && says '"name":"notes"'; check "nobody has to wait" $?
run 0 "$forage" documents --source notes --url "$url" --output json && says '"id":"notes/deep/weir.md"' && ! says away/a.md &&
    run 0 "$forage" documents --source book --url "$url" && says book/ferry.md
check "a service lists by source, too" $?
call 200 DELETE '/documents?source=notes&dry_run=true' && says '"matched":1' && says '"ids":["notes/deep/weir.md"]' &&
    call 400 DELETE '/documents?source=a%20b' && call 404 GET '/documents?source=none'
check "and deletes, dry" $?
run 0 "$forage" delete --source notes --url "$url" && says '1 document deleted' && grep -q 'configured' "$work/err" &&
    call 200 POST /sources/notes/sync && held default 'away/a.md notes/deep/weir.md '
check "what is deleted of a configured source comes back" $?
call 409 DELETE /sources/notes && says configured; check "a configured source cannot be deleted" $?
stop TERM
[ "$(tail -n 1 "$log" | grep -c stopped)" -eq 1 ]; check "a service with sources ends in order" $?

# ---- a run that may not take long
mkdir "$work/crowd" && seq 6000 | (cd "$work/crowd" && split -l 1 -a 4 - n && for f in n*; do mv "$f" "$f.md"; done)
printf 'source = crowd:crowd=%s\n' "$work/late" >"$work/home/forage.conf"
serve "$work/home"
wait_for source_says crowd '"state":"failed"' && mv "$work/crowd" "$work/late"
call 408 POST '/sources/crowd/sync?timeout_ms=1' && says '"param":"timeout_ms"'; check "a run by request ends with its timeout_ms" $?
wait_for source_says crowd '"error":"cancelled"' && says '"state":"failed"' && some=$(grep -o '"documents":[0-9]*' "$work/out" | cut -d: -f2) && [ "$some" -lt 6000 ]
check "and says that it ended before its end" $?
call 200 POST /sources/crowd/sync && says '"documents":6000' && says '"state":"idle"'; check "the next one goes on" $?
stop TERM
rm "$work/home/forage.conf"
serve "$work/home"
call 408 DELETE '/sources/crowd?timeout_ms=1' && says '"param":"timeout_ms"' && says 'the source is still there'
some=$(grep -o '[0-9]* documents were deleted' "$work/out" | cut -d' ' -f1)
source_says crowd '"name":"crowd"' && [ "$some" -lt 6000 ] && call 200 GET /collections && says "\"documents\":$((6000 - some)),"
check "deleting a source ends with its timeout_ms, and says how many went" $?
call 200 DELETE /sources/crowd && call 404 GET /sources/crowd; check "what is left goes without one" $?
stop TERM

# ---- without them
echo '# More' >"$work/notes/more.md"
serve "$work/home"
call 200 GET /sources && says '"configured":false' && held default 'away/a.md notes/deep/weir.md '
check "a source that is configured no longer is left alone" $?
call 404 POST /sources/notes/sync && says 'forage.conf'; check "and not synced" $?
call 200 DELETE '/sources/notes?dry_run=true' && says '"documents":1' && held default 'away/a.md notes/deep/weir.md '
check "a dry deletion counts" $?
call 200 DELETE /sources/notes && says '"documents":1' && held default 'away/a.md ' && call 404 GET /sources/notes
check "a source goes with its documents" $?
call 200 DELETE '/sources/away?keep_documents=true' && held default 'away/a.md '; check "or without" $?
stop TERM
mv "$work/away/a.md" "$work/away/b.md" && echo '# Other' >"$work/away/b.md"
run 0 "$forage" sync "$work/away" --home "$work/home" --json && says '"created":1' && says '"removed":1'
check "documents that were kept are the source's again" $?

for bad in notes relative=notes =/x "a b=/x" "x:.y=/x"; do
    run 1 timeout 60 "$forage" serve --home "$work/home" --listen 127.0.0.1:0 --source "$bad"
    grep -q '^forage: source: ' "$work/err"; check "--source '$bad' is refused" $?
done
timeout 60 "$forage" serve --home "$work/home" --listen 127.0.0.1:0 --source a=/x --source a=/y >"$work/out" 2>"$work/err"
grep -q "'a' is there twice" "$work/err"; check "so are two of one name" $?
serve "$work/home" --read-only --source "notes=$work/notes"
grep -q 'sources_rest' "$log" && call 403 POST /sources/notes/sync; check "a read-only service leaves its sources alone" $?
stop TERM
finish
