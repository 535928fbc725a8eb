#!/bin/sh
# Documents that mean no good, or are no text: whichever way they come in, what Forage does not read is
# refused by the name of what it is; what is made to be slow or to unpack to much ends soon, within a
# bounded memory, and with its client or the service. Speaks TAP.
. "$(dirname "$0")/tap.sh"
case $forage in /*) ;; *) forage=$PWD/$forage ;; esac
cd "$work" || exit 1
peak_mib() { echo $(($(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$pid/status") / 1024)); }
# Hundredths of a second that the service has computed for.
computed() { sed 's/.*) //' "/proc/$pid/stat" | awk '{print $12 + $13}'; }
documents() { curl -s "$url/documents?limit=100" | grep -o '"id":"[^"]*"' | sort | tr '\n' ' '; }

# ---- what it is, by its content, at every door
mkdir in
printf 'AT&TFORM DJVM' >in/ferry.txt
printf 'GIF89a\001\000\001\000' >in/letter.md
printf '%%!PS-Adobe-3.0\n1 0 moveto\n' >in/page.html
printf 'Rar!\032\007\001 plan' >in/plan.txt
printf 'GIF89a\002\000\002\000' >in/map.log
printf 'The ferry leaves at eight.\n' >in/notes.strange
kinds='ferry.txt is a DjVu document
letter.md is a GIF image
map.log is a GIF image
page.html is a PostScript document
plan.txt is a RAR archive'
named() { # named FILE: are all five named in it?
    echo "$kinds" | while read -r kind; do grep -qF "$kind, which Forage does not read yet" "$1" || echo "$kind"; done | grep -q . && return 1
    return 0
}
run 1 "$forage" ingest in --home "$work/one" && named "$work/err" && grep -q '^0 created, .* 5 failed' "$work/out"
check "a folder" $?
run 1 "$forage" ingest in/*.* --home "$work/two" && named "$work/err" && grep -q '^1 created, .* 5 failed' "$work/out"
check "named files, of which one is text under a strange name" $?
serve "$work/three"
run 1 "$forage" ingest in/*.* --url "$url" && named "$work/err" && grep -q '^1 created, .* 5 failed' "$work/out"
check "files sent to a service" $?
for f in ferry.txt letter.md page.html plan.txt map.log; do set -- "$@" -F "file=@in/$f;type=text/plain"; done
curl -s "$@" "$url/ingest" >"$work/out" && named "$work/out"; check "an upload that says that they are text" $?
status=0
for f in ferry.txt letter.md page.html plan.txt map.log; do
    for type in text/plain text/markdown text/html application/octet-stream; do
        code=$(curl -s -o "$work/out" -w '%{http_code}' -H "Content-Type: $type" --data-binary "@in/$f" "$url/ingest")
        [ "$code" = 415 ] && grep -q 'the document is an* .*, which Forage does not read yet' "$work/out" || status=1
    done
done
check "a raw body" $status
code=$(curl -s -o "$work/out" -w '%{http_code}' -H "Content-Type: application/postscript" --data-binary @in/page.html "$url/ingest")
[ "$code" = 415 ] && grep -q 'declared as a PostScript document (application/postscript), which Forage does not read yet' "$work/out"
check "a body that says so itself" $?
post /ingest '{"documents":[{"id":"mail","text":"Message-ID: <1>\nFrom: a\nSubject: b\n\nKept as text."}]}' | grep -q created
check "what comes as text in JSON is text, a message too" $?
[ "$(documents)" = '"id":"in/notes.strange" "id":"mail" ' ]; check "nothing else was taken in" $?

# ---- slow by intent
{ printf '<p '; seq -f 'a%g' -s ' ' 0 39999; printf '>The fence is 620 metres long.</p>'; } | tr -d '\n' >slow.html
before=$(computed)
curl -s -H 'Content-Type: text/html' --data-binary @slow.html "$url/ingest?id=slow" | grep -q '"created"'
given=$? used=$(($(computed) - before))
echo "# 40,000 attributes: $used hundredths of a second"
[ $given -eq 0 ] && [ $used -lt 100 ]; check "a tag of 40,000 attributes is read like any other" $?
yes 'the boats are drawn up before snow falls on the lake.' | head -c 60M | gzip -9 >sixty.gz
yes 'the boats are drawn up before snow falls on the lake.' | head -c 300M | gzip -9 >bomb.gz
idle() { curl -s "$url/metrics" | grep -q '^forage_http_running{lane="ingest"} 0'; }
curl -s -m 2 -H 'Content-Type: text/plain' --data-binary @sixty.gz "$url/ingest?id=left" >"$work/out"
left=$? before=$(computed)
wait_for idle
used=$(($(computed) - before))
echo "# $used hundredths of a second for a client that has left"
[ $left -eq 28 ] && [ $used -lt 100 ]; check "whoever leaves is worked for no longer" $?
stop TERM

# ---- much by intent
serve "$work/four"
for i in 1 2 3 4; do
    curl -s -o "answer.$i" -H 'Content-Type: text/plain' --data-binary @bomb.gz "$url/ingest" &
    clients="${clients:-} $!"
done
# shellcheck disable=SC2086 # several
wait $clients
[ "$(cat answer.? | grep -o 'unpacks to more than [0-9]* bytes' | wc -l)" -eq 4 ]
check "four bodies of 900 kB that unpack to 300 MB are refused" $?
clients=
for i in 1 2 3 4; do
    curl -s -m 5 -o "answer.$i" -H 'Content-Type: text/plain' --data-binary @sixty.gz "$url/ingest?id=$i" &
    clients="${clients:-} $!"
done
sleep 1
curl -s -m 30 -H 'Content-Type: text/plain' -d 'A small one.' "$url/ingest" | grep -q '"created"'
check "a small document comes in beside four that unpack to 60 MB" $?
# shellcheck disable=SC2086
wait $clients
echo "# $(peak_mib) MiB at most"
case $forage in
*/san-*) skip "all together they take a bounded memory" "the sanitizers take more" ;;
*) [ "$(peak_mib)" -lt 400 ]; check "all together they take a bounded memory" $? ;;
esac
curl -s "$url/metrics" | grep -q '^forage_ingest_memory_limit_bytes 268435456'; check "which /metrics shows" $?
stop TERM
serve "$work/four" --shutdown-timeout 1
curl -s -H 'Content-Type: text/plain' --data-binary @sixty.gz "$url/ingest?id=last" >"$work/out" &
client=$!
busy() { ! idle; }
wait_for busy
before=$(date +%s)
stop TERM
given=$? took=$(($(date +%s) - before))
wait $client
echo "# ended after $took s"
[ $given -eq 0 ] && [ $took -lt 10 ]; check "SIGTERM ends the work on a document" $?
finish
