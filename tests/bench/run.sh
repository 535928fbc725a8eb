#!/bin/sh
# tests/bench/run.sh FORAGE - the benchmarks, one JSON object a line on stdout and what is measured on
# stderr. Those of foreign data run where that data lies at FORAGE_SHARED or ../shared.
set -eu
forage=$1
shared=${FORAGE_SHARED:-../shared} work=
. "$(dirname "$0")/../../server/service.sh"

bench() {
    echo "bench $*" | sed "s|$work/||g" >&2
    "$forage" bench "$@" --json
}

bench machine
echo "bench folders" >&2
sh "$(dirname "$0")/folders.sh" "$forage"

if [ -f "$shared/bench/passages.txt.zst" ] && command -v zstd >/dev/null; then
    zstd -qdc "$shared/bench/passages.txt.zst" >"$work/passages.txt"
    bench bm25 --passages "$work/passages.txt" --questions "$shared/bench/questions.tsv"
else
    echo "bm25 left out: it needs $shared/bench/passages.txt.zst and zstd" >&2
    # Any text serves to time an encoder.
    cat data/sample/*.md data/sample/*.txt | grep . >"$work/passages.txt"
fi
sift=$shared/eval/siftsmall/siftsmall
if [ -f "${sift}_base.fvecs" ]; then
    bench hnsw --base "${sift}_base.fvecs" --query "${sift}_query.fvecs" \
        --truth "${sift}_groundtruth.ivecs" --M 16 --efc 200
else
    echo "hnsw left out: it needs $shared/eval/siftsmall" >&2
fi

serve "$work/home"
"$forage" ingest data/sample --url "$url" >/dev/null 2>"$work/log" || {
    cat "$work/log" >&2
    exit 1
}
echo '{"query":"How often must somebody beyond the second boardwalk call the station?","cache":"bypass"}' >"$work/body"
bench http --url "$url/query" --requests 2000 --concurrency 8 --body "$work/body"
bench http --url "$url/health" --requests 20000 --concurrency 8
stop

bench make-model --shape minilm-l6 --type f16 --out "$work/minilm-l6.gguf"
bench embed --model "$work/minilm-l6.gguf" --passages "$work/passages.txt" --limit 256
bench make-model --shape smollm2-135m --type q4_0 --out "$work/smollm2-135m.gguf"
bench prefill --model "$work/smollm2-135m.gguf" --tokens 512
bench decode --model "$work/smollm2-135m.gguf" --tokens 64
bench decode --model "$work/smollm2-135m.gguf" --tokens 64 --batch 8
