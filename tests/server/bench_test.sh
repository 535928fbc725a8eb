#!/bin/sh
# bench_test.sh - each benchmark of `forage bench` at its smallest: it ends with status 0 and one JSON object, whose figures are
# numbers above 0, and the ones that have an oracle agree with it. Wrong options have a sentence.
. "$(dirname "$0")/tap.sh"

# figures NAME...: each is in the object and above 0
figures() {
    for f in "$@"; do
        awk -v f="\"$f\":" '{ at = index($0, f); if (at && substr($0, at + length(f)) + 0 > 0) ok = 1 } END { exit !ok }' "$work/out" ||
            { echo "# $f"; return 1; }
    done
}
bench() { # bench ARGUMENT...: status 0 and an object
    run 0 "$forage" bench "$@" --json && [ "$(wc -l <"$work/out")" = 1 ] && grep -q '^{.*}$' "$work/out"
}

bench make-model --shape toy --type q8_0 --out "$work/toy.gguf" && [ -s "$work/toy.gguf" ]; check "a model is made" $?
bench make-model --shape toy --type f16 --diffusion --out "$work/dream.gguf" && [ -s "$work/dream.gguf" ]; check "and one that writes by diffusion" $?
bench prefill --model "$work/toy.gguf" --tokens 64 --threads 2; check "prefill" $?
bench decode --model "$work/toy.gguf" --tokens 8 --batch 2 --depth 16 --threads 2; check "decode" $?
bench lookup --model "$work/toy.gguf" --prompt 64 --tokens 16; check "lookup" $?
bench make-model --shape tiny --type q4_0 --out "$work/tiny.gguf" && bench context --model "$work/tiny.gguf" --runs 1 --threads 2; check "context" $?
bench diffusion --model "$work/dream.gguf" --prompt 32 --n 8 --runs 1 --threads 2; check "diffusion" $?
bench machine --threads 2; check "machine" $?

# Exact neighbours of 200 vectors of 8 numbers, by awk: what hnsw finds of them is known.
awk -v vectors="$work/base.txt" 'BEGIN { srand(7); for (i = 0; i < 200; i++) { for (k = 0; k < 8; k++) printf "%s%.6f", k ? " " : "", rand() > vectors; print "" > vectors } }'
awk '{ for (k = 1; k <= NF; k++) v[NR - 1, k] = $k } END { for (q = 0; q < 10; q++) { for (i = 0; i < NR; i++) { d = 0
    for (k = 1; k <= 8; k++) d += (v[q, k] - v[i, k]) ^ 2; printf "%d %.9f %d\n", q, d, i } } }' "$work/base.txt" | sort -k1,1n -k2,2n |
    awk '{ if (n[$1]++ < 10) print $1, $3 }' >"$work/near.txt"
python=$(command -v python3) || python=
if [ -n "$python" ]; then
    "$python" - "$work" <<'PY'
import struct, sys
w = sys.argv[1]
rows = [[float(x) for x in l.split()] for l in open(w + "/base.txt")]
def fvecs(name, rows): open(w + name, "wb").write(b"".join(struct.pack("<i8f", 8, *r) for r in rows))
fvecs("/b.fvecs", rows)
fvecs("/q.fvecs", rows[:10])
near = {}
for l in open(w + "/near.txt"):
    q, i = map(int, l.split())
    near.setdefault(q, []).append(i)
open(w + "/t.ivecs", "wb").write(b"".join(struct.pack("<11i", 10, *near[q]) for q in range(10)))
PY
    bench hnsw --base "$work/b.fvecs" --query "$work/q.fvecs" --truth "$work/t.ivecs" --repeat 1 && grep -q '"recall[^,]*":1[,.}]' "$work/out"
    check "hnsw finds all of few" $?
else
    skip "hnsw" "no python3"
fi

i=0
while [ $i -lt 60 ]; do
    echo "The pump number $i stands in hall $((i % 7)) and is serviced every $((i * 11)) hours by the warden."
    i=$((i + 1))
done >"$work/passages.txt"
i=0
while [ $i -lt 8 ]; do
    printf '%d\tHow often is the pump number %d serviced?\n' "$i" "$i"
    i=$((i + 1))
done >"$work/questions.tsv"
bench bm25 --passages "$work/passages.txt" --questions "$work/questions.tsv" --check && grep -q '"equal_to_exhaustive":1[,}]' "$work/out"; check "bm25, as a scan of all postings has it" $?
bench make-model --shape minilm-l6 --type q8_0 --out "$work/encoder.gguf" && bench embed --model "$work/encoder.gguf" --passages "$work/passages.txt" --limit 8; check "embed" $?

serve "$work/home"
post /ingest '{"documents":[{"text":"The north pump is serviced every 400 hours."}]}' >/dev/null
echo '{"query":"How often is the north pump serviced?","cache":"bypass"}' >"$work/body"
bench http --url "$url/query" --requests 40 --concurrency 4 --body "$work/body" --warmup 4 && figures requests_per_s p50_ms p99_ms && grep -q '"errors":0' "$work/out"
check "http" $?
bench http --url "$url/query" --requests 20 --concurrency 4 --rate 40 --body "$work/body" && figures requests_per_s; check "http, at a rate" $?
bench chat --url "$url" --collection default --turns 2; check "chat" $?
stop TERM
run 1 "$forage" bench prefill --model "$work/none.gguf" --json; check "a model that is not there" $?
run 2 "$forage" bench decode --tokens 4 --json; check "an option that is missing" $?
run 1 "$forage" bench make-model --shape giant --out "$work/x.gguf" --json; check "a shape that nobody knows" $?
finish
