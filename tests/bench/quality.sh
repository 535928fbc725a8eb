#!/bin/sh
# tests/bench/quality.sh FORAGE [SET...] - the table of docs/measurements/quality.md: nDCG@10 of every judged set,
# sparse, dense and hybrid. Reads FORAGE_SHARED (../shared); homes go to WORK (a temporary folder
# unless set, so that a second run ingests nothing). Extra options for eval in EVAL, for the embedder in
# EMBED ("--embed-model FILE"). No python: the figures are cut out of --json by sed.
set -eu
forage=$1
shift
shared=${FORAGE_SHARED:-../shared}/eval
[ $# -gt 0 ] || set -- scifact cranfield cisi cacm cookbook_code nq-swap mtrag-un squad
work=${WORK:-$(mktemp -d)}
field() { printf '%s' "$1" | sed -n "s/.*\"$2\":\([-0-9.eE]*\).*/\1/p"; }
echo "| set | queries | sparse | dense | hybrid | hybrid success@1 | hybrid success@10 |"
echo "|---|---|---|---|---|---|---|"
sums="0 0 0" n=0
for s; do
    # shellcheck disable=SC2086 # options
    [ -e "$work/$s/forage.db" ] || "$forage" ingest "$shared/$s/corpus.jsonl" --home "$work/$s" ${EMBED:-} >/dev/null 2>&1
    row=
    for mode in sparse dense hybrid; do
        # shellcheck disable=SC2086
        json=$("$forage" eval --home "$work/$s" --queries "$shared/$s/queries.jsonl" \
            --qrels "$shared/$s/qrels.tsv" --mode $mode --no-answers --json ${EMBED:-} ${EVAL:-} 2>/dev/null)
        v=$(field "$json" 'ndcg@10')
        row="$row $v"
    done
    sums=$(echo "$sums $row" | awk '{print $1+$4, $2+$5, $3+$6}')
    n=$((n + 1))
    echo "$row" | awk -v s="$s" -v q="$(field "$json" judged)" -v a="$(field "$json" 'success@1')" \
        -v b="$(field "$json" 'success@10')" \
        '{printf "| %s | %d | %.3f | %.3f | %.3f | %.3f | %.3f |\n", s, q, $1, $2, $3, a, b}'
done
echo "$sums" | awk -v n="$n" '{printf "| mean | | %.3f | %.3f | %.3f | | |\n", $1/n, $2/n, $3/n}'
[ -n "${WORK:-}" ] || rm -rf "$work"
