#!/bin/sh
# The reader on the command line: its benchmark, and making a model for it. Speaks TAP.
. "$(dirname "$0")/tap.sh"
run 0 "$forage" bench reader --runs 1 --threads 1 --json &&
    grep -q '"ms_8x160":[0-9.]*,"ms_8x160_cached":[0-9.]*,"pairs_per_s":[0-9.]*,' "$work/out" &&
    grep -q '"tokens":1280,' "$work/out"
check "bench reader reads eight passages of 160 tokens" $?

run 1 "$forage" bench reader --reader "$work/none.gguf" --json && grep -q "$work/none.gguf" "$work/err"
check "a model that is not there is named" $?

run 0 "$forage" bench make-model --shape minilm-l6 --type f16 --out "$work/f16.gguf"
check "a model of the shape is made" $?
run 0 "$forage" quantize "$work/f16.gguf" "$work/small.gguf" q8_0 --token-embedding-type iq4_nl &&
    run 0 "$forage" inspect "$work/small.gguf" --all && grep -q '"token_embd.weight" IQ4_NL' "$work/out" &&
    grep -q '"blk.5.ffn_down.weight" Q8_0' "$work/out"
check "its vocabulary gets four bits, its layers eight" $?
run 0 "$forage" bench reader --reader "$work/small.gguf" --runs 1 --threads 1 --json
check "a reader runs on it" $?

run 2 "$forage" quantize "$work/f16.gguf" "$work/x.gguf" q8_0 --token-embedding-type iq5 &&
    grep -q "not 'iq5'" "$work/err" && [ ! -e "$work/x.gguf" ]
check "a type that nobody knows is wrong usage" $?
run 1 "$forage" quantize "$work/f16.gguf" "$work/x.gguf" q8_0 --token-embedding-type q4_k &&
    grep -q "rows of 384 values" "$work/err" && [ ! -e "$work/x.gguf" ]
check "a type that rows do not divide into is refused" $?
finish
