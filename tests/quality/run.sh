#!/bin/sh
# tests/quality/run.sh FORAGE [OPTION...] - ask the questions of this folder and print how many answers
# are right. Options go to ingest and eval alike (--embed-model FILE, --reader none, ...).
# SLIPS=1: with a misspelt word in each of them (slips.awk).
# "commands" are asked of manual pages too, in the words of people who have not read them.
# Manual pages differ from machine to machine: those that the questions are about, and 500 others beside
# them as on any machine. Where there are none (slim images) that half is left out, with a word.
set -eu
here=$(dirname "$0")
forage=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pages() { # LIST: those asked about, and others drawn by chance, the same ones each time
    while read -r name; do
        for f in /usr/share/man/man[158]/"$name".[158]*; do [ ! -e "$f" ] || echo "$f"; done
    done <"$1"
    seq 100000 >"$work/chance"
    find /usr/share/man/man[15678] -type f 2>/dev/null | sort | shuf -n 500 --random-source="$work/chance"
}

row() { # NAME HOME QUESTIONS [OPTION...]
    name=$1 home=$2 questions=$3
    shift 3
    if [ -n "${SLIPS:-}" ]; then
        awk -f "$here/slips.awk" "$questions" >"$work/slips.jsonl"
        questions=$work/slips.jsonl
    fi
    "$forage" eval --home "$home" --queries "$questions" --judge exact --json \
        ${ANSWERS:+--answers-file "$ANSWERS.$name.jsonl"} "$@" >"$work/report" 2>"$work/log" || {
        cat "$work/log" >&2
        exit 1
    }
    sed 's/.*"judged_exactly":{\([^}]*\)}.*/\1/; s/"//g; s/,/ /g; s/:/ /g' "$work/report" | awk -v name="$name" '{
        for (i = 1; i < NF; i += 2) v[$i] = $(i + 1)
        printf "| %s | %d | %d | %d | %d | %d | %.2f | %d of %d | %.3f |\n", name, v["answerable"], v["right"],
            v["partial"], v["wrong"], v["refused"], v["right_share"], v["refused_rightly"], v["to_refuse"], v["wrong_share"]
    }'
}

echo '| questions | answerable | right | partial | wrong | refused | right, share | foreign refused | wrong of all |'
echo '|---|---|---|---|---|---|---|---|---|'
pages "$here/manual_pages.txt" | sort -u >"$work/pages"
if [ -s "$work/pages" ]; then
    xargs "$forage" ingest --home "$work/manual" "$@" <"$work/pages" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    row manual_pages "$work/manual" "$here/manual_pages.jsonl" "$@"
    pages "$here/commands.txt" | sort -u | xargs "$forage" ingest --home "$work/manual" "$@" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    row commands "$work/manual" "$here/commands.jsonl" "$@"
else
    echo 'quality: this machine has no manual pages; their questions are left out' >&2
fi
"$forage" ingest --home "$work/documents" "$@" "$here/corpus" data/sample >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
row documents "$work/documents" "$here/documents.jsonl" "$@"
row conversations "$work/documents" "$here/conversations.jsonl" "$@"
"$forage" ingest --home "$work/files" "$@" "$here/files" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
row files "$work/files" "$here/files.jsonl" "$@"
row file_conversations "$work/files" "$here/file_conversations.jsonl" "$@"
"$forage" ingest --home "$work/clubs" "$@" "$here/clubs" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
row club_conversations "$work/clubs" "$here/club_conversations.jsonl" "$@"
for set in tables everyday help handbooks company household town team papers venues contracts family reports \
    health university workshops software articles offices german french spanish italian portuguese russian \
    arabic hindi chinese japanese; do
    "$forage" ingest --home "$work/$set" "$@" "$here/$set" >"$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    row "$set" "$work/$set" "$here/$set.jsonl" "$@"
done
