#!/bin/sh
# generate_test.sh - `forage generate` as people call it, on the tiny real model of the shared folder.
. "$(dirname "$0")/tap.sh"
model=$shared/models/stories260K.gguf
[ -r "$model" ] || skip_all "generate" "$model is not here"

text=$("$forage" generate --model "$model" --prompt 'Once upon a time' --n 100 --exact)
case $text in
", there was a little girl named Lily. She loved to play outside in the park."*) rc=0 ;;
*) rc=1 ;;
esac
check 'streams the story that is known' $rc

text=$("$forage" generate --model "$model" --prompt 'Once upon a time' --n 100 --exact --stop ' in the park')
[ "$text" = ", there was a little girl named Lily. She loved to play outside" ]
check 'ends before a stop string' $?

cat >"$work/in.jsonl" <<'END'
{"id":"a","prompt":"Once upon a time","max_tokens":20}
{"id":"b","prompt":"The cat","max_tokens":5,"temperature":1,"seed":3}

{"id":"c","prompt":[1,403,407],"max_tokens":4,"note":"is left alone"}
END
"$forage" generate --model "$model" --input "$work/in.jsonl" --output "$work/out.jsonl" --json \
    --max-batch-tokens 7 --kv-page-tokens 32 --kv-type f32 >"$work/figures" 2>/dev/null &&
    [ "$(grep -c . "$work/out.jsonl")" = 3 ] &&
    sed -n 1p "$work/out.jsonl" | grep -q '"id":"a".*there was a little girl' &&
    sed -n 2p "$work/out.jsonl" | grep -q '"id":"b".*"completion_tokens":5,' &&
    sed -n 3p "$work/out.jsonl" | grep -q '"id":"c".*"prompt_tokens":3,' &&
    grep -q '"prompts":3,"failed":0' "$work/figures"
check 'answers a file line by line, in order' $?

# What prompts hold is text to a chat template, unless it is asked for as tokens; that the model has no template is
# told once.
tokens() {
    "$forage" generate --model "$model" --chat --prompt 'be good</s>' --n 1 --json "$@" 2>"$work/err" |
        sed 's/.*"prompt_tokens":\([0-9]*\).*/\1/'
}
text=$(tokens) special=$(tokens --parse-special)
[ "$special" -gt 1 ] && [ "$text" -gt "$special" ] && [ "$(grep -c 'ChatML is used' "$work/err")" = 1 ]
check 'takes the name of a control token in a prompt of --chat as text' $?

printf '%s\n' '{"prompt":"A"}' '{"id":7}' '{"prompt":"B","max_tokens":-1}' '{broken' >"$work/in.jsonl"
"$forage" generate --model "$model" --input "$work/in.jsonl" --output "$work/out.jsonl" --json --n 3 \
    >/dev/null 2>&1
[ $? -eq 1 ] && [ "$(grep -c '"error"' "$work/out.jsonl")" = 3 ] &&
    sed -n 2p "$work/out.jsonl" | grep -q '"id":7,"error":".*neither prompt nor messages' &&
    sed -n 3p "$work/out.jsonl" | grep -q 'max_tokens'
check 'says of each bad line what is wrong, and does the others' $?

"$forage" generate --model "$model" 2>"$work/err"
[ $? -eq 2 ] && grep -q -- '--prompt or --input' "$work/err"
check 'wants a prompt or a file' $?

set -- && i=0
while [ $i -lt 16 ]; do set -- "$@" --stop "stop $i" && i=$((i + 1)); done
run 0 "$forage" generate --model "$model" --prompt A --n 2 "$@" &&
    run 2 "$forage" generate --model "$model" --prompt A --n 2 "$@" --stop more && grep -q -- '--stop is taken 16 times at most, not 17' "$work/err"
check 'refuses more stop strings than it looks for' $?

run 1 "$forage" tokenize --model "$model" <"$work" && grep -q 'cannot read standard input' "$work/err"
check 'says when the lines to tokenize cannot be read' $?
head -c 8192 /dev/zero >"$work/v.f32"
run 1 "$forage" fit --input "$work" --vectors "$work/v.f32" --teacher-dim 256 --out "$work/e.gguf" && grep -q "cannot read $work: " "$work/err"
check 'and those to fit to' $?
encoder=$shared/models/all-minilm-l6-v2-f16.gguf
if [ -r "$encoder" ]; then
    run 1 "$forage" embed --model "$encoder" <"$work" && grep -q 'cannot read standard input' "$work/err"
    check 'and those to embed' $?
else
    skip 'and those to embed' "$encoder is not here"
fi

"$forage" generate --model "$model" --prompt A --kv-page-tokens 20 2>"$work/err"
[ $? -eq 1 ] && grep -q 'multiple of 16' "$work/err"
check 'refuses a page size that cannot be' $?

"$forage" generate --model "$model" --prompt A --n 100000 2>"$work/err"
[ $? -eq 1 ] && grep -q "do not fit the model's window" "$work/err"
check 'says when the answer cannot fit the window' $?

# A process that may have few addresses ends: with the text, or with a sentence that says what there was no
# room for (status 127: the loader found none for a library).
case $(readelf -d "$forage") in
*asan* | *tsan* | *ubsan*) skip 'ends under any limit of addresses' 'a sanitizer needs many' ;;
*)
    bad= wrote=0
    for mib in 60 80 100 120 140 160 180 200 220 260 300 400 600 800; do
        (ulimit -v $((mib * 1024)) && exec timeout 60 "$forage" generate --model "$model" --prompt A --n 3) \
            >"$work/out" 2>"$work/err"
        rc=$?
        case $rc in
        0) wrote=1 ;;
        1) grep -q '^forage: .' "$work/err" || bad="$bad $mib:silent" ;;
        127) grep -q 'shared libraries' "$work/err" || bad="$bad $mib:127" ;;
        *) bad="$bad $mib:$rc" ;;
        esac
    done
    echo "MiB:status$bad; wrote: $wrote" >"$work/out"
    [ -z "$bad" ] && [ $wrote -eq 1 ]
    check 'ends under any limit of addresses' $?
    ;;
esac
finish
