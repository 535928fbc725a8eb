#!/bin/sh
# tests/bench/diffusion.sh FORAGE - the table of docs/measurements/diffusion.md: tokens a second, time to the first
# final text, the most KV held, of a diffusion model in each way of keeping KV and share of it, of one whose
# attention goes by blocks, and of one that writes token by token; 1, 4 and 8 requests. All three have the same shape
# and random weights. SHAPE (smollm2-135m), PROMPT (928) and N (64) tokens, CONTEXT (1984) of the prompts with sparse
# attention, BLOCK (32), REQUESTS ("1 4 8"), RUNS (3: medians), BENCH: options for `forage bench diffusion`.
# Models go to WORK (a temporary folder unless set, so that a second run writes none). No python: the figures
# are cut out of --json by sed.
set -eu
forage=$1
shape=${SHAPE:-smollm2-135m} prompt=${PROMPT:-928} n=${N:-64} context=${CONTEXT:-1984} block=${BLOCK:-32}
work=${WORK:-$(mktemp -d)}
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT

make_model() { # file, options
    out=$work/$1-$shape.gguf
    shift
    [ -e "$out" ] || "$forage" bench make-model --shape "$shape" --type q8_0 --seed 1 "$@" --out "$out" >/dev/null
}
make_model both --diffusion
make_model blocks --diffusion --attention-block "$block"
make_model plain

requests=
for r in ${REQUESTS:-1 4 8}; do requests="$requests --requests $r"; done

# Rows of one run; each object of "rows" begins with its way.
table() { # title, options of bench diffusion
    title=$1
    shift
    # shellcheck disable=SC2086 # options
    json=$("$forage" bench diffusion --n "$n" $requests --runs "${RUNS:-3}" ${BENCH:-} --json "$@")
    printf '\n%s\n\n' "$title"
    echo '| way | retention | requests | tokens/s | first final text, ms | peak KV, MiB | KV at the end, tokens | passes |'
    echo '|---|---|---|---|---|---|---|---|'
    printf '%s\n' "$json" | sed 's/.*"rows":\[//; s/{"way":/\n&/g' | sed -n '/^{"way":/p' | while read -r row; do
        field() { printf '%s' "$row" | sed -n "s/.*,\"$1\":\([-0-9.e]*\).*/\1/p"; }
        way=$(printf '%s' "$row" | sed 's/^{"way":\(.*\),"retention":.*/\1/; s/"//g')
        printf '| %s | %s | %s | %s | %s | %s | %s | %s |\n' "$way" "$(field retention)" "$(field requests)" \
            "$(field tokens_per_s)" "$(field first_text_ms)" \
            "$(field peak_kv_bytes | awk '{printf "%.2f", $1 / 1048576}')" "$(field end_kv_tokens)" "$(field steps)"
    done
}

half=$(((n + 1) / 2))
table "$shape, a prompt of $prompt tokens, $n written" --model "$work/both-$shape.gguf" --against "$work/plain-$shape.gguf" \
    --prompt "$prompt" --way '{"kv":"off"}' --way '{"kv":"prompt"}' --way '{"kv":"dual"}' \
    --way "{\"kv\":\"dual\",\"steps\":$half}"
table "$shape, attention by blocks of $block: every guess is verified, or none made" --model "$work/blocks-$shape.gguf" \
    --prompt "$prompt" --way '{}' --way '{"threshold":0.0001,"verify":true}'
table "$shape, a context of $context tokens" --model "$work/both-$shape.gguf" --against "$work/plain-$shape.gguf" \
    --prompt "$context" --way '{"kv":"prompt"}' --way '{"kv":"dual"}' \
    --retention 1 --retention 0.5 --retention 0.25
