#!/bin/sh
# A question that asks for an answer longer than the model's window, asked until it is hot: priming it
# after an ingest, and after a restart that finds it in the home, ends no server. ROUNDS=2 by default,
# with each model in MODELS (by default a small one with random weights, and stories260K and SmolLM2
# where they lie). Speaks TAP.
. "$(dirname "$0")/tap.sh"
rounds=${ROUNDS:-2}
if [ -z "${MODELS:-}" ]; then
    MODELS=$work/toy.gguf
    run 0 "$forage" bench make-model --shape toy --out "$MODELS" || check "a model is made" 1
    for m in "$shared/models/stories260K.gguf" models/smollm2-135m-instruct-q4_1.gguf; do
        [ ! -e "$m" ] || MODELS="$MODELS $m"
    done
fi

primed() { # primed N: have so many questions been primed?
    curl -s "$url/analytics/cache" >"$work/cache" || return 0 # gone: health says so
    [ "$(sed -n 's/.*"primed":\([0-9]*\).*/\1/p' "$work/cache")" -ge "$1" ]
}
lives() { curl -sf "$url/health" >/dev/null && kill -0 "$pid" 2>/dev/null; }
ask() {
    post /query '{"query":"How often is the north pump serviced?","max_tokens":65536}' >"$work/out"
    grep -q '400 hours' "$work/out"
}

round() { # round HOME MODEL N: three questions, an ingest, a restart
    serve "$1" --model "$2" --log-level warn || return 1
    post /ingest '{"documents":[{"id":"a","text":"The north pump is serviced every 400 hours. It stands in the cellar."}]}' >/dev/null
    for i in 1 2 3; do ask || return 1; done
    post /ingest "{\"documents\":[{\"id\":\"b\",\"text\":\"The south pump rests in round $3.\"}]}" >/dev/null
    wait_for primed 1
    lives && ask && stop TERM || return 1
    serve "$1" --model "$2" --log-level warn || return 1 # which finds the question in the home
    wait_for primed 1
    lives && ask && stop TERM
}

for m in $MODELS; do
    n=0 status=0
    while [ $n -lt "$rounds" ] && [ $status -eq 0 ]; do
        n=$((n + 1))
        round "$work/home.$(basename "$m")" "$m" $n
        status=$?
    done
    check "an answer longer than the window of $(basename "$m"), $n times with a restart" $status
done
finish
