#!/bin/sh
# A home built offline, killed in between, and served by several processes at once. Speaks TAP.
set -u
forage=${BUILD:-build}/forage
if [ ! -x "$forage" ]; then
    echo "ok 1 - a home is shared by read-only servers # skip $forage is not built"
    echo "1..1"
    exit 0
fi
work=$(mktemp -d)
pids=
trap 'for p in $pids; do kill -9 "$p" 2>/dev/null; done; rm -rf "$work"' EXIT
n=0 bad=0
check() { # check NAME STATUS-OF-LAST
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        bad=1
        sed 's/^/# /' "$work"/*.log "$work"/out "$work"/err 2>/dev/null | tail -n 20
    fi
}
run() { # run STATUS COMMAND...: does the command end with this status?
    want=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    got=$?
    [ "$got" -eq "$want" ] || { echo "# status $got instead of $want: $*"; return 1; }
}
wait_for() { # wait_for COMMAND...: up to two minutes
    i=0
    until "$@"; do
        i=$((i + 1))
        [ $i -lt 1200 ] || return 1
        sleep 0.1
    done
}
start() { # start NAME FLAGS...
    name=$1
    shift
    "$forage" serve --home "$work/home" --listen 127.0.0.1:0 --port-file "$work/$name.port" "$@" \
        2>"$work/$name.log" &
    pids="$pids $!"
    eval "pid_$name=$!"
    wait_for test -s "$work/$name.port" || return 1
    eval "url_$name=http://127.0.0.1:$(cat "$work/$name.port")"
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
pids="$pids $builder"
exec 9<>"$work/pipe" # both ways: opening never waits for the builder
timeout 60 head -n 17000 "$work/corpus.jsonl" >&9
wait_for grep -q '"progress":"store"' "$work/build.log"; check "a build shows a bar for each stage" $?
kill -9 "$builder"
wait "$builder" 2>/dev/null
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
for name in one two three; do
    eval "p=\$pid_$name"
    kill -TERM "$p"
    wait "$p" || bad=1
done
ls -l "$work/home/index/default"/* >"$work/after"
cmp -s "$work/before" "$work/after"; check "read-only servers leave the files as they are" $?
kill -TERM "$pid_writer"
wait "$pid_writer"; check "all of them end with status 0" $((bad | $?))

# The whole home this time, with everything that a server which writes keeps there: the log of
# queries, hot questions, the KV of a language model (where there is a small one).
# (SQLite's -shm and -wal are how readers and a writer know of each other; they go with the last.)
state() { (cd "$work/home" && find . -type d | sort &&
    find . -type f ! -name '*-shm' ! -name '*-wal' -printf '%p %s %T@\n' -exec cksum {} \; | sort) }
model=${FORAGE_SHARED:-../shared}/models/stories260K.gguf
[ -r "$model" ] && set -- --model "$model" --kv-disk 64M || set --
state >"$work/before"
start last --read-only "$@" && run 0 "$forage" query "When do quinces ripen?" --url "$url_last" &&
    ids "$url_last" >"$work/ids.last" && [ -s "$work/ids.last" ] &&
    run 1 "$forage" ingest "$work/quince.txt" --url "$url_last"
check "a read-only server answers from a home that nobody writes" $?
kill -TERM "$pid_last"
wait "$pid_last" || bad=1
state >"$work/after"
diff "$work/before" "$work/after" >"$work/out"; check "and leaves nothing at all in it" $?
pids=
echo "1..$n"
exit $bad
