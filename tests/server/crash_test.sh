#!/bin/sh
# kill -9 in the middle of an ingest, again and again: no acknowledged document is ever lost, and
# the home opens again each time. ROUNDS=20 by default. Speaks TAP.
set -u
forage=${BUILD:-build}/forage
if [ ! -x "$forage" ]; then
    echo "ok 1 - kill -9 loses nothing # skip $forage is not built"
    echo "1..1"
    exit 0
fi
rounds=${ROUNDS:-20}
work=$(mktemp -d)
pid= feeder=
trap '[ -z "$pid" ] || kill -9 "$pid" 2>/dev/null; [ -z "$feeder" ] || kill "$feeder" 2>/dev/null; rm -rf "$work"' EXIT
: >"$work/acked"

start() {
    rm -f "$work/port"
    "$forage" serve --home "$work/home" --listen 127.0.0.1:0 --port-file "$work/port" \
        --log-level warn 2>"$work/log" &
    pid=$!
    i=0
    until [ -s "$work/port" ]; do
        i=$((i + 1))
        [ $i -lt 300 ] && kill -0 $pid 2>/dev/null || return 1
        sleep 0.1
    done
    url=http://127.0.0.1:$(cat "$work/port")
}

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
    start || break
    opened=$((opened + 1))
    feed $round &
    feeder=$!
    sleep 0.$((2 + round * 7 % 6))
    kill -9 "$pid"
    wait "$pid" 2>/dev/null
    wait "$feeder" 2>/dev/null
    pid= feeder=
    round=$((round + 1))
done
n=$(wc -l <"$work/acked")
if [ "$opened" -eq "$rounds" ] && start; then echo "ok 1 - the home opens after each of $rounds crashes"; else
    echo "not ok 1 - the home opens after each of $rounds crashes"
    sed 's/^/# /' "$work/log"
fi
# What is stored under an id with the very same content is reported as unchanged.
out=$("$forage" ingest - --url "$url" --json <"$work/acked" 2>/dev/null)
unchanged=$(echo "$out" | sed -n 's/.*"unchanged":\([0-9]*\).*/\1/p')
if [ "$n" -gt 0 ] && [ "${unchanged:-0}" -eq "$n" ]; then
    echo "ok 2 - all $n acknowledged documents are there"
else
    echo "not ok 2 - all $n acknowledged documents are there"
    echo "# $out"
fi
last=$(tail -n 1 "$work/acked" | sed 's/.*"id":"\([^"]*\)".*/\1/')
if "$forage" query "speaks of word0 and term5" --url "$url" --no-generate --json --top-k 100 2>/dev/null |
    grep -q '"document_id":"r'; then
    echo "ok 3 - and are found (the last was $last)"
else
    echo "not ok 3 - and are found (the last was $last)"
fi
kill -TERM "$pid"
wait "$pid" 2>/dev/null
pid=
if "$forage" index verify --home "$work/home" >"$work/out" 2>&1; then echo "ok 4 - store and indexes verify"; else
    echo "not ok 4 - store and indexes verify"
    sed 's/^/# /' "$work/out"
fi
echo "1..4"
