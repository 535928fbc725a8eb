#!/bin/sh
# server/run.sh FORAGE [HOME] - serve the demo's home on 127.0.0.1:8080 until Ctrl-C.
set -eu
forage=$1
home=home
[ ! -f models/all-minilm-l6-v2-f16.gguf ] || home=home-models # as in demo.sh: a home per embedder
home=${2:-$home}
mkdir -p "$home"
set -- serve --home "$home" --listen "${FORAGE_LISTEN:-127.0.0.1:8080}"
[ ! -f models/all-minilm-l6-v2-f16.gguf ] || set -- "$@" --embed-model models/all-minilm-l6-v2-f16.gguf
[ ! -f models/smollm2-135m-instruct-q4_1.gguf ] || set -- "$@" --model models/smollm2-135m-instruct-q4_1.gguf
exec "$forage" "$@"
