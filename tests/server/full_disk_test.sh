#!/bin/sh
# A disk that fills up under a server: questions are answered, writes get 507 and change nothing, and
# once there is room all goes on. A server that starts on a full disk answers, too. Speaks TAP.
if [ "${1-}" != inside ]; then
    for way in "unshare -m" "unshare -rm"; do
        # shellcheck disable=SC2086 # two words
        $way true 2>/dev/null && exec $way "$0" inside
    done
fi
. "$(dirname "$0")/tap.sh"
question="What do the otters eat?"
answers() { # a question that no cache answers
    post /query "{\"query\":\"$question\",\"cache\":\"bypass\"}" >"$work/out"
    grep -q "Fish made up" "$work/out"
}
status() { # status CURL-ARGUMENT...: the reply to $work/out, its status printed
    curl -s -m 30 -o "$work/out" -w '%{http_code}' "$@"
}
documents() { curl -s "$url/stats" | grep -o '"documents":[0-9]*'; }

# ---- a limit on the size of files: works without a file system of one's own -------------------

"$forage" ingest data/sample --home "$work/small" >/dev/null 2>&1
echo '{"id":"big","text":"'"$(head -c 900000 /dev/urandom | base64 -w 0)"'"}' >"$work/big.jsonl"
# shellcheck disable=SC3045 # dash and bash have it
(
    ulimit -f 1200 # blocks of 512 or 1,024 bytes: room for the counts of questions, and little more
    exec "$forage" serve --home "$work/small" --listen 127.0.0.1:0 --port-file "$work/limit.port" 2>"$work/limit.log"
) &
pid=$! services="$services $pid" log=$work/limit.log
wait_for test -s "$work/limit.port"
url=http://127.0.0.1:$(cat "$work/limit.port")
code=$(status -H 'Content-Type: application/x-ndjson' --data-binary "@$work/big.jsonl" "$url/ingest")
[ "$code" = 507 ] || { echo "# $code"; false; }
check "a file at its limit is a full disk: 507" $?
answers; check "and the server lives and answers" $?
stop TERM; check "and ends with status 0" $?

# ---- a small file system -----------------------------------------------------------------------

mkdir "$work/disk"
if [ "${1-}" != inside ] || ! mount -t tmpfs -o size=16m tmpfs "$work/disk" 2>/dev/null; then
    skip "a full disk" "nothing can be mounted here"
    finish
fi
fill() { dd if=/dev/zero of="$work/disk/fill" bs=4k >/dev/null 2>&1; }
home=$work/disk/home
serve "$home" --min-free-disk 4K && run 0 "$forage" ingest data/sample --url "$url" && answers
check "a server on a small disk takes documents" $?
before=$(documents)
fill
ok=0
for i in 1 2 3 4 5 6 7 8; do answers || ok=1; done
check "the disk is full, and questions are answered" $ok
ok=0
for i in 1 2 3; do
    code=$(status -H 'Content-Type: application/x-ndjson' --data-binary "@$work/big.jsonl" "$url/ingest")
    [ "$code" = 507 ] && grep -q 'disk_low.*--min-free-disk asks for: make room there' "$work/out" || ok=1
done
check "an ingest gets 507, and is told what to do" $ok
code=$(status -X POST "$url/admin/snapshot")
[ "$code" = 507 ]; check "a snapshot gets 507" $?
[ -z "$(ls "$home/backups" 2>/dev/null)" ]; check "and leaves nothing behind" $?
sleep 2 # the log of questions is written in the background
answers; check "what is written in the background takes nothing down" $?
[ "$(documents)" = "$before" ] && curl -sf "$url/health" >/dev/null && curl -s "$url/metrics" | grep -q '^forage_query_log_dropped_total'
check "nothing was stored, and health and metrics answer" $?
rm "$work/disk/fill"
echo "Quinces ripen late." >"$work/quince.txt"
run 0 "$forage" ingest "$work/quince.txt" --url "$url" && grep -q "^1 created" "$work/out"
check "with room again it takes documents" $?
fill
# Not by the service's own measure: where the disk itself refuses in the middle of a commit.
ok=0
for i in 1 2 3 4 5 6; do
    rm -f "$work/disk/fill"
    dd if=/dev/zero of="$work/disk/fill" bs=4k >/dev/null 2>&1
    truncate -s -"$((i * 24))k" "$work/disk/fill"
    code=$(status -H 'Content-Type: application/x-ndjson' --data-binary "@$work/big.jsonl" "$url/ingest")
    [ "$code" = 507 ] || { echo "# $code"; ok=1; }
    answers || ok=1
done
check "a commit that the disk refuses half way is 507, and undone" $ok
stop TERM; check "it ends with status 0 on a full disk" $?
fill
serve "$home" && answers
check "a server that starts on a full disk answers" $?
grep -q "disk_full" "$log"; check "and says what is the matter" $?
code=$(status -H 'Content-Type: application/x-ndjson' --data-binary "@$work/big.jsonl" "$url/ingest")
[ "$code" = 507 ]; check "and refuses what would write with 507" $?
run 1 "$forage" serve --home "$home" --listen 127.0.0.1:0 && grep -q "in use" "$work/err"
check "and has the home to itself" $?
stop TERM; check "and ends with status 0" $?
rm "$work/disk/fill"
run 0 "$forage" index verify --home "$home"; check "the home is sound" $?
serve "$home" && run 0 "$forage" query "When do quinces ripen?" --url "$url" && grep -q "ripen late" "$work/out"
check "nothing acknowledged was lost" $?
stop TERM
# What an older version wrote has to be brought up to date first, which takes room. Of such a home: the same rows, without the
# table that came last.
if command -v sqlite3 >/dev/null; then
    run 0 "$forage" ingest data/sample/birds.md --home "$work/older"
    id=$(sqlite3 "$work/older/forage.db" "PRAGMA application_id")
    rm -rf "$home" && cp -r "$work/older" "$home" && rm -f "$home"/forage.db*
    {
        sqlite3 "$work/older/forage.db" .dump
        echo "DROP TABLE title_vectors; UPDATE home SET page_sums = 0; PRAGMA application_id = $id; PRAGMA user_version = 8;"
    } | sqlite3 "$home/forage.db"
    fill
    run 1 "$forage" serve --home "$home" --listen 127.0.0.1:0 && ! grep -q "questions are answered" "$work/err" &&
        grep -q "^forage: could not .* the database.*: the disk is full: make room and start again" "$work/err"
    check "of an older home it says that there is no room to bring it up to date, and no more" $?
    rm "$work/disk/fill"
    serve "$home" && run 0 "$forage" query "When are herons counted?" --url "$url" && grep -q "1 May" "$work/out"
    check "and with room it is brought up to date" $?
    stop TERM
else
    skip "an older home on a full disk" "sqlite3 is not installed"
fi
umount "$work/disk"
finish
