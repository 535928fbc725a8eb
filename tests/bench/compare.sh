#!/bin/sh
# tests/bench/compare.sh FORAGE - Forage beside other programs on this machine, as Markdown on stdout;
# what is being measured goes to stderr. Peers and data are named in the environment, and what is
# absent is left out by name at the end:
#
#   COMPARE_IK, COMPARE_LLAMA   llama-bench of ik_llama.cpp, of llama.cpp
#   COMPARE_LLAMA_FLAGS         more arguments for the latter (default -fa 1; the former: -fa 1 -rtr 1)
#   COMPARE_MODELS              real GGUF files, separated by blanks
#   COMPARE_SHAPES              random models to make, SHAPE:TYPE (default qwen2.5-0.5b:q8_0; "": none)
#   COMPARE_XAPIAN              a program that prints mean microseconds of the questions with all words
#                               and without stop words, given passages and questions
#   COMPARE_RUNS                of each pair, in turns (default 3)
#   COMPARE_MINUTES             no new figure is begun after so many (default 10)
#   COMPARE_LONG                tokens of long prompts ("": none; default 4096, of the first model alone)
#   FORAGE_CPU                  caps Forage's level; the peers' is as they were built
#
# Figures are medians; ratios are medians of the ratios of neighbouring runs, which a machine that
# changes its pace disturbs least.
set -eu
forage=$1
runs=${COMPARE_RUNS:-3} minutes=${COMPARE_MINUTES:-10} long=${COMPARE_LONG-4096}
shapes=${COMPARE_SHAPES-qwen2.5-0.5b:q8_0} models=${COMPARE_MODELS:-}
shared=${FORAGE_SHARED:-../shared}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
begun=$(date +%s)
: >"$work/absent"

absent() { echo "- $*" >>"$work/absent"; }
late() { [ $(($(date +%s) - begun)) -ge $((minutes * 60)) ]; }
field() { sed -n "s/.*\"$1\":\([-0-9.e+]*\).*/\1/p" | head -1; } # of JSON in one line
median() { # of the lines of a file; "-" of none
    sort -g "$1" | awk '{v[NR]=$1} END {if (!NR) print "-"; else print NR%2 ? v[(NR+1)/2] : (v[NR/2]+v[NR/2+1])/2}'
}
round() { awk -v v="$1" 'BEGIN {if (v=="-") print v; else printf(v<10 ? "%.2f\n" : v<100 ? "%.1f\n" : "%.0f\n", v)}'; }

# peer PROGRAM FLAGS MODEL PROMPT WRITTEN: tokens a second, nothing where it fails
peer() {
    "$1" -m "$3" -p "$4" -n "$5" -t "$threads" -r 1 $2 -o json 2>>"$work/log" |
        tr -d ' ' | sed -n 's/.*"avg_ts":\([0-9.]*\).*/\1/p' | head -1
}

# pair NAME MODEL PROMPT WRITTEN COMMAND...: a row, of Forage's COMMAND and each peer in turns
pair() {
    name=$1 model=$2 prompt=$3 written=$4
    shift 4
    late && { absent "$name of $(basename "$model"): after $minutes minutes"; return; }
    for list in forage share ik llama ik_ratio llama_ratio; do : >"$work/$list"; done
    i=0
    while [ $i -lt "$runs" ] && { [ $i -eq 0 ] || ! late; }; do
        i=$((i + 1))
        echo "$name $(basename "$model") $i/$runs" >&2
        "$forage" bench "$@" --model "$model" --threads "$threads" --json >"$work/json" 2>>"$work/log" || {
            absent "$name of $(basename "$model"): $(tail -1 "$work/log")"
            return
        }
        own=$(field tokens_per_s <"$work/json")
        echo "$own" >>"$work/forage"
        cat "$work/json" | { field peak_share; } >>"$work/share"
        cat "$work/json" | { field bandwidth_share; } >>"$work/share"
        for p in ik llama; do
            case $p in
            ik) program=${COMPARE_IK:-} flags="-fa 1 -rtr 1" ;;
            *) program=${COMPARE_LLAMA:-} flags=${COMPARE_LLAMA_FLAGS:--fa 1} ;;
            esac
            [ -n "$program" ] && [ "$prompt$written" != 00 ] || continue
            other=$(peer "$program" "$flags" "$model" "$prompt" "$written")
            [ -n "$other" ] || continue
            echo "$other" >>"$work/$p"
            awk -v a="$own" -v b="$other" 'BEGIN {print a / b}' >>"$work/${p}_ratio"
        done
    done
    share=$(median "$work/share")
    echo "| $label | $name | $(round "$(median "$work/forage")") | $(awk -v v="$share" 'BEGIN {if (v=="-") print v; else printf "%.0f %%\n", 100*v}') |" \
        "$(round "$(median "$work/llama")") | $(round "$(median "$work/llama_ratio")") |" \
        "$(round "$(median "$work/ik")") | $(round "$(median "$work/ik_ratio")") |"
    median "$work/forage" >"$work/last"
}

"$forage" bench machine --json >"$work/machine"
threads=$(field threads <"$work/machine")
echo "## $(sed 's/.*"cpu":"\([^"]*\)".*/\1/' "$work/machine"), $(sed 's/.*"isa":"\([^"]*\)".*/\1/' "$work/machine"), $threads threads"
echo
echo "$(field read_gbps <"$work/machine") GB/s read, $(field int8_tops <"$work/machine") TOPS int8, $(date -u +%Y-%m-%d), load $(cut -d' ' -f1 /proc/loadavg) at the start."
echo
[ -n "${COMPARE_IK:-}" ] || absent "ik_llama.cpp: COMPARE_IK names no llama-bench"
[ -n "${COMPARE_LLAMA:-}" ] || absent "llama.cpp: COMPARE_LLAMA names no llama-bench"
[ -n "$models" ] || absent "real models: COMPARE_MODELS names none"

files=
for f in $models; do
    if [ -r "$f" ]; then files="$files $f"; else absent "$f: cannot be read"; fi
done
for s in $shapes; do
    late && { absent "$s: after $minutes minutes"; continue; }
    echo "making $s" >&2
    f=$work/${s%%:*}-${s#*:}.gguf
    if "$forage" bench make-model --shape "${s%%:*}" --type "${s#*:}" --out "$f" >/dev/null 2>>"$work/log"; then
        files="$files $f"
    else
        absent "$s: $(tail -1 "$work/log")"
    fi
done

echo "Tokens a second; the share is that of the int8 peak (prefill) or of read bandwidth (decode)."
echo
echo "| model | | Forage | share | llama.cpp | ratio | ik | ratio |"
echo "|---|---|---|---|---|---|---|---|"
first=1
for f in $files; do
    label=$(basename "$f" .gguf)
    pair "prefill 512" "$f" 512 0 prefill --tokens 512
    : >"$work/last"
    pair "decode" "$f" 0 32 decode --tokens 32
    one=$(cat "$work/last")
    : >"$work/last"
    pair "decode, 8 sequences" "$f" 0 0 decode --tokens 16 --batch 8
    eight=$(cat "$work/last")
    [ -n "$one" ] && [ -n "$eight" ] && echo "| $label | 8 sequences over one | $(round "$(awk -v a="$eight" -v b="$one" 'BEGIN {print a / b}')") | | | | | |"
    if [ -n "$long" ] && [ $first = 1 ]; then pair "prefill $long" "$f" "$long" 0 prefill --tokens "$long"; fi
    first=0
done

echo
echo "Opening, and others' tokens while a prompt of ${long:-4096} tokens is read:"
echo
echo "| model | seconds to open | CPU seconds | reading the file | resident | peak, of the file | between tokens ms: alone | p50 | p99 | p99 over alone | the prompt ms: alone | beside |"
echo "|---|---|---|---|---|---|---|---|---|---|---|---|"
for f in $files; do
    late && { absent "opening $(basename "$f"): after $minutes minutes"; continue; }
    echo "load and flow $(basename "$f")" >&2
    "$forage" bench load --model "$f" --json >"$work/load" 2>>"$work/log" || : >"$work/load"
    "$forage" bench flow --model "$f" --prompt "${long:-4096}" --json >"$work/flow" 2>>"$work/log" || : >"$work/flow"
    row="| $(basename "$f" .gguf) |"
    for k in seconds cpu_seconds read_seconds resident_share peak_share; do row="$row $(field $k <"$work/load") |"; done
    for k in step_ms beside_p50_ms beside_p99_ms stretch_p99 prompt_alone_ms prompt_beside_ms; do
        row="$row $(field $k <"$work/flow") |"
    done
    echo "$row"
done

for f in $files; do
    late && { absent "contexts: after $minutes minutes"; break; }
    echo "contexts $(basename "$f")" >&2
    echo
    echo "Contexts met again, $(basename "$f" .gguf): \`$("$forage" bench context --model "$f" --runs 1 --json 2>>"$work/log")\`"
    break # of the first alone
done

if late; then
    absent "BM25: after $minutes minutes"
elif [ -f "$shared/bench/passages.txt.zst" ] && command -v zstd >/dev/null; then
    echo "bm25" >&2
    zstd -qdc "$shared/bench/passages.txt.zst" >"$work/passages.txt"
    echo
    echo "BM25: \`$("$forage" bench bm25 --passages "$work/passages.txt" --questions "$shared/bench/questions.tsv" --repeat 2 --json)\`"
    if [ -n "${COMPARE_XAPIAN:-}" ]; then
        echo
        echo "Xapian: \`$("$COMPARE_XAPIAN" "$work/passages.txt" "$shared/bench/questions.tsv" | tr '\n' ' ')\`"
    else
        absent "Xapian: COMPARE_XAPIAN names no program"
    fi
else
    absent "BM25: no $shared/bench/passages.txt.zst, or no zstd"
fi

[ -x "$(dirname "$forage")/tests/bench/products" ] && ! late && {
    echo
    echo "Products, one thread (kind, rows: billions a second, GB of weights a second):"
    echo
    "$(dirname "$forage")/tests/bench/products" 20 | grep -E '"rows":(1|8|512),' |
        sed 's/{"kind":"\(.*\)","rows":\(.*\),"gmac_per_s":\(.*\),"gb_per_s":\(.*\),"isa.*/\1 \2: \3, \4/' |
        awk '{printf "%s%s", NR == 1 ? "" : ($1 == kind ? "; " : "\n\n"), $0; kind = $1} END {print ""}'
}

if [ -s "$work/absent" ]; then
    echo
    echo "Left out:"
    echo
    cat "$work/absent"
fi
echo "compare: $(($(date +%s) - begun)) s" >&2
