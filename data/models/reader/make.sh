#!/bin/sh
# data/models/reader/make.sh FORAGE FOLDER [OUT] - the reader's model out of the folder that
# train/train.py wrote: 8 bits for the layers, 4 for the vocabulary.
set -eu
forage=$1
folder=$2
out=${3:-data/models/forage-reader.gguf}
trap 'rm -f "$out.f16" "$out.new"' EXIT
"$forage" convert "$folder" "$out.f16" f16
"$forage" quantize "$out.f16" "$out.new" q8_0 --token-embedding-type iq4_nl
mv "$out.new" "$out"
