#!/bin/sh
# tests/bench/sizes.sh FORAGE NOISE PASSAGES.txt QUESTIONS.tsv BASE.f32 QUERY.f32 [WORK] - cost against
# size: the sparse and the dense index over 10,000, 100,000 and 1,000,000 passages and vectors (SIZES),
# made by NOISE (build/tests/bench/noise) from those given. Lines of "series, size, value" on stdout,
# which plot.awk draws. WORK keeps texts, vectors and the JSON of every run; a dense run that is there
# already is not repeated. A million vectors of 384 values take 5 GB of memory.
set -eu
forage=$1 noise=$2 passages=$3 questions=$4 base=$5 query=$6
work=${7:-$(mktemp -d)}
[ -n "${7:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
number() { sed -n "s/.*\"$2\":\([-0-9.eE+]*\).*/\1/p" "$1"; }
row() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
for n in ${SIZES:-10000 100000 1000000}; do
    if [ -z "${DENSE_ONLY:-}" ]; then
        out=$work/sparse-$n.json
        text=$work/passages-$n.txt
        [ -s "$text" ] || "$noise" text "$n" <"$passages" >"$text"
        "$forage" bench bm25 --passages "$text" --questions "$questions" --repeat 3 --json >"$out"
        sed 's/.*"without_stop_words"/{"without_stop_words"/' "$out" >"$work/part"
        sed 's/"without_stop_words".*/}/' "$out" >"$work/whole"
        row "sparse, all words, µs" "$n" "$(number "$work/whole" mean_us)"
        row "sparse, without stop words, µs" "$n" "$(number "$work/part" mean_us)"
        row "sparse build, s (1 thread)" "$n" "$(number "$out" index_s)"
        row "sparse, bytes" "$n" "$(number "$out" bytes)"
    fi
    [ -z "${SPARSE_ONLY:-}" ] || continue
    out=$work/dense-$n.json
    [ -s "$out" ] || {
        v=$work/v-$n
        [ -s "$v.gt.i32" ] || "$noise" vectors "$n" "$base" "$query" "$v"
        "$forage" bench hnsw --base "$v.base.f32" --query "$v.query.f32" --truth "$v.gt.i32" \
            --json >"$out"
    }
    for at in 0.95 0.99; do
        row "dense, recall $at, µs" "$n" "$(number "$out" "$at" | awk '{ printf "%.1f", 1e6 / $1 }')"
    done
    row "dense build, s (2 threads)" "$n" "$(number "$out" build_s)"
    row "dense, bytes" "$n" "$(number "$out" bytes)"
done
