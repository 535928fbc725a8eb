#!/bin/sh
# A home built offline, killed in between, and served by several processes at once. Speaks TAP.
. "$(dirname "$0")/tap.sh"
start() { # start NAME OPTION...: sets $pid_NAME and $url_NAME
    name=$1
    shift
    serve "$work/home" "$@" || return 1
    eval "pid_$name=$pid url_$name=$url"
}
ids() { # ids URL: the documents that answer a few questions
    for q in "word17 word5" "word301 word44 word2" "alpha word9"; do
        "$forage" query "$q" --url "$1" --no-generate --json |
            grep -o '"document_id":"[^"]*"' | sort
    done
}

# Documents of ten words out of a thousand: more than one batch of the build.
awk 'BEGIN { srand(7); for (i = 0; i < 18000; i++) {
    printf "{\"id\":\"d%d\",\"text\":\"", i
    for (j = 0; j < 10; j++) printf "word%d ", int(rand() * 1000)
    print "alpha\"}" } }' >"$work/corpus.jsonl"

mkfifo "$work/pipe"
"$forage" index build --input "$work/pipe" --home "$work/home" --json >/dev/null 2>"$work/build.log" &
builder=$!
services="$services $builder"
exec 9<>"$work/pipe" # both ways: opening never waits for the builder
timeout 60 head -n 17000 "$work/corpus.jsonl" >&9
wait_for grep -q '"progress":"store"' "$work/build.log"; check "a build shows a bar for each stage" $?
stop KILL "$builder"
exec 9>&-
run 0 "$forage" index build --input "$work/corpus.jsonl" --home "$work/home" --threads 2 --memory 64M &&
    grep -q "^[1-9][0-9]* created, 0 updated, [1-9][0-9]* unchanged, 0 failed" "$work/out"
check "after kill -9 it goes on where it was" $?
run 0 "$forage" index verify --home "$work/home" && grep -q "default/default: sound" "$work/out"
check "its indexes are sound" $?
run 2 "$forage" index build --input x --memory 1M && grep -q -- "--memory" "$work/err"
check "too little memory is wrong usage" $?

ls -l "$work/home/index/default"/* >"$work/before"
start one --read-only && start two --read-only; check "two read-only servers share a home" $?
ids "$url_one" >"$work/ids.one"
ids "$url_two" >"$work/ids.two"
[ -s "$work/ids.one" ] && cmp -s "$work/ids.one" "$work/ids.two"; check "and answer alike" $?
echo "Quinces ripen late." >"$work/quince.txt"
run 1 "$forage" ingest "$work/quince.txt" --url "$url_one" && grep -q -- "--read-only" "$work/err"
check "a write is refused with a reason" $?
start writer; check "one that writes starts beside them" $?
run 0 "$forage" ingest "$work/quince.txt" --url "$url_writer" && grep -q "^1 created" "$work/out"
check "and takes documents" $?
ids "$url_one" >"$work/ids.again"
cmp -s "$work/ids.one" "$work/ids.again"; check "the others go on answering" $?
start three --read-only && run 0 "$forage" query "When do quinces ripen?" --url "$url_three" &&
    grep -q "ripen late" "$work/out"
check "a later one finds what was written, also before it was sealed" $?
ended=0
for name in one two three; do
    eval "p=\$pid_$name"
    stop TERM "$p" || ended=1
done
ls -l "$work/home/index/default"/* >"$work/after"
cmp -s "$work/before" "$work/after"; check "read-only servers leave the files as they are" $?
stop TERM "$pid_writer"; check "all of them end with status 0" $((ended | $?))

# The whole home this time, with everything that a server which writes keeps there: the log of
# queries, hot questions, the KV of a language model (where there is a small one).
# (SQLite's -shm and -wal are how readers and a writer know of each other; they go with the last.)
state() { (cd "$work/home" && find . -type d | sort &&
    find . -type f ! -name '*-shm' ! -name '*-wal' -printf '%p %s %T@\n' -exec cksum {} \; | sort) }
model=$shared/models/stories260K.gguf
[ -r "$model" ] && set -- --model "$model" --kv-disk 64M || set --
state >"$work/before"
start last --read-only "$@" && run 0 "$forage" query "When do quinces ripen?" --url "$url_last" &&
    ids "$url_last" >"$work/ids.last" && [ -s "$work/ids.last" ] &&
    run 1 "$forage" ingest "$work/quince.txt" --url "$url_last"
check "a read-only server answers from a home that nobody writes" $?
stop TERM "$pid_last"; check "and ends with status 0" $?
state >"$work/after"
diff "$work/before" "$work/after" >"$work/out"; check "and leaves nothing at all in it" $?
finish
