#!/bin/sh
# Mapped files that are cut off under a service that runs: what Forage maps itself (an index, a model) costs the
# request that needs it, and is told; what others map (SQLite's forage.db-shm) is named in the last line of the log.
# Speaks TAP.
. "$(dirname "$0")/tap.sh"
ready() { # ready STATUS: of GET /ready, which goes to $work/ready
    [ "$(curl -s -o "$work/ready" -w '%{http_code}' "$url/ready")" = "$1" ]
}
alive() { kill -0 "$pid" 2>/dev/null && curl -sf "$url/health" >/dev/null; }

# ---- a file of an index ----
for i in $(seq 200); do
    echo "{\"id\":\"d$i\",\"text\":\"Plant $i is watered on day $i of the month, the fern in the hall every week.\"}"
done >"$work/in.jsonl"
"$forage" ingest "$work/in.jsonl" --home "$work/home" >"$work/out" 2>"$work/err"
serve "$work/home" --cache 0 --seal-chunks 64
post /ingest '{"documents":[{"id":"more","text":"The cactus is watered once a month."}]}' >/dev/null
stop TERM
serve "$work/home" --cache 0
segment=$(find "$work/home/index" -name '*.seg' | head -n 1)
[ -s "$segment" ]; check "the home has a file of an index" $?
truncate -s 0 "$segment"
for i in 1 2 3 4 5 6; do post /query "{\"query\":\"When is plant 1$i watered?\"}"; done >"$work/out" 2>&1
alive; check "a service lives on when a file of its index is cut off" $?
found() { post /search '{"query":"When is plant 117 watered?"}' | grep -q '"d117"'; }
wait_for found; check "and finds again what was in it, from the store" $?
grep -q "index_rebuilt.*segment $(basename "$segment" .seg):" "$log"; check "its log names the file" $?
stop TERM; check "and it ends in order" $?

# While the chunks of a large file come back, replies say that they may lack documents.
for i in $(seq 12000); do
    echo "{\"id\":\"d$i\",\"text\":\"Plant $i is watered on day $i of the year, with rain from barrel $i behind the hall.\"}"
done >"$work/large.jsonl"
"$forage" ingest "$work/large.jsonl" --home "$work/large" >"$work/out" 2>"$work/err"
serve "$work/large" --cache 0
truncate -s 0 "$(find "$work/large/index" -name '*.seg' | head -n 1)"
post /query '{"query":"When is plant 1117 watered?"}' >"$work/first"
incomplete() { # the file was put aside; or its chunks are back already
    post /query '{"query":"When is plant 1117 watered?"}' >"$work/query"
    grep -q 'index_incomplete\|"d1117"' "$work/query"
}
wait_for incomplete
post /query '{"query":"When is plant 1117 watered?","stream":true}' >"$work/stream"
post /search '{"query":"plant 1117"}' >"$work/search"
post /v1/chat/completions '{"model":"forage/default","messages":[{"role":"user","content":"When is plant 1117 watered?"}]}' >"$work/chat"
"$forage" query "When is plant 1117 watered?" --url "$url" >"$work/words"
n=$(cat "$work/query" "$work/search" "$work/chat" | grep -o '"index_incomplete":true' | wc -l)
[ "$n" = 3 ]; check "while the chunks of a file come back, answers, searches and chat say that documents may be missing" $?
grep -A1 'event: contexts' "$work/stream" | grep -q '"index_incomplete":true' &&
    grep -A1 'event: done' "$work/stream" | grep -q '"index_incomplete":true'
check "so does a stream, with its contexts and at its end" $?
grep -q 'documents may be missing here' "$work/words"; check "and forage query, in words" $?
found() { post /search '{"query":"plant 1117"}' | grep -q '"d1117"'; }
wait_for found && whole() { ! post /search '{"query":"plant 1117"}' | grep -q index_incomplete; } && wait_for whole
check "and no longer once they are back" $?
stop TERM

# ---- models ----
model=$shared/models/stories260K.gguf
if [ -r "$model" ]; then
    cp "$model" "$work/model.gguf"
    serve "$work/home" --model "$work/model.gguf" --cache 0
    ask='{"messages":[{"role":"user","content":"Once upon a time"}],"max_tokens":8}'
    post /v1/chat/completions "$ask" >"$work/out"
    grep -q '"choices"' "$work/out"; check "a model writes" $?
    ready 200; check "and the service is ready" $?
    truncate -s 0 "$work/model.gguf"
    for i in 1 2; do post /v1/chat/completions "$ask"; done >"$work/out"
    grep -q '"error"' "$work/out" && ! grep -q '"choices"' "$work/out"
    check "what needs a model whose file is cut off is refused" $?
    grep -q '"message":"model.gguf: byte' "$work/out" && ! grep -q "$work" "$work/out"
    check "the reply names the file, and no folder of the server" $?
    alive; check "and the service lives on" $?
    ready 503 && grep -q '"code":"model_lost","model":"language model","message":"the language model: model.gguf: byte' "$work/ready" &&
        ! grep -q "$work" "$work/ready"
    check "it is not ready, and says which model it lacks" $?
    ready 503
    [ "$(grep -c "not_ready.*language model.*$work/model.gguf" "$log")" = 1 ]
    check "so does its log, once, with the file's path" $?
    grep -q "model.gguf: byte [0-9]* cannot be read any more" "$log"; check "its log names the model's file" $?
    post /query '{"query":"When is plant 117 watered?"}' >"$work/out"
    stop TERM; check "and it ends in order, too" $?
else
    skip "a model whose file is cut off" "$model is not here"
fi

table=data/models/forage-embed-256.gguf
cp "$table" "$work/table.gguf"
"$forage" ingest "$work/in.jsonl" --home "$work/tables" --embed-model "$work/table.gguf" >"$work/out" 2>"$work/err"
serve "$work/tables" --embed-model "$work/table.gguf" --cache 0
ready 200; check "a service with an embedder of its own is ready" $?
truncate -s 0 "$work/table.gguf"
post /search '{"query":"fern in the hall"}' >"$work/out"
post /ingest '{"documents":[{"id":"new","text":"The moss is watered with rain."}]}' >>"$work/out"
! grep -q "$work" "$work/out"; check "replies name no folder of the server" $?
alive; check "a service lives on when the file of its embedder is cut off" $?
ready 503 && grep -q '"model":"embedder","message":"the embedder: table.gguf: byte' "$work/ready" &&
    grep -q '"n_reasons":1' "$work/ready"
check "and is not ready, for want of it" $?
grep -q "table.gguf: byte [0-9]* cannot be read any more" "$log"; check "its log names the embedder's file" $?
stop TERM

# ---- what others map ----
for format in text json; do
    serve "$work/home" --log-format $format --cache 0
    truncate -s 0 "$work/home/forage.db-shm"
    for i in 1 2 3; do post /ingest "{\"documents\":[{\"id\":\"e$i\",\"text\":\"Note $i.\"}]}" >/dev/null; done
    ended() { ! kill -0 "$pid" 2>/dev/null; }
    wait_for ended
    wait "$pid" 2>/dev/null
    echo "# status $?: $(tail -n 1 "$log")"
    tail -n 1 "$log" | grep -q 'page_lost.*file.*home/forage.db-shm".*byte.*start again'
    check "the last line of the log names a file that others map ($format)" $?
done
run 0 "$forage" stats --home "$work/home" --json && grep -q '"documents":20[1-9]' "$work/out"
check "and the home is whole at the next start" $?
finish
