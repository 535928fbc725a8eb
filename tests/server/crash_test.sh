#!/bin/sh
# kill -9 in the middle of an ingest, again and again: no acknowledged document is ever lost, and
# the home opens again each time. ROUNDS=20 by default. Speaks TAP.
. "$(dirname "$0")/tap.sh"
rounds=${ROUNDS:-20}
: >"$work/acked"

# Five documents a request; written down only once the service has said that they are in.
feed() {
    k=0
    while :; do
        : >"$work/next.$1"
        for j in 1 2 3 4 5; do
            echo "{\"id\":\"r$1-$k-$j\",\"text\":\"Round $1 request $k document $j speaks of word$k and term$j.\"}"
        done >"$work/next.$1"
        "$forage" ingest - --url "$url" <"$work/next.$1" >/dev/null 2>&1 || return
        cat "$work/next.$1" >>"$work/acked"
        k=$((k + 1))
    done
}

opened=0 round=1
while [ $round -le "$rounds" ]; do
    serve "$work/home" --log-level warn || break
    opened=$((opened + 1))
    feed $round &
    feeder=$!
    sleep 0.$((2 + round * 7 % 6))
    stop KILL
    wait "$feeder" 2>/dev/null
    round=$((round + 1))
done
[ "$opened" -eq "$rounds" ] && serve "$work/home" --log-level warn
check "the home opens after each of $rounds crashes" $?
# What is stored under an id with the very same content is reported as unchanged.
acked=$(wc -l <"$work/acked")
run 0 "$forage" ingest - --url "$url" --json <"$work/acked" && [ "$acked" -gt 0 ] &&
    grep -q "\"unchanged\":$acked[,}]" "$work/out"
check "all acknowledged documents are there" $?
echo "# $acked of them"
run 0 "$forage" query "speaks of word0 and term5" --url "$url" --no-generate --json --top-k 100 &&
    grep -q '"document_id":"r' "$work/out"
check "and are found" $?
stop TERM
run 0 "$forage" index verify --home "$work/home"; check "store and indexes verify" $?
finish
