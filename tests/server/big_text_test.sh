#!/bin/sh
# A text larger than one document may be goes in by parts, at every door, in memory that does not grow with it; each
# part is there once it went in; one that grows at its end changes its last part alone. And where a limit remains, the
# message names the setting. Speaks TAP.
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
stop TERM

serve two --max-body 1M
code() { curl -s -o "$work/out" -w '%{http_code}' "$@"; }
head -c 3000000 lock.log >middle.log
[ "$(code "$url/ingest?id=a" -H 'Content-Type: text/csv' --data-binary @middle.log)" = 413 ] &&
    grep -q 'max-body' "$work/out"
check "another kind of a large body is refused, and the message names --max-body" $?
[ "$(code "$url/ingest" -F 'file=@middle.log;filename=middle.csv')" = 413 ] && grep -q 'max-body' "$work/out"
check "so it is in a form" $?
stop TERM

# ---- the command line, and a folder kept in step
mkdir folder
mv lock.log folder/
# shellcheck disable=SC2086
run 0 "$forage" ingest folder/lock.log --home three $few && grep -q "^$n created" "$work/out"
check "a named file goes in by parts" $?
run 0 "$forage" documents --home three --json && grep -q '"folder/lock.log/part-000002"' "$work/out"
check "parts are named after the file" $?
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
