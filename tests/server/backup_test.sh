#!/bin/sh
# A home in one file and back: 60 questions (with TEST_LONG 200) are answered as before, also by copies that were made while
# documents came in; a file with any bit changed, or a home that holds documents, is refused. Speaks TAP.
. "$(dirname "$0")/tap.sh"
seed=${SEED:-20261124}
echo "# SEED=$seed"
if [ -n "${TEST_LONG-}" ]; then questions=200 flips=12; else questions=60 flips=4; fi

# ---- questions, before and after ---------------------------------------------------------------

# Five words that stand together in the documents make a question: most have an answer, some have none.
grep -rhoE "[A-Za-z]+( [A-Za-z]+){4}" data/sample/*.md data/sample/*.txt docs/*.md | sort -u |
    awk -v s="$seed" -v most=$questions 'BEGIN { srand(s) } { w[n++] = $0 }
        END { for (i = 0; i < most; i++) printf "What is said of %s?\n", w[int(rand() * n)] }' >"$work/questions"
# Everything of a reply but its times, its own id and what was cached.
ask() { # ask FILE
    while read -r q; do
        post /query "{\"query\":\"$q\",\"cache\":\"bypass\",\"top_k\":10}"
        echo
    done <"$work/questions" | sed -E 's/"(query_id|id|request_id)":"q[^"]*",?//g; s/"timings?[a-z_]*":\{[^}]*\},?//g; s/"[a-z_]*_ms":[0-9.e-]+,?//g; s/"cache":\{[^}]*\},?//g; s/"usage":\{[^}]*\},?//g' >"$1"
}
serve "$work/home"
run 0 "$forage" ingest data/sample docs --url "$url"
stop TERM
serve "$work/home"
# What is deleted leaves tombstones in the files, and the newest document lies in no file yet.
echo '{"id":"late","text":"The heron keeps its ladder beside the eastern sluice."}' >"$work/late.jsonl"
run 0 "$forage" ingest "$work/late.jsonl" --url "$url"
curl -s -X DELETE "$url/documents/data%2Fsample%2Fdrone.txt" >/dev/null
# Titles get their vectors a second after the last document came, and answers may be others then: those go with the copy, too.
i=0
while [ $i -lt 600 ] && ! curl -s "$url/metrics" | grep -q '^forage_embedded_titles_total [1-9]'; do sleep 0.1; i=$((i + 1)); done
curl -s "$url/metrics" | grep -q '^forage_embedded_titles_total [1-9]'; check "its titles are embedded meanwhile" $?
ask "$work/before"
run 0 "$forage" backup "$work/one.tar.zst" --home "$work/home"
check "a home is copied while it is served" $?
[ "$(stat -c %a "$work/one.tar.zst")" = 600 ] && [ -z "$(ls "$work" | grep tmp-)" ]
check "into one file, its owner's alone" $?
if command -v zstd >/dev/null; then
    mkdir "$work/by-hand"
    (cd "$work/by-hand" && tar --zstd -xf ../one.tar.zst && sha256sum -c SHA256SUMS) >"$work/out" 2>&1
    check "tar and sha256sum read it, too" $?
else
    skip "tar and sha256sum read it, too" "there is no zstd"
fi
stop TERM
run 0 "$forage" restore "$work/one.tar.zst" --home "$work/second"; check "a home is made from it" $?
run 0 "$forage" index verify --home "$work/second"; check "which is sound" $?
serve "$work/second"
! grep -q "index_missing\|index_ahead\|index_dropped" "$log"; check "its index files came with it" $?
ask "$work/after"
[ "$(wc -l <"$work/before")" -eq $questions ] && grep -c '"citations":\[{' "$work/before" >"$work/n" &&
    [ "$(cat "$work/n")" -gt $((questions / 10)) ] && cmp "$work/before" "$work/after" >"$work/out" 2>&1
check "and answers $questions questions as the first did" $?
echo "# $(cat "$work/n") of them with citations"
stop TERM

# ---- while documents come in -------------------------------------------------------------------

: >"$work/acked"
feed() {
    k=0
    while [ ! -e "$work/enough" ]; do
        echo "{\"id\":\"d$k\",\"text\":\"Document $k of the flood speaks of level$k and gauge$((k % 7)).\"}" >"$work/next"
        "$forage" ingest - --url "$url" <"$work/next" >/dev/null 2>&1 && cat "$work/next" >>"$work/acked"
        k=$((k + 1))
    done
}
serve "$work/busy"
feed &
feeder=$!
whole=0 kept=0
for i in 1 2 3 4 5 6; do
    sleep 0.2
    if [ $((i % 2)) -eq 0 ]; then
        cp "$work/acked" "$work/acked.$i"
        "$forage" backup "$work/busy.$i.tar.zst" --home "$work/busy" >/dev/null 2>&1 || continue
    else
        cp "$work/acked" "$work/acked.$i"
        curl -s -X POST "$url/admin/snapshot" >"$work/out"
        mv "$work/busy/backups/"*.tar.zst "$work/busy.$i.tar.zst" || continue
    fi
done
touch "$work/enough"
wait $feeder
stop TERM
for i in 1 2 3 4 5 6; do
    run 0 "$forage" restore "$work/busy.$i.tar.zst" --home "$work/busy.$i" &&
        run 0 "$forage" index verify --home "$work/busy.$i" && whole=$((whole + 1))
    n=$(wc -l <"$work/acked.$i")
    run 0 "$forage" ingest - --home "$work/busy.$i" --json <"$work/acked.$i" &&
        grep -q "\"unchanged\":$n[,}]" "$work/out" && kept=$((kept + 1))
done
echo "# $(wc -l <"$work/acked") documents came in meanwhile, $n before the last copy"
[ $whole -eq 6 ]; check "six copies made during an ingest become homes that are sound" $?
[ $kept -eq 6 ] && [ "$n" -gt 0 ]; check "each holds all that was acknowledged before it began" $?

# ---- refused -----------------------------------------------------------------------------------

run 1 "$forage" restore "$work/one.tar.zst" --home "$work/second" && grep -q -- "--force" "$work/err"
check "a home that holds documents is not overwritten" $?
flip() { # flip FILE OFFSET: one bit
    byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
    # shellcheck disable=SC2059 # the byte is the format
    printf "\\$(printf %o $((byte ^ (1 << $2 % 8))))" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
size=$(stat -c %s "$work/one.tar.zst")
refused=0 tried=0
refuses() { # refuses WHAT: $work/bad is refused, and said to be damaged
    tried=$((tried + 1))
    if run 1 "$forage" restore "$work/bad" --home "$work/empty" &&
        grep -q "damaged\|cut off\|no backup" "$work/err" && [ ! -e "$work/empty/forage.db" ]; then
        refused=$((refused + 1))
    else
        echo "# silent: $1"
    fi
}
for at in 0 1 4 5 9 $(awk -v s="$seed" -v m="$size" -v k=$flips 'BEGIN { srand(s); for (i = 0; i < k; i++) print int(rand() * m) }') \
    $((size - 48)) $((size - 44)) $((size - 40)) $((size - 32)) $((size - 1)); do
    cp "$work/one.tar.zst" "$work/bad"
    flip "$work/bad" "$at"
    refuses "a bit of byte $at"
done
for at in 0 1 47 48 49 1000 $((size / 2)) $((size - 48)) $((size - 1)); do
    head -c "$at" "$work/one.tar.zst" >"$work/bad"
    refuses "cut to $at bytes"
done
cat "$work/one.tar.zst" "$work/late.jsonl" >"$work/bad"
refuses "something added"
cat "$work/one.tar.zst" "$work/busy.1.tar.zst" >"$work/bad"
refuses "two of them"
[ ! -e "$work/empty" ]; check "what is refused leaves no folder behind" $?
echo "{}" >"$work/none.json" && run 1 "$forage" restore "$work/none.json" --home "$work/empty" &&
    grep -q "none.json is no backup of Forage" "$work/err" && ! grep -q "forage.db" "$work/err" && [ ! -e "$work/empty" ]
check "a file that is none is said to be none" $?
echo "# $tried variants, $refused refused"
[ $refused -eq $tried ] && [ $tried -ge $((21 + flips - 3)) ]; check "a file with anything changed is refused" $?
run 0 "$forage" restore "$work/one.tar.zst" --home "$work/second" --force &&
    run 0 "$forage" index verify --home "$work/second"
check "--force replaces what a home holds" $?
run 0 "$forage" restore "$work/second/forage.db" --home "$work/bare" &&
    run 0 "$forage" index verify --home "$work/bare"
check "a bare copy of a database becomes a home, too" $?
run 1 "$forage" backup "$work/one.tar.zst" --home "$work/second" && grep -q -- "--force" "$work/err"
check "a backup is not written over another" $?
run 1 "$forage" backup "$work/none.tar.zst" --home "$work/nowhere" && [ ! -e "$work/none.tar.zst" ]
check "without a home there is none" $?
finish
