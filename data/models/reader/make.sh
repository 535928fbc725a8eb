#!/bin/sh
# data/models/reader/make.sh FORAGE [SOURCE] [OUT] - the reader's model out of the encoder that
# `make models` fetched: 8 bits for the layers, 4 for the vocabulary. Ends with status 1 where source
# or result are other files than those that README.md beside this names.
set -eu
forage=$1
source=${2:-models/all-minilm-l6-v2-f16.gguf}
out=${3:-data/models/forage-reader.gguf}
notes=$(dirname "$0")/README.md

sum_of() { sed -n "s/^| SHA-256 of the $1 | .\([0-9a-f]\{64\}\).*/\1/p" "$notes"; }
check() { # WHAT FILE
    echo "$(sum_of "$1")  $2" | sha256sum --check --status || {
        echo "reader: $2 has another SHA-256 than $notes says of the $1" >&2
        exit 1
    }
}
[ -f "$source" ] || { echo "reader: $source is missing; run make models first" >&2; exit 1; }
check source "$source"
trap 'rm -f "$out.new"' EXIT
"$forage" quantize "$source" "$out.new" q8_0 --token-embedding-type iq4_nl
check file "$out.new"
mv "$out.new" "$out"
