#!/bin/sh
# server/demo.sh FORAGE [HOME] - the main job from end to end, without a terminal: start the service
# on a free port, ingest documents that this machine has over HTTP, ask, print cited answers, stop.
set -eu
forage=$1
home=${2:-home}
limit=${DEMO_FILES:-1500} # manual pages: enough to be real, quick enough to wait for
work=$(mktemp -d)
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

models=
[ ! -f models/all-minilm-l6-v2-f16.gguf ] || models="--embed-model models/all-minilm-l6-v2-f16.gguf"
[ ! -f models/smollm2-135m-instruct-q4_1.gguf ] || models="$models --model models/smollm2-135m-instruct-q4_1.gguf"

mkdir -p "$home"
# shellcheck disable=SC2086 # options
"$forage" serve --home "$home" --listen 127.0.0.1:0 --port-file "$work/port" $models 2>"$work/log" &
server=$!
i=0
until [ -s "$work/port" ]; do
    i=$((i + 1))
    if [ $i -gt 600 ] || ! kill -0 "$server" 2>/dev/null; then
        cat "$work/log" >&2
        exit 1
    fi
    sleep 0.1
done
url=http://127.0.0.1:$(cat "$work/port")
echo "Forage serves $home on $url"

# What every Debian has (slim images strip it), our own documents, and a sample that we wrote.
{
    find /usr/share/man/man1 /usr/share/man/man5 /usr/share/man/man7 /usr/share/man/man8 \
        -type f -size -512k 2>/dev/null | sort | head -n "$limit"
    find /usr/share/doc -type f -size -512k \( -name 'README*' -o -name '*.md' -o -name '*.md.gz' \
        -o -name '*.html' -o -name 'FAQ*' -o -name '*.txt' -o -name '*.txt.gz' \) 2>/dev/null |
        sort | head -n 300
} >"$work/files"
echo "Ingesting data/sample, README.md, docs and $(wc -l <"$work/files") files of this system ..."
"$forage" ingest --url "$url" data/sample README.md docs
[ ! -s "$work/files" ] || "$forage" ingest --url "$url" --files-from "$work/files"

for question in \
    "How long should morels be cooked before they are eaten?" \
    "Which option of tar lists the contents of an archive?" \
    "What does Forage do when the documents do not answer a question?"; do
    echo
    echo "Q: $question"
    "$forage" query --url "$url" "$question"
done
kill -TERM "$server"
wait "$server"
server=
echo
echo "The service stopped cleanly. To go on:"
echo "  make run                                  serve $home on http://127.0.0.1:8080 (a web page is at /)"
echo "  $forage ingest PATH --home $home          add files or folders"
echo "  $forage query \"a question\" --home $home   ask"
echo "  $forage help                              all commands"
