#!/bin/sh
# server/demo.sh FORAGE [HOME] - the main job from end to end, without a terminal: start the service
# on a free port, ingest documents that this machine has over HTTP, ask, print cited answers, stop.
set -eu
forage=$1
home=${2:-home}
limit=${DEMO_FILES:-1500} # manual pages: enough to be real, quick enough to wait for
work=
. "$(dirname "$0")/service.sh"

# A home keeps to its embedder, so the one with models is another; and an encoder takes its time.
models=
if [ -f models/all-minilm-l6-v2-f16.gguf ]; then
    models="--embed-model models/all-minilm-l6-v2-f16.gguf"
    home=${2:-home-models}
    limit=${DEMO_FILES:-150}
fi
[ ! -f models/smollm2-135m-instruct-q4_1.gguf ] || models="$models --model models/smollm2-135m-instruct-q4_1.gguf"

mkdir -p "$home"
# shellcheck disable=SC2086 # options
serve "$home" $models
echo "Forage serves $home on $url"

# What this machine has to read; our own documents and a sample that we wrote go in first.
"$(dirname "$0")/demo_files.sh" "$limit" | awk '!seen[$0]++' >"$work/files"

# Status 1 says that a document could not be read, which one it was stands there: that is no reason to
# end, as long as the service goes on.
ingest() {
    "$forage" ingest --url "$url" "$@" || "$forage" stats --url "$url" >/dev/null
}
echo "Ingesting data/sample and docs ..."
ingest data/sample docs
if [ -s "$work/files" ]; then
    echo "Ingesting $(wc -l <"$work/files") manual pages and documents of this system ..."
    ingest --files-from "$work/files"
fi

of_the_system="May a dog come along on the boardwalk?"
if grep -q '/grep\.1' "$work/files"; then
    of_the_system="How can I make grep print only a count of matching lines?"
fi
for question in \
    "What must be done when the red light above the sink is on?" \
    "$of_the_system" \
    "In which conditions is the drone not flown?"; do
    echo
    echo "Q: $question"
    "$forage" query --url "$url" "$question" >"$work/answer"
    fold -s -w 100 "$work/answer"
done
stop
echo
echo "The service stopped cleanly. To go on:"
printf '  %-48s %s\n' \
    "make run" "serve $home on http://127.0.0.1:8080 (a web page is at /)" \
    "$forage ingest PATH --home $home" "add files or folders" \
    "$forage query \"a question\" --home $home" "ask" \
    "$forage help" "all commands"
