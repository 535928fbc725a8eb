#!/bin/sh
# Cache-hit analytics through HTTP: figures, CSV, forage stats, a kill -9 and a restart.
. "$(dirname "$0")/tap.sh"
fail() {
    check "$*" 1
    finish
}
start() { serve "$work/home" --prime-rate 0 --log-level off "$@" || fail "does not start"; }
ask() { post /query "$1"; }
# Events are written down in batches, a moment later: waits until PATH's reply holds TEXT.
says() { wait_for eval "curl -s \"$url$1\" | grep -q '$2'"; }

start
post /ingest '{"documents":[{"id":"heron","text":"The grey heron stands one metre tall. It eats fish."}]}' >/dev/null
q='{"query":"How tall is the grey heron?"}'
ask "$q" | grep -q '"answer":"miss"' || fail "the first is no miss"
for _ in 1 2 3; do ask "$q" | grep -q '"answer":"hit"' || fail "a repeated question is no hit"; done
ask '{"query":"Who invented the zeppelin engine?"}' | grep -q '"status":"abstained"' || fail "answered"
ask '{"query":"=2+2"}' >/dev/null
says "/analytics/cache?window=1h&step=1m" '"answer":{"lookups":6,' || fail "six look-ups are not counted"
says "/analytics/queries?limit=50" '=2+2' || fail "the last question is not logged"
cache=$(curl -s "$url/analytics/cache?window=1h&step=1m")
echo "$cache" | grep -q '"answer":{"lookups":6,"hits":3,"hit_ratio":0.5,' || fail "totals: $cache"
echo "$cache" | grep -q '"kv_disk":{"lookups":0' || fail "a layer is missing: $cache"
hot=$(curl -s "$url/analytics/queries?window=24h&order=hot&limit=1")
echo "$hot" | grep -q '"query":"How tall is the grey heron?","collection":"default","count":4,"estimate":4,"cache_hits":3' ||
    fail "hot: $hot"
curl -s "$url/analytics/queries?order=unanswered" | grep -q zeppelin || fail "unanswered"
curl -s -H 'Accept: text/csv' "$url/analytics/queries" | grep -q "^\"'=2+2\"," || fail "CSV runs formulas"
curl -s -H 'Accept: text/csv' "$url/analytics/cache" | grep -q ',answer,6,3,0.500000,' || fail "CSV"
times=$(curl -s "$url/analytics/latency?window=1h&step=1m")
echo "$times" | grep -q '^{"totals":{"queue":{"count":.*"total":{"count":6,"mean_ms":.*"series":\[.*"total":{"count":6,' || fail "latency: $times"
echo "$times" | grep -q '"sparse":{"count":' || fail "latency of stages: $times"
curl -s -H 'Accept: text/csv' "$url/analytics/latency" | grep -q ',total,6,' || fail "latency as CSV"
memory=$(curl -s "$url/analytics/memory")
echo "$memory" | grep -q '"resident":[1-9][0-9]\{6,\},"answer":[0-9]*,"retrieval":[0-9]*,"index":' || fail "memory: $memory"
curl -s -H 'Accept: text/csv' "$url/analytics/memory" | grep -q '^t,resident_bytes,answer_bytes,retrieval_bytes,index_bytes,kv_bytes' ||
    fail "memory as CSV"
curl -s "$url/analytics/kv" | grep -q '"pages":0,.*"map":""' || fail "KV without a language model"
for wrong in 'latency?window=0h' 'memory?step=61s' 'kv?window=1h' 'cache?window=x' 'cache?step=30s' 'cache?window=7d&step=30m' 'latency?window=83d&step=1h' 'queries?order=cold' 'queries?limit=0' 'cache?wndow=1h'; do
    test "$(curl -s -o /dev/null -w '%{http_code}' "$url/analytics/$wrong")" = 400 || fail "takes $wrong"
done
# What the text says to take, is taken: hours are kept for 60 days alone.
for window in 7d=hours 90d=days; do
    said=$(curl -s "$url/analytics/latency?window=${window%=*}&step=7m")
    echo "$said" | grep -q "steps of whole ${window#*=}" || fail "step of ${window%=*}: $said"
done
stop KILL
start
after=$(curl -s "$url/analytics/cache?window=1h&step=1m")
echo "$after" | grep -q '"answer":{"lookups":6,"hits":3,"hit_ratio":0.5,' || fail "after kill -9: $after"
[ "$(curl -s "$url/analytics/latency?window=1h&step=1m")" = "$times" ] || fail "latency after kill -9"
stats=$("$forage" stats --url "$url" --json) || fail "stats --url"
echo "$stats" | grep -q '"cache_30_days":{"answer":{"lookups":6,"hits":3,' || fail "stats --url: $stats"
"$forage" stats --url "$url" | grep -q 'hit_ratio *50.0 %' || fail "stats --url prints no ratio"
stop TERM
stats=$("$forage" stats --home "$work/home" --json) || fail "stats --home"
echo "$stats" | grep -q '"cache_30_days":{"answer":{"lookups":6,"hits":3,' || fail "stats --home: $stats"
start --log-queries hash
ask "$q" >/dev/null
says "/analytics/queries?limit=50" '"query":"sha256:' || fail "no hash is logged"
stop TERM
start --log-queries off
ask '{"query":"What does the grey heron eat?"}' >/dev/null
stop TERM
start
rows=$(curl -s "$url/analytics/queries?limit=50")
echo "$rows" | grep -q '"query":null' || fail "off: $rows"
echo "$rows" | grep -q 'heron eat' && fail "off writes the text: $rows"
stop TERM
grep -aq 'heron eat?' "$work/home/forage.db" && fail "off writes the text"
grep -q 'heron' "$work/home/hot/default.hot" && fail "a hidden question is written down"
check "figures, CSV, forage stats; all of it after kill -9; questions can be hidden" 0
finish
