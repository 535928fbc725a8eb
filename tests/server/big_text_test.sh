#!/bin/sh
# A text larger than one document may be goes in by parts, at every door, in memory that does not grow with it, packed by gzip,
# in UTF-16 and as a table of values, too; each part is there once it went in; one that grows at its end changes its last part
# alone; parts that a new version has no more are deleted. And where a limit remains, the message names the setting. Speaks
# TAP.
. "$(dirname "$0")/tap.sh"
case $forage in /*) ;; *) forage=$PWD/$forage ;; esac
cd "$work" || exit 1
bytes=25165824 # 24 MiB: one document of it took 160 MB and more
awk -v most=$bytes 'BEGIN { for (n = 0; n < most; n += length(s)) {
    s = "Entry " ++i " of the log of the lock: the water stood at " (i * 7919) % 907 " cm and " i % 71 " boats went up.\n"
    if (i == 200000) s = "The lock keeper saw a kingfisher below the weir.\n"
    if (i % 9 == 8) s = s "\n"
    printf "%s", s } }' >lock.log
few='--max-tokens 8192 --overlap 0' # few chunks: what an index takes is no matter here
size=$(wc -c <lock.log)
parts=$(((size + 524287) / 524288))
ulimit -c 0

peak_mib() { awk '/^VmHWM/ { print int($2 / 1024) }' "/proc/$pid/status"; }
# A sanitizer's shadow is no measure of ours.
plain() { [ "$(peak_mib)" -lt 60 ]; }

serve one
plain && measured=1 || measured=
curl -s "$url/ingest?id=lock.log&max_tokens=8192&overlap=0" -H 'Content-Type: text/plain' --data-binary @lock.log >"$work/out"
n=$(grep -o '"status":"created"' "$work/out" | wc -l)
[ "$n" -ge "$parts" ] && [ "$n" -le $((parts + 2)) ] && grep -q '"id":"lock.log/part-000001"' "$work/out"
check "a raw body goes in by parts" $?
# Of chunks as large as these a vector says little: by words.
curl -s "$url/search" -H 'Content-Type: application/json' \
    -d '{"query":"kingfisher below the weir","search":{"mode":"sparse"},"top_k":1}' >"$work/found"
grep -q '"document_id":"lock.log/part-0000' "$work/found" && grep -q 'kingfisher below the weir' "$work/found"
check "what stands in the midst of it is found, by the part" $?
curl -s "$url/ingest?max_tokens=8192&overlap=0" -F file=@lock.log >"$work/out"
[ "$(grep -o '"status":"\(created\|updated\)"' "$work/out" | wc -l)" = "$n" ] && grep -q '"file":"lock.log"' "$work/out"
check "a file of a form goes in by parts" $?
peak_mib >"$work/out"
if [ -n "$measured" ]; then
    [ "$(peak_mib)" -lt 130 ]
    check "no more than 130 MiB were held, for all of it" $?
else skip "no more than 130 MiB were held, for all of it" "a sanitizer holds more"; fi
if command -v tar >/dev/null; then
    tar cf pack.tar lock.log
    curl -s "$url/ingest?id=pack.tar&max_tokens=8192&overlap=0" -H 'Content-Type: application/x-tar' --data-binary @pack.tar >"$work/out"
    [ "$(grep -o '"status":"created"' "$work/out" | wc -l)" = "$n" ] && grep -q '"id":"pack.tar/lock.log/part-000001"' "$work/out"
    check "one in an archive goes in by parts" $?
    rm pack.tar
else skip "one in an archive goes in by parts" "no tar"; fi
stop TERM

serve two --max-body 1M
code() { curl -s -o "$work/out" -w '%{http_code}' "$@"; }
head -c 3000000 lock.log >middle.log
[ "$(code "$url/ingest?id=a" -H 'Content-Type: application/yaml' --data-binary @middle.log)" = 413 ] &&
    grep -q 'max-body' "$work/out"
check "another kind of a large body is refused, and the message names --max-body" $?
[ "$(code "$url/ingest" -F 'file=@middle.log;filename=middle.yaml')" = 413 ] && grep -q 'max-body' "$work/out"
check "so it is in a form" $?
[ "$(code "$url/ingest?id=middle.log" -H 'Content-Type: text/plain' --data-binary @middle.log)" = 200 ] &&
    grep -q '"id":"middle.log/part-000005"' "$work/out"
check "a plain text larger than --max-body goes in by parts" $?
[ "$(code "$url/ingest" -F 'file=@middle.log;filename=form.log')" = 200 ] && grep -q '"id":"form.log/part-000005"' "$work/out"
check "so it does in a form" $?
[ "$(code "$url/ingest" -F 'file=@middle.log;filename=twice.log' -F 'file=@middle.log;filename=twice.log')" = 200 ] &&
    [ "$(grep -o '"status":"created"' "$work/out" | wc -l)" -ge 5 ] && ! grep -q '"status":"un' "$work/out" &&
    grep -q '"id":"twice.log","file":"twice.log","status":"failed".*came before' "$work/out"
check "a second text of its name in the form fails" $?
long=$(head -c 501 /dev/zero | tr '\0' x)
[ "$(code "$url/ingest?id=$long" -H 'Content-Type: text/plain' --data-binary @middle.log)" = 422 ] && grep -q '"param":"id"' "$work/out" &&
    [ "$(code "$url/ingest?id=$long" -H 'Content-Type: text/plain' -d 'The lock is red.')" = 200 ]
check "an id too long for the names of parts is refused" $?
[ "$(code "$url/ingest?id=grows.log" -H 'Content-Type: text/plain' -d 'The lock is red.')" = 200 ] &&
    [ "$(code "$url/documents/grows.log")" = 200 ] &&
    [ "$(code "$url/ingest?id=grows.log" -H 'Content-Type: text/plain' --data-binary @middle.log)" = 200 ] &&
    [ "$(code "$url/documents/grows.log")" = 404 ]
check "what was one document without an address is deleted where it has parts now" $?
stop TERM

# ---- packed, wide, tables: through a service, and what is said of damage
awk 'BEGIN { print "Day,Water cm,Boats,Remark"; for (i = 1; i <= 700000; i++)
    printf "day %d,%d,%d,%s\n", i, (i * 7919) % 907, i % 71, i == 500000 ? "the keeper saw a kingfisher" : "nothing to remark" }' >days.csv
gzip -k lock.log
iconv -f UTF-8 -t UTF-16 lock.log >wide.txt
head -c 2000000 lock.log.gz >broken.log.gz
serve five
for f in days.csv lock.log.gz wide.txt; do
    # shellcheck disable=SC2086
    run 0 "$forage" ingest $f --url "$url" $few && grep -q ' created, 0 updated, 0 unchanged, 0 failed' "$work/out" &&
        [ "$(awk 'NR == 1 { print $1 }' "$work/out")" -gt 30 ]
    check "$f goes in by parts" $?
done
curl -s "$url/ingest?id=raw.csv&max_tokens=8192&overlap=0" -H 'Content-Type: text/csv' --data-binary @days.csv >"$work/out"
[ "$(grep -o '"status":"created"' "$work/out" | wc -l)" -gt 30 ]
check "a table as a raw body, too" $?
if [ -n "$measured" ]; then
    peak_mib >"$work/out"
    [ "$(peak_mib)" -lt 160 ]
    check "no more than 160 MiB were held for a table, a packed text and one in UTF-16" $?
else skip "no more than 160 MiB were held for a table, a packed text and one in UTF-16" "a sanitizer holds more"; fi
curl -s "$url/documents/days.csv%2Fpart-000030" >"$work/out"
grep -q 'Day: day [0-9]*; Water cm: [0-9]*; Boats' "$work/out"
check "a part in the midst of a table has the names of its columns" $?
stop TERM
run 1 "$forage" ingest broken.log.gz --home six && grep -q 'broken.log.gz: the gzip data ends too early' "$work/err" &&
    grep -q ' created, 0 updated, 0 unchanged, 1 failed' "$work/out"
check "of one that is cut off the parts before stand, and it fails" $?

# ---- the command line, and a folder kept in step
mkdir folder
mkdir mixed
mv days.csv lock.log.gz wide.txt mixed/
mv lock.log folder/
# shellcheck disable=SC2086
run 0 "$forage" ingest folder/lock.log --home three $few && grep -q "^$n created" "$work/out"
check "a named file goes in by parts" $?
run 0 "$forage" documents --home three --json && grep -q '"folder/lock.log/part-000002"' "$work/out"
check "parts are named after the file" $?
count() { "$forage" documents --home "$1" --json 2>/dev/null | grep -o '"id": *"[^"]*"' | grep -c "$2"; }
cp folder/lock.log kept.log
head -c 18000000 kept.log >folder/lock.log
# shellcheck disable=SC2086
run 0 "$forage" ingest folder/lock.log --home three $few && grep -q 'of earlier versions deleted' "$work/out"
[ "$(count three part-)" = 35 ]
check "parts that a shorter version has no more are deleted" $?
head -c 1000000 kept.log >folder/lock.log
# shellcheck disable=SC2086
run 0 "$forage" ingest folder/lock.log --home three $few && [ "$(count three part-)" = 0 ] && [ "$(count three lock.log)" = 1 ]
check "of one that became small all parts are" $?
cp kept.log folder/lock.log
# shellcheck disable=SC2086
run 0 "$forage" ingest folder/lock.log --home three $few
[ "$(count three part-)" = "$n" ] && [ "$(count three 'lock.log"')" = 0 ]
check "what was one document is deleted where it has parts now" $?
mine=part-$(printf %06d $((n + 1))) # it would be the next
printf '{"id":"folder/lock.log/%s","text":"Mine."}\n' "$mine" >mine.jsonl
head -c 1000000 kept.log >folder/lock.log
# shellcheck disable=SC2086
run 0 "$forage" ingest mine.jsonl --home three && run 0 "$forage" ingest folder/lock.log --home three $few
[ "$(count three "$mine")" = 1 ] && [ "$(count three part-)" = 1 ]
check "a document that is only called like a part stays" $?
mv kept.log folder/lock.log
# shellcheck disable=SC2086
run 0 "$forage" sync mixed --home seven $few && cp "$work/out" first && [ "$(sed -n 3p first | awk '{print $1}')" -gt 130 ]
check "a folder kept in step has the parts of tables, packed and wide texts" $?
# shellcheck disable=SC2086
run 0 "$forage" sync mixed --home seven $few &&
    [ "$(sed -n 3p "$work/out" | awk '{print $1, $2, $4}')" = "0 0 $(sed -n 3p first | awk '{print $1}')" ]
check "and the same again changes nothing" $?
echo "day 700001,3,4,the lock was closed" >>mixed/days.csv
# shellcheck disable=SC2086
run 0 "$forage" sync mixed --home seven $few && [ "$(sed -n 3p "$work/out" | awk '{print $1, $2, $5}')" = "0 1 0" ]
check "a table that grew changes its last part alone" $?
# shellcheck disable=SC2086
run 0 "$forage" sync folder --home four $few && [ "$(sed -n 3p "$work/out" | awk '{print $1}')" = "$n" ]
check "a folder kept in step has its parts" $?
echo "The weir was closed for the winter." >>folder/lock.log
# shellcheck disable=SC2086
run 0 "$forage" sync folder --home four $few &&
    [ "$(sed -n 3p "$work/out" | awk '{print $1, $2, $4, $5}')" = "0 1 $((n - 1)) 0" ]
check "a log that grew changes its last part alone" $?
# shellcheck disable=SC2086
run 0 "$forage" sync folder --home four $few && [ "$(sed -n 3p "$work/out" | awk '{print $1, $2, $4}')" = "0 0 $n" ]
check "the same again changes nothing" $?
head -c 1000000 folder/lock.log >short && mv short folder/lock.log
# shellcheck disable=SC2086
run 0 "$forage" sync folder --home four $few --max-deletes 100% &&
    [ "$(sed -n 3p "$work/out" | awk '{print $1, $5}')" = "1 $n" ]
check "one that became small is one document, and its parts are gone" $?
finish
