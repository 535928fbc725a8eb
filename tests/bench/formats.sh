#!/bin/sh
# tests/bench/formats.sh - what reading documents of other programs is worth, over tests/data/formats.
#
#     sh tests/bench/formats.sh places    questions whose answer stands on a known page, slide or row: how
#                                         often the first citation is of that place (the test asks for .95)
#     sh tests/bench/formats.sh beside    the phrases of expected.tsv: how many Forage, pdftotext, pandoc and
#                                         docx2txt give, of the files that each of them reads
#     sh tests/bench/formats.sh speed     pages and MB a second, by format; on a quiet machine
#
# For `places` questions.tsv, for `beside` expected.tsv says what is asked. Needs a built tree, curl not.
set -u
forage=${BUILD:-build}/forage
samples=tests/data/formats
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
home=$work/home

# All that can be read, into one home; status 1 says that some cannot, as is meant to be. Not the mail that
# welsh.pdf is attached to: its page would be as right.
ingest() {
    mkdir "$work/in"
    for f in "$samples"/*; do
        case $f in */README.md | */expected.tsv | */questions.tsv | */dates.eml) ;; *) cp "$f" "$work/in" ;; esac
    done
    "$forage" ingest "$work/in" --base "$work/in" --home "$home" >"$work/out" 2>"$work/err"
}


places() {
    ingest
    n=0 right=0
    while IFS='	' read -r file place question; do
        case $file in '' | '#'*) continue ;; esac
        n=$((n + 1))
        "$forage" query "$question" --home "$home" >"$work/answer" 2>/dev/null
        case $place in
        p*) want="$file, p. ${place#p}" ;;
        s[0-9]*) want="$file, slide ${place#s}" ;;
        *!*) want="$file, ${place%%!*} ${place#*!}" ;;
        *) want="$file, $place" ;;
        esac
        if grep -m1 '^ *\[1\]' "$work/answer" | grep -qF "$want"; then
            right=$((right + 1))
        else
            echo "# $question: $(grep -m1 '^ *\[1\]' "$work/answer" | cut -c1-120), not $want"
        fi
    done <"$samples/questions.tsv"
    echo "places: $right of $n first citations stand where the answer is"
    [ $((right * 100)) -ge $((n * 95)) ]
}

# What a program gives of a file, as one line.
flat() { tr '\n\t\f\r' '    ' | tr -s ' '; }
given() { # given PROGRAM FILE
    case $1:$2 in
    pdftotext:*.pdf) pdftotext -q "$2" - 2>/dev/null ;;
    pandoc:*.docx | pandoc:*.odt | pandoc:*.epub | pandoc:*.rtf | pandoc:*.ipynb | pandoc:*.csv | pandoc:*.md | pandoc:*.html | pandoc:*.org | pandoc:*.rst)
        pandoc --wrap=none -t plain "$2" 2>/dev/null ;;
    docx2txt:*.docx) docx2txt "$2" - 2>/dev/null ;;
    *) return 1 ;;
    esac
}

beside() {
    printf '%-10s %8s %8s %8s\n' program files phrases found
    for program in pdftotext pandoc docx2txt; do
        command -v "$program" >/dev/null || { echo "$program is not installed"; continue; }
        files=0 n=0 found=0 last=
        while IFS='	' read -r file place phrase; do
            case $file in '' | '#'* | ocr:*) continue ;; esac
            case $place in error | title | absent | row* | heading*) continue ;; esac
            if [ "$file" != "$last" ]; then
                last=$file
                given "$program" "$samples/$file" >"$work/raw" && read=1 || read=0
                [ "$read" = 1 ] && flat <"$work/raw" >"$work/text" && files=$((files + 1))
            fi
            [ "$read" = 1 ] || continue
            n=$((n + 1))
            grep -qF -- "$phrase" "$work/text" && found=$((found + 1))
        done <"$samples/expected.tsv"
        printf '%-10s %8d %8d %8d\n' "$program" "$files" "$n" "$found"
    done
    echo "Forage, of all files (tests/data/extract/formats_test):"
    "${BUILD:-build}"/tests/data/extract/formats_test 2>&1 | sed -n 's/^# phrases/  phrases/p'
}

speed() {
    for ending in pdf docx pptx xlsx odt ods epub rtf eml html md csv; do
        mkdir -p "$work/$ending"
        for i in 1 2 3 4 5 6 7 8; do # other bytes behind each, or they would be one document
            for f in "$samples"/*."$ending"; do
                [ -f "$f" ] || continue
                cp "$f" "$work/$ending/$i-${f##*/}"
            done
        done
        bytes=$(cat "$work/$ending"/* 2>/dev/null | wc -c)
        pages=0
        [ "$ending" = pdf ] && for f in "$work"/pdf/*; do
            k=$(pdfinfo "$f" 2>/dev/null | sed -n 's/^Pages: *//p')
            pages=$((pages + ${k:-0}))
        done
        "$forage" ingest "$work/$ending" --base "$work" --home "$work/home-$ending" --json >"$work/out" 2>/dev/null
        awk -v e="$ending" -v b="$bytes" -v p="$pages" 'match($0, /"extract":[0-9.]+/) {
            ms = substr($0, RSTART + 10, RLENGTH - 10)
            match($0, /"seconds":[0-9.]+/); s = substr($0, RSTART + 10, RLENGTH - 10)
            printf "%-5s %6.1f MB  reading %7.0f ms of computing, whole ingest %6.2f s: %6.1f MB/s", e, b / 1e6, ms, s, b / 1e6 / (s ? s : 1)
            if (p) printf ", %.0f pages/s", p / (s ? s : 1)
            print "" }' "$work/out"
    done
}

case ${1:-} in
places | beside | speed) "$1" ;;
*) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
