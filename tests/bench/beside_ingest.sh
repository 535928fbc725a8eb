#!/bin/sh
# tests/bench/beside_ingest.sh FORAGE CORPUS.jsonl QUERIES.jsonl [MODEL.gguf] - what questions feel of an
# ingest: /search (and /query, where a language model is given) alone, then while DOCUMENTS (1000) of
# the corpus come in through HTTP, and how long those take with and without the questions. A table on
# stdout. EMBED: the embedder's GGUF file (default: the built-in table).
set -eu
forage=$1 corpus=$2 queries=$3 model=${4:-}
documents=${DOCUMENTS:-1000} first=${FIRST:-300} work=
. "$(dirname "$0")/../../server/service.sh"

bench() { # ROUTE REQUESTS: all of them once before the clock starts
    "$forage" bench http --url "$url/$1" --bodies "$work/$1.jsonl" --requests "$2" --warmup "$2" \
        --concurrency 1 --json 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
}
ingest() { # FILE: seconds
    from=$(date +%s%N)
    "$forage" ingest "$1" --url "$url" >/dev/null 2>&1
    echo "$from $(date +%s%N)" | awk '{ printf "%.2f", ($2 - $1) / 1e9 }'
}
passages() { # FROM COUNT ID: so many of the corpus, from that line on, round and round
    awk -v from="$1" -v count="$2" -v id="$3" '{ line[n++] = $0 } END {
        for (i = 0; i < count; i++) {
            s = line[(from + i) % n]
            sub(/"(_id|id)": *"[^"]*"/, "\"id\":\"" id i "\"", s)
            print s } }' "$corpus"
}

passages 0 "$first" first >"$work/first.jsonl"
passages "$first" "$documents" alone >"$work/alone.jsonl"
sed -n 's/.*"\(text\|query\)": *"\([^"]*\)".*/\2/p' "$queries" >"$work/questions"
awk '{ printf "{\"query\":\"%s\",\"top_k\":10}\n", $0 }' "$work/questions" >"$work/search.jsonl"
awk '{ printf "{\"query\":\"%s\",\"max_tokens\":32,\"grounding\":\"loose\"}\n", $0 }' "$work/questions" >"$work/query.jsonl"
serve "$work/home" --cache 0 --log-queries off --log-level warn ${EMBED:+--embed-model "$EMBED"} \
    ${model:+--model "$model"}
ingest "$work/first.jsonl" >/dev/null

echo '| requests | p50 ms | p99 ms | ingest of '"$documents"', s |'
echo '|---|---|---|---|'
echo "| none | | | $(ingest "$work/alone.jsonl") |"
for route in search ${model:+query}; do
    n=500
    [ $route = search ] || n=10
    line() { printf '| /%s %s | %.1f | %.1f | %s |\n' "$route" "$1" "$(number p50_ms <"$work/out")" \
        "$(number p99_ms <"$work/out")" "$2"; }
    bench $route $n >"$work/out"
    line alone ''
    passages "$first" "$documents" "$route" >"$work/$route-docs.jsonl"
    ingest "$work/$route-docs.jsonl" >"$work/took" &
    ingesting=$!
    sleep 1
    bench $route $n >"$work/out"
    kill -0 $ingesting 2>/dev/null && state='beside the ingest' || state='beside the ingest, which ended first'
    wait $ingesting
    line "$state" "$(cat "$work/took")"
done
