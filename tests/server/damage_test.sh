#!/bin/sh
# Over 200 damaged variants of a home, over every kind of file that lies in one: each is refused, or
# mended with a message, or found by `index verify`. None is silent. Speaks TAP.
. "$(dirname "$0")/tap.sh"
seed=${SEED:-20261121}
echo "# SEED=$seed"

# ---- a home with everything in it ------------------------------------------------------------

model=$shared/models/stories260K.gguf
[ -r "$model" ] && set -- --model "$model" --kv-disk 8M || set --
serve "$work/clean" "$@"
"$forage" ingest data/sample --url "$url" >/dev/null 2>&1
echo '{"id":"k1","text":"The key of the boat shed hangs behind the blue door."}' >"$work/keys.jsonl"
"$forage" ingest "$work/keys.jsonl" --collection keys --url "$url" >/dev/null 2>&1
for q in "When is the weir closed?" "What must be done when the red light above the sink is on?" \
    "Who holds the licence of the drone?"; do
    "$forage" query "$q" --url "$url" >/dev/null 2>&1
    "$forage" query "$q" --url "$url" >/dev/null 2>&1
done
post /v1/completions '{"prompt":"Once upon a time there was a little girl who lived in a house by the sea and had a small boat","max_tokens":8}' >/dev/null
curl -s -X POST "$url/admin/snapshot" >/dev/null
curl -s -X DELETE "$url/documents/k1?collection=keys" >/dev/null
"$forage" ingest "$work/keys.jsonl" --collection keys --url "$url" >/dev/null 2>&1
stop TERM
# Another as kill -9 leaves it, with much of it in the log alone.
cp -a "$work/clean" "$work/killed"
serve "$work/killed"
for i in 1 2 3 4 5 6; do
    echo "{\"id\":\"w$i\",\"text\":\"Note $i is about the water of well $i.\"}" >"$work/one.jsonl"
    "$forage" ingest "$work/one.jsonl" --url "$url" >/dev/null 2>&1
done
cp -a "$work/killed" "$work/copy" # before the signal: nothing is tidied up behind it
stop KILL
rm -rf "$work/killed"
mv "$work/copy" "$work/killed"

run 0 "$forage" index verify --home "$work/clean"
check "a home that was closed is sound" $?
run 0 "$forage" index verify --home "$work/killed"
check "so is one whose server was killed" $?
(cd "$work/clean" && find . -type f -printf '%P %s\n' | sort) | sed 's/^/# /'

serve "$work/clean"
run 0 "$forage" index verify --home "$work/clean" && grep -q "note: a server works on this home" "$work/out"
check "and one that a server works on, as far as it can be seen" $?
stop TERM

# ---- damage ----------------------------------------------------------------------------------

randoms() { # randoms N BELOW SALT: N numbers
    awk -v s="$seed" -v k="$3" -v n="$1" -v m="$2" \
        'BEGIN { srand(s + k); for (i = 0; i < n; i++) printf "%d\n", int(rand() * m) }'
}
flip() { # flip FILE OFFSET: one bit
    byte=$(od -An -tu1 -j "$2" -N 1 "$1" | tr -d ' ')
    # shellcheck disable=SC2059 # the byte is the format
    printf "\\$(printf %o $((byte ^ (1 << $2 % 8))))" |
        dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

share() { # share N: with TEST_LONG all N variants, else a third
    if [ -n "${TEST_LONG-}" ]; then echo "$1"; else echo $((($1 + 2) / 3)); fi
}

# One variant: $work/v is damaged. `verify` sees it as it lies, then a command opens it to write.
n_all=0 n_silent=0
row_n=0 row_found=0 row_refused=0 row_told=0 row_silent=0
judge() { # judge WHAT
    found=1 opened=1 told=1
    "$forage" index verify --home "$work/v" >"$work/verify" 2>&1 && found=0
    cp -a "$work/v" "$work/w"
    "$forage" ingest "$work/keys.jsonl" --collection keys --home "$work/w" >"$work/answer" 2>"$work/said" || opened=0
    grep -q '^forage: ' "$work/said" || told=0
    row_n=$((row_n + 1)) n_all=$((n_all + 1))
    row_found=$((row_found + found)) row_refused=$((row_refused + 1 - opened))
    row_told=$((row_told + (opened && told)))
    if [ $found = 0 ] && [ $opened = 1 ] && [ $told = 0 ]; then
        row_silent=$((row_silent + 1)) n_silent=$((n_silent + 1))
        echo "# silent: $1"
        sed 's/^/#   /' "$work/verify"
    fi
    rm -rf "$work/v" "$work/w"
}
row() { # row KIND: print and begin anew
    printf '# %-34s %4d variants: %4d found by verify, %4d refused, %4d told at start, %d silent\n' \
        "$1" $row_n $row_found $row_refused $row_told $row_silent
    row_n=0 row_found=0 row_refused=0 row_told=0 row_silent=0
}
printf '# kind\n'
variants() { # variants HOME FILE FLIPS CUTS [kept]: bits, lengths, and (but for "kept") the file gone
    [ -f "$work/$1/$2" ] || return
    size=$(stat -c %s "$work/$1/$2")
    [ "$size" -gt 0 ] || return
    for at in $(randoms "$(share "$3")" "$size" "$size"); do
        cp -a "$work/$1" "$work/v"
        flip "$work/v/$2" "$at"
        judge "$1/$2, a bit of byte $at"
    done
    for at in $(randoms "$(share "$4")" "$size" $((size + 1))); do
        cp -a "$work/$1" "$work/v"
        truncate -s "$at" "$work/v/$2"
        judge "$1/$2, cut to $at of $size bytes"
    done
    [ "${5-}" != kept ] || return
    cp -a "$work/$1" "$work/v"
    rm "$work/v/$2"
    judge "$1/$2, gone"
}
first() { (cd "$work/clean" && find "$1" -name "$2" | sort | head -n 1); }
extra() { # extra FROM TO: a file too many
    cp -a "$work/clean" "$work/v"
    cp "$work/clean/$1" "$work/v/$2"
    judge "$2, a file too many"
}

variants clean forage.db 40 6
cp -a "$work/clean" "$work/v" && : >"$work/v/forage.db" && judge "forage.db, emptied"
cp -a "$work/clean" "$work/v" && echo more >>"$work/v/forage.db" && judge "forage.db, longer"
row "forage.db"
variants killed forage.db-wal 24 6
row "forage.db-wal (killed)"
variants killed forage.db 6 0
row "forage.db (killed)"
variants clean ledger 12 3
variants killed ledger 6 2
row "ledger"
segment=$(first index '*.seg') folder=$(dirname "$segment")
variants clean "$segment" 30 4
extra "$segment" "$folder/00000000000000ff.seg"
extra "$segment" "$folder/notes.txt"
cp -a "$work/clean" "$work/v" && cp -a "$work/v/$folder" "$work/v/index/default/other-99.0" && judge "a folder of no collection"
row "index/*.seg"
variants clean "$folder/MANIFEST" 8 2
row "index/MANIFEST"
cp -a "$work/clean" "$work/v" && rm -r "$work/v/index" && judge "index/, gone"
cp -a "$work/clean" "$work/v" && rm -r "$work/v/$folder" && judge "one index, gone"
row "index/ folders"
variants clean "$(first hot '*.hot')" 8 2
row "hot/"
kv=
if [ -d "$work/clean/kv" ]; then
    kv=$(first kv '*.kv')
    variants clean "$kv" 16 3
    extra "$kv" kv/extra.bin
    row "kv/*.kv"
    variants clean kv/index.db 10 2
    row "kv/index.db"
else
    echo "# kv/: no small model here, not looked at"
fi
backup=$(first backups '*.tar.zst')
variants clean "$backup" 14 4 kept # a copy that somebody took away is no damage
extra "$backup" backups/copy.txt
row "backups/"
if command -v sqlite3 >/dev/null; then
    while read -r sql; do
        cp -a "$work/clean" "$work/v"
        sqlite3 "$work/v/forage.db" "$sql" >/dev/null 2>"$work/err" || sed 's/^/# /' "$work/err"
        judge "by hand: $sql"
    done <<'SQL'
UPDATE texts SET bytes = CAST(replace(CAST(bytes AS TEXT), 'the', 'teh') AS BLOB)
UPDATE documents SET title = 'Something else' WHERE id = 3
UPDATE documents SET metadata = '{"x":1}' WHERE id = 2
UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE chunk = 5
UPDATE collections SET n_documents = n_documents + 1
UPDATE collections SET epoch = 1
DELETE FROM chunks WHERE id = 4
DELETE FROM documents WHERE id = 4
UPDATE chunks SET start_cp = start_cp + 1 WHERE id = 6
DELETE FROM query_log
UPDATE home SET commits = 1
DROP TABLE jobs
SQL
    row "forage.db, by hand"
fi
[ $n_all -ge "$(share 200)" ] || [ ! -d "$work/clean/kv" ]
check "there are variants enough" $?
[ $n_silent -eq 0 ]
check "none is silent" $?
echo "# $n_all variants, $n_silent silent"

# ---- mending ---------------------------------------------------------------------------------

mend() { # mend WHAT STATUS: index verify --repair ends so; then all is well, or was said
    run "$2" "$forage" index verify --home "$work/v" --repair && grep -q '^repaired: ' "$work/out"
    check "--repair: $1" $?
}
sound_again() {
    run 0 "$forage" index verify --home "$work/v" &&
        run 0 "$forage" query "What must be done when the red light above the sink is on?" --home "$work/v" &&
        grep -q "not safe to drink" "$work/out"
    check "and the home is sound again" $?
    rm -rf "$work/v"
}
cp -a "$work/clean" "$work/v"
flip "$work/v/$segment" 5000
rm "$work/v/$folder/MANIFEST" "$work/v/ledger"
echo x >"$work/v/index/default/junk"
mend "an index, the ledger, a file too many" 0
sound_again
cp -a "$work/killed" "$work/v"
rm "$work/v/forage.db-wal"
run 1 "$forage" ingest "$work/keys.jsonl" --home "$work/v" && grep -q "acknowledged commits are gone" "$work/err"
check "a home that lost its log is refused" $?
mend "a loss is accepted" 0
sound_again
cp -a "$work/clean" "$work/v"
rm "$work/v/forage.db"
run 1 "$forage" serve --home "$work/v" --listen 127.0.0.1:0 && grep -q "has lost its store.*forage restore.*backups/" "$work/err"
check "a home that lost its store is refused, and told how to restore it" $?
run 1 "$forage" index rebuild --home "$work/v" && grep -q "has lost its store.*forage restore.*backups/" "$work/err"
check "index rebuild says of it that it lost its store, not that there is no home" $?
serve "$work/v" --force-empty
check "--force-empty begins anew" $?
stop TERM
grep -q "store_lost" "$log" && [ -d "$work/v"/lost-*/index ]
check "and puts the rest aside" $?
rm -rf "$work/v"
cp -a "$work/clean" "$work/v"
rm "$work/v/forage.db"
run 0 "$forage" restore "$work/v/$backup" --home "$work/v"
check "the backup restores it" $?
sound_again

# ---- a server on a damaged home --------------------------------------------------------------

cp -a "$work/clean" "$work/v"
flip "$work/v/$segment" 5000
truncate -s 100 "$work/v/$segment"
serve "$work/v"
grep -q "index_dropped.*$(basename "$segment")" "$log" && grep -q "index_refilled" "$log"
check "the log says what was dropped and filled up again" $?
curl -s "$url/metrics" >"$work/out"
grep -q 'forage_damage_total{kind="index_dropped"} 1' "$work/out" &&
    grep -q 'forage_damage_total{kind="index_refilled"} 1' "$work/out"
check "and /metrics counts it" $?
stop TERM
sound_again
if [ -n "$kv" ]; then
    cp -a "$work/clean" "$work/v"
    truncate -s 700 "$work/v/$kv"
    flip "$work/v/kv/index.db" 9000
    serve "$work/v" "$@"
    [ "$(grep -c kv_damaged "$log")" -ge 2 ]
    check "kept KV that is damaged is told of" $?
    stop TERM
    sound_again
else
    skip "kept KV that is damaged is told of" "no small model here"
fi
if command -v sqlite3 >/dev/null; then
    cp -a "$work/clean" "$work/v"
    serve "$work/v"
    # Beside the server: its own writing then gives the page a sum again, and only digests can tell.
    sqlite3 "$work/v/forage.db" "UPDATE texts SET bytes = CAST(replace(CAST(bytes AS TEXT),
        'not safe to drink', 'very fine to drink') AS BLOB);
        UPDATE documents SET title = 'Weir, no more' WHERE name LIKE '%/weir.md'" 2>"$work/err"
    "$forage" documents --url "$url" | grep -q 'damaged.*weir.md'
    check "a list names what is damaged, and no more of it" $?
    post /query '{"query":"What must be done when the red light above the sink is on?"}' >"$work/out"
    grep -q '"code":"damaged"' "$work/out" && ! grep -q "fine to drink" "$work/out" &&
        grep -q "document_damaged" "$log"
    check "text changed by hand is not served, but refused by name" $?
    curl -s "$url/metrics" | grep -q 'forage_store_refused_total [1-9]'
    check "and counted" $?
    run 0 "$forage" ingest data/sample --url "$url" && grep -q "[1-9] updated" "$work/out"
    check "ingested again it is replaced" $?
    post /query '{"query":"What must be done when the red light above the sink is on?"}' >"$work/out"
    grep -q "not safe to drink" "$work/out"
    check "and served" $?
    stop TERM
    rm -rf "$work/v"
else
    skip "text changed by hand is not served" "there is no sqlite3"
fi
finish
