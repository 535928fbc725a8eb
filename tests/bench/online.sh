#!/bin/sh
# tests/bench/online.sh FORAGE PASSAGES.txt QUESTIONS.tsv [WORK] - what filling a home online costs a
# search: /search over a home that was filled through HTTP in PARTS (16) files, two at a time, of which
# every tenth document was deleted then, beside a home built offline from what is left. A table on
# stdout. WORK keeps the homes: a second run searches only. Needs curl. ONLY=fill stops before searching.
set -eu
forage=$1 passages=$2 questions=$3
work=${4:-}
parts=${PARTS:-16} requests=${REQUESTS:-2000}
. "$(dirname "$0")/../../server/service.sh"

metric() { curl -s "$url/metrics" | awk -v name="$1" '$1 == name { print $2 }'; }
bench() { # MODE CONNECTIONS
    "$forage" bench http --url "$url/search" --bodies "$work/$1.jsonl" --requests "$requests" \
        --warmup 100 --concurrency "$2" --json 2>/dev/null
}
mean_us() { # STAGE MODE: of the stage, over the requests of that mode
    before=$(metric "forage_query_stage_seconds_sum{stage=\"$1\"}")
    counted=$(metric "forage_query_stage_seconds_count{stage=\"$1\"}")
    bench "$2" 1 >/dev/null
    echo "$before ${counted:-0} $(metric "forage_query_stage_seconds_sum{stage=\"$1\"}") \
$(metric "forage_query_stage_seconds_count{stage=\"$1\"}")" |
        awk '{ n = $4 - $2; printf "%.0f", n ? ($3 - $1) * 1e6 / n : 0 }'
}
measure() { # NAME HOME [LATE.jsonl]
    serve "$2" --cache 0 --log-queries off --log-level warn
    [ -z "${3:-}" ] || "$forage" ingest "$3" --url "$url" >/dev/null 2>&1
    one=$(bench hybrid 1)
    many=$(bench hybrid 8)
    dense=$(mean_us dense dense)
    sparse=$(mean_us sparse sparse)
    printf '| %s | %s | %.2f | %.2f | %.0f | %s | %s |\n' "$1" "$(metric forage_index_segments)" \
        "$(echo "$one" | number p50_ms)" "$(echo "$one" | number p99_ms)" \
        "$(echo "$many" | number requests_per_s)" "$dense" "$sparse"
    stop
}

for mode in hybrid dense sparse; do
    cut -f2 "$questions" | sed 's/[\\"]/\\&/g' |
        sed "s/.*/{\"query\":\"&\",\"top_k\":10,\"search\":{\"mode\":\"$mode\"}}/" >"$work/$mode.jsonl"
done
if [ ! -e "$work/filled" ]; then
    rm -rf "$work/online" "$work/offline" "$work"/part-*.jsonl
    awk -v parts="$parts" -v work="$work" '
        NR == FNR { n++; next }
        {
            gsub(/[\001-\037]/, " ")
            gsub(/[\\"]/, "\\\\&")
            line = "{\"id\":\"p" FNR "\",\"text\":\"" $0 "\"}"
            print line >(work "/part-" int((FNR - 1) * parts / n) ".jsonl")
            if (FNR % 10) print line >(work "/left.jsonl")
        }' "$passages" "$passages"
    serve "$work/online" --cache 0 --log-queries off --log-level warn
    i=0
    while [ $i -lt "$parts" ]; do
        "$forage" ingest "$work/part-$i.jsonl" --url "$url" >/dev/null 2>&1 &
        first=$!
        if [ $((i + 1)) -lt "$parts" ]; then
            "$forage" ingest "$work/part-$((i + 1)).jsonl" --url "$url" >/dev/null 2>&1
        fi
        wait "$first"
        i=$((i + 2))
    done
    documents=$(wc -l <"$passages")
    seq 10 10 "$documents" | sed "s|.*|url = \"$url/documents/p&\"\noutput = /dev/null|" >"$work/deletes"
    curl -s --fail -X DELETE -K "$work/deletes"
    stop
    "$forage" index build --input "$work/left.jsonl" --home "$work/offline" >/dev/null 2>&1
    rm -f "$work"/part-*.jsonl "$work/deletes"
    : >"$work/filled"
fi
[ "${ONLY:-}" != fill ] || exit 0
echo "| home | segments | p50, ms | p99, ms | requests/s, 8 connections | dense, mean µs | sparse, mean µs |"
echo "|---|---|---|---|---|---|---|"
measure "built offline" "$work/offline"
# Closing the server sealed what was in memory: new versions of a few documents open a segment again.
head -n 200 "$passages" | sed 's/[[:cntrl:]\\"]/ /g' |
    awk -v now="$(date +%s)" '{ print "{\"id\":\"late" NR "\",\"text\":\"" $0 " " now "\"}" }' >"$work/late.jsonl"
measure "filled online, 10 % deleted" "$work/online" "$work/late.jsonl"
