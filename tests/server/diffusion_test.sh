#!/bin/sh
# diffusion_test.sh - diffusion models on the command line: `forage generate`, `forage bench diffusion`.
. "$(dirname "$0")/tap.sh"
for kind in diffusion blocks; do
    more=
    [ $kind = blocks ] && more='--attention-block 16'
    # shellcheck disable=SC2086
    "$forage" bench make-model --shape toy --type q8_0 --diffusion $more --seed 5 --out "$work/$kind.gguf" \
        >/dev/null || exit 1
done
"$forage" bench make-model --shape toy --type q8_0 --out "$work/plain.gguf" >/dev/null

says() { # model, what the answer holds, arguments
    file=$work/$1.gguf holds=$2
    shift 2
    "$forage" generate --model "$file" --prompt 'the heron' --n 24 --ignore-end --json "$@" >"$work/out" 2>"$work/err"
    grep -q "$holds" "$work/out" "$work/err"
}
says diffusion '"completion_tokens":24,"diffusion":{"steps":24,"tokens_per_step":1}'
check 'writes a token a step' $?
says diffusion '"steps":8,"tokens_per_step":3}' --diffusion '{"steps":8,"block_length":12,"remasking":"entropy"}'
check 'writes in as many steps as it is told' $?
says diffusion '"note":"approximate' --diffusion '{"kv":"dual"}'
check 'says what is approximate' $?
says blocks '"steps":24,"tokens_per_step":1}' --diffusion '{"kv":"dual"}'
check 'by blocks nothing is' $?
says blocks '"steps":\([0-9]\|1[0-9]\|2[0-3]\),"tokens_per_step":1' --diffusion '{"threshold":0.0001,"remasking":"margin","verify":true}'
check 'takes fewer steps where guesses are verified' $?
for more in '' ',"threshold":0.0001,"verify":true'; do
    "$forage" generate --model "$work/blocks.gguf" --prompt 'the heron' --n 24 --ignore-end --token-ids --json \
        --diffusion "{\"remasking\":\"margin\"$more}" | grep -o '"tokens":.*' >>"$work/texts"
done
[ "$(sort -u "$work/texts" | wc -l)" -eq 1 ] && [ "$(wc -l <"$work/texts")" -eq 2 ]
check 'and writes the same' $?
says blocks 'diffusion.verify is exact' --diffusion '{"verify":true}' --sparse '{"retention":0.5}'
check 'which a share of the KV is not' $?
says diffusion 'diffusion.remasking must be one of confidence' --diffusion '{"remasking":"luck"}'
check 'names a bad choice' $?
says diffusion 'byte' --diffusion '{"steps":'
check 'names bad JSON' $?
says plain 'writes token by token' --diffusion '{}'
check 'a model that writes token by token refuses it' $?

printf '%s\n' '{"id":1,"prompt":"a","max_tokens":8,"diffusion":{"steps":2}}' '{"id":2,"prompt":"b","max_tokens":8}' \
    '{"id":3,"prompt":"c","max_tokens":8,"diffusion":{"steps":0}}' >"$work/in.jsonl"
"$forage" generate --model "$work/diffusion.gguf" --input "$work/in.jsonl" --output "$work/out.jsonl" --ignore-end \
    --diffusion '{"steps":4}' --json >"$work/figures" 2>"$work/err"
[ $? -eq 1 ] && sed -n 1p "$work/out.jsonl" | grep -q '"steps":2,' && sed -n 2p "$work/out.jsonl" | grep -q '"steps":4,' &&
    sed -n 3p "$work/out.jsonl" | grep -q '"error":.*diffusion.steps'
check 'lines of a file say for themselves' $?
grep -q '"progress":"generate","unit":"prompts","done":3,.*"total":3,' "$work/err" &&
    grep -q '"progress":"denoise","unit":"passes","done":6,.*"finished":true' "$work/err" &&
    grep -q '"failed":1,.*"passes":6,' "$work/figures"
check 'and its progress counts passes over canvases, too' $?

"$forage" bench diffusion --model "$work/diffusion.gguf" --against "$work/plain.gguf" --prompt 50 --n 16 --requests 1 \
    --requests 3 --json >"$work/out" && [ "$(grep -o '"peak_kv_bytes":[0-9]' "$work/out" | wc -l)" -eq 10 ] &&
    grep -q '"way":{"kv":"dual"},"retention":1,"requests":3.*"way":"autoregressive"' "$work/out"
check 'bench diffusion has a row for each way' $?
"$forage" bench diffusion --model "$work/plain.gguf" 2>"$work/err"
[ $? -eq 1 ] && grep -q 'not a diffusion model' "$work/err"
check 'and wants a diffusion model' $?

SHAPE=toy PROMPT=40 N=16 CONTEXT=200 BLOCK=16 RUNS=1 REQUESTS='1 2' \
    sh "$(dirname "$0")/../bench/diffusion.sh" "$forage" >"$work/table" 2>"$work/err" &&
    [ "$(grep -c '^| .* | [0-9.]* | [12] | [0-9.]* | [0-9.]* | [0-9.]* | [0-9]* | [0-9]* |$' "$work/table")" -eq 32 ]
check 'its table has a row for each way, share and number of requests' $?
finish
