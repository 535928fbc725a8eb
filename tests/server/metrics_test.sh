#!/bin/sh
# /metrics: what Prometheus's own checker says, that Grafana's dashboard and the alerts ask for nothing that is not
# there and leave nothing out, and that the figures are those of the queries made. With a language model where one is.
. "$(dirname "$0")/tap.sh"
ok() { check "$*" 0; }
fail() {
    check "$*" 1
    finish
}
model=
for m in models/smollm2-135m-instruct-q4_1.gguf "$shared/models/stories260K.gguf"; do
    [ -n "$model" ] || [ ! -f "$m" ] || model=$m
done
mkdir "$work/folder"
# shellcheck disable=SC2086 # options
serve "$work/home" --log-level off --source "notes=$work/folder" --tier 'free: requests=1000' --address-tier free \
    --otlp-endpoint http://127.0.0.1:9 ${model:+--model $model --kv-ram 64M} || fail "does not start"
value() { grep -v "^#" "$work/metrics" | grep -F "$1 " | sed "s/.* //"; }

post /ingest '{"documents":[{"id":"heron","text":"The grey heron stands one metre tall. It eats fish."}]}' >/dev/null
# generate as the service does by itself: written with a language model, else extractive
q='{"query":"How tall is the grey heron?","max_tokens":8}'
for _ in 1 2 3; do post /query "$q" >/dev/null; done
if [ -n "$model" ]; then
    story='{"prompt":"Once upon a time there was a grey heron who stood by the lake all day and looked at the water, the frogs and the fish, and at nothing else at all","max_tokens":6}'
    post /v1/completions "$story" >/dev/null
    post /v1/completions "$story" >/dev/null
fi
curl -s "$url/metrics" >"$work/metrics"
[ "$(value 'forage_http_requests_total{method="POST",route="/query",status="2xx"}')" = 3 ] ||
    fail "requests are not counted"
[ "$(value 'forage_cache_lookups_total{layer="answer"}')" = 3 ] || fail "look-ups: $(grep lookups_total "$work/metrics")"
[ "$(value 'forage_cache_hits_total{layer="answer"}')" = 2 ] || fail "hits"
[ "$(value 'forage_query_stage_seconds_count{stage="total"}')" = 3 ] || fail "stages"
[ "$(value 'forage_index_chunks')" = 1 ] || fail "index"
[ "$(value 'forage_sqlite_seconds_count{operation="commit"}')" -ge 1 ] || fail "SQLite"
[ "$(value 'process_resident_memory_bytes')" -gt 1000000 ] || fail "memory"
for part in answer retrieval reader ingest; do
    [ "$(value "forage_memory_budget_bytes{part=\"$part\"}")" -gt 0 ] || fail "no budget of $part"
done
[ "$(value 'forage_memory_bytes{part="reader"}')" -gt 1000 ] || fail "the reader keeps nothing of what it read"
# Under a sanitizer memory is its own, and malloc knows of none.
ldd "$forage" | grep -q "lib[at]san" || [ "$(value 'forage_malloc_bytes{state="used"}')" -gt 1000000 ] || fail "malloc"
grep -q 'forage_build_info{version="[^"]*",isa="[a-z0-9]*",compiler="[^"]*",embedder="[^"]*",generator=' "$work/metrics" ||
    fail "build info"
ok "counters, histograms and gauges hold what was done"

if [ -n "$model" ]; then
    [ "$(value 'forage_generation_first_token_seconds_count')" -ge 2 ] || fail "no first tokens"
    [ "$(value 'forage_generation_inter_token_seconds_count')" -ge 2 ] || fail "no tokens after the first"
    [ "$(value 'forage_generation_tokens_total{kind="answer"}')" -ge 4 ] || fail "no tokens"
    pages=0
    for state in free cached used shared; do
        pages=$((pages + $(value "forage_kv_pages{state=\"$state\"}")))
    done
    kv=$(curl -s "$url/analytics/kv")
    echo "$kv" | grep -q "\"pages\":$pages,.*\"map\":\"[fcus]\{$pages\}\"" || fail "$pages pages, but $kv"
    echo "$kv" | grep -q '"map":"[fus]*c' || fail "no page is kept: $kv"
    [ "$(value 'forage_kv_hit_tokens_total')" -ge 16 ] || fail "the second story found no page"
    ok "tokens, their times and the pages of KV are there"
else
    skip "tokens, their times and the pages of KV are there" "no language model is here (make models)"
fi

# Every name that the dashboard and the alerts ask for, and every one that there is.
sed -n 's/^ *"expr": "\(.*\)",*$/\1/p' docs/grafana-dashboard.json | sed 's/\\"/"/g' >"$work/exprs"
[ "$(wc -l <"$work/exprs")" -ge 20 ] || fail "the dashboard has no queries"
sed -n 's/^ *expr: //p' docs/prometheus-alerts.yaml >"$work/alerts"
[ "$(wc -l <"$work/alerts")" -ge 10 ] || fail "there are no alerts"
missing=
for name in $(cat "$work/exprs" "$work/alerts" | grep -oE '(forage|process)_[a-z_]+' | sort -u); do
    family=${name%_bucket}
    case $family in
    forage_generation_* | forage_kv_*) [ -n "$model" ] || continue ;;
    esac
    case $family in
    forage_kv_warm_* | forage_generation_denoise_*) continue ;; # with --warm, with a model of that kind
    esac
    grep -q "^# TYPE $family " "$work/metrics" || missing="$missing $name"
done
[ -z "$missing" ] || fail "the dashboard or an alert asks for what there is not:$missing"
ok "the dashboard for Grafana and the alerts ask for nothing that is not there"
missing=
for family in $(sed -n 's/^# TYPE \([a-z_]*\) .*/\1/p' "$work/metrics"); do
    case $family in
    forage_build_info | process_start_time_seconds) ;; # no curve
    *) grep -q "$family" "$work/exprs" "$work/alerts" || missing="$missing $family" ;;
    esac
done
[ -z "$missing" ] || fail "the dashboard leaves out:$missing"
ok "and leave nothing out"

if command -v promtool >/dev/null; then
    promtool check metrics <"$work/metrics" || fail "promtool check metrics"
    {
        echo 'groups: [{name: dashboard, rules: ['
        i=0
        while read -r e; do
            i=$((i + 1))
            echo "{record: 'r$i', expr: '$e'},"
        done <"$work/exprs"
        echo ']}]'
    } >"$work/rules.yml"
    promtool check rules "$work/rules.yml" || fail "promtool check rules"
    promtool check rules docs/prometheus-alerts.yaml || fail "promtool check rules: alerts"
    ok "promtool takes the metrics, the queries and the alerts"
else
    skip "promtool takes the metrics, the queries and the alerts" "promtool is not installed"
fi
finish
