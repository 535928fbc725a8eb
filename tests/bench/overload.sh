#!/bin/sh
# tests/bench/overload.sh FORAGE - a service that is asked for more than it can do. A table on stdout: what it does
# when it is always busy, and what who is let in waits for at 1, 2 and 5 times that rate; what others feel of SLOW
# (1000) clients that send a byte a second; memory after a minute and at the end of MINUTES (10) of saturation.
# PART_S (60): seconds of each other part. QUEUE (16): of --queue. ROUTE (query). Needs build/tests/bench/slow_clients.
set -eu
forage=$1 slow=${SLOW:-1000} minutes=${MINUTES:-10} part=${PART_S:-60} queue=${QUEUE:-16} route=${ROUTE:-query} work=
build=$(dirname "$forage")
[ -x "$build/tests/bench/slow_clients" ] || { echo "make $build/tests/bench/slow_clients first" >&2; exit 2; }
. "$(dirname "$0")/../../server/service.sh"

bodies() { # each question as a body that no cache answers
    sed -n 's/.*"text": *"\([^"]*\)".*/\1/p' tests/server/sample_questions.jsonl |
        awk -v route="$route" '{ printf "{\"query\":\"%s\",\"top_k\":8%s}\n", $0, route == "query" ? ",\"cache\":\"bypass\"" : "" }'
}
bodies >"$work/bodies"
[ -s "$work/bodies" ] || { echo "no questions in tests/server/sample_questions.jsonl" >&2; exit 1; }
load() { # load REQUESTS OPTION...: JSON
    n=$1
    shift
    "$forage" bench http --url "$url/$route" --bodies "$work/bodies" --requests "$n" "$@" --json 2>"$work/log" ||
        { cat "$work/log" >&2; exit 1; }
}
count() { echo "$1 $2 $3" | awk '{ n = int($1 * $2 * $3); print n < 20 ? 20 : n }'; } # RATE FACTOR SECONDS
rss() { awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$server/status"; }
row() { # row NAME JSON
    echo "$2" | awk -v name="$1" '{
        split("requests_per_s p50_ms p99_ms refused errors requests", k, " ")
        for (i in k) { match($0, "\"" k[i] "\":[-0-9.e+]*"); v[k[i]] = substr($0, RSTART + length(k[i]) + 3, RLENGTH - length(k[i]) - 3) }
        printf "| %s | %.0f | %.1f | %.1f | %.1f %% | %d |\n", name, v["requests_per_s"], v["p50_ms"], v["p99_ms"],
            100 * v["refused"] / v["requests"], v["errors"] - v["refused"] }'
}

serve "$work/home" --queue "$queue" --log-queries off --log-level warn
"$forage" ingest data/sample docs --url "$url" >/dev/null 2>&1 || true
load 200 --concurrency 4 >/dev/null # what is read once is kept
rate=$(load "$(count 100 1 5)" --concurrency $((2 * $(nproc))) | number requests_per_s)
rate=$(load "$(count "$rate" 1 "$part")" --concurrency $((2 * $(nproc))) | number requests_per_s)
echo "| load | requests a second | p50 ms | p99 ms | refused | other errors |"
echo "|---|---|---|---|---|---|"
for factor in 0.5 1 2 5; do
    row "$factor times what it can do" "$(load "$(count "$rate" $factor "$part")" --concurrency 400 --rate "$(count "$rate" $factor 1)")"
done
"$build/tests/bench/slow_clients" "${url##*:}" "$slow" $((part + 5)) >"$work/slow" &
slowly=$!
sleep 3
row "0.5 times, beside $slow slow clients" "$(load "$(count "$rate" .5 $((part - 2)))" --concurrency 16 --rate "$(count "$rate" .5 1)")"
wait $slowly
echo
echo "Slow clients: $(cat "$work/slow")"
[ "$minutes" != 0 ] || exit 0
load "$(count "$rate" 2 $((60 * minutes)))" --concurrency 400 --rate "$(count "$rate" 2 1)" >"$work/long" &
long=$!
curve=
for _ in $(seq "$minutes"); do
    sleep 60
    curve="$curve $(rss)"
done
wait $long
row "2 times, $minutes minutes" "$(cat "$work/long")"
echo "Memory, MiB after each minute:$curve"
curl -s "$url/metrics" | sed -n 's/^\(forage_\(memory\|malloc\)_bytes{[^}]*}\) /  \1 /p'
