#!/bin/sh
# What README.md and docs/ point at is there: relative links with their headings, paths of the tree, names of
# source files; and the pages that sources name. Prints "FILE:LINE: what is wrong" and ends with status 1.
# Capitals in a path (arch_NAME.c) stand for any text. Folders of a home are written HOME/...
set -u
pages=$(ls README.md docs/*.md docs/*/*.md data/models/*.md data/models/*/*.md)
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# One line a reference: FILE:LINE KIND TARGET. Headings become anchors as Git hosts make them.
# shellcheck disable=SC2086 # a list of names
awk '
function base(path) { return path ~ /\// ? substr(path, 1, length(path) - length(last(path))) : "" }
function last(path, n, part) { n = split(path, part, "/"); return part[n] }
function anchor(text) {
    text = tolower(text)
    gsub(/\]\([^)]*\)/, "", text)
    gsub(/[^a-z0-9 _-]/, "", text)
    gsub(/ /, "-", text)
    return text
}
FNR == 1 { fenced = 0 }
/^ *```/ { fenced = !fenced; next }
!fenced && /^#+ / {
    text = $0
    sub(/^#+ /, "", text)
    print "-", "heading", FILENAME "#" anchor(text)
}
{
    here = FILENAME ":" FNR
    line = $0
    while (!fenced && match(line, /\]\([^)]*\)/)) {
        target = substr(line, RSTART + 2, RLENGTH - 3)
        line = substr(line, 1, RSTART) substr(line, RSTART + RLENGTH)
        if (target ~ /^(https?|mailto):/) continue
        if (target ~ /^#/) target = last(FILENAME) target
        print here, "link", base(FILENAME) target
    }
    line = $0
    gsub(/\]\([^)]*\)/, "]", line)
    # Paths of the tree, wherever they stand; bare names of sources, in backticks alone.
    rest = line
    while (match(rest, /(^|[^A-Za-z0-9_.\/~-])(build\/tests|kernels|data|index|engine|retrieval|server|tests|docs|\.ci)\/[A-Za-z0-9_.*\/-]*/)) {
        path = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        sub(/^[^A-Za-z.]/, "", path)
        sub(/[.]+$/, "", path)
        print here, "path", path
    }
    rest = line
    while (match(rest, /`[a-z0-9_]+\.(c|h|sh|sql|awk)`/)) {
        print here, "source", substr(rest, RSTART + 1, RLENGTH - 2)
        rest = substr(rest, RSTART + RLENGTH)
    }
}' $pages >"$found"
# Pages that sources, the Makefile and comments of scripts name.
{
    grep -noE 'docs/[A-Za-z0-9_/-]+\.(md|json|1)' Makefile /dev/null
    grep -rnoE --include='*.[ch]' '(^| |\()docs/[A-Za-z0-9_/-]+\.md' data index engine retrieval server kernels tests
    grep -rnoE --include='*.sh' '^ *#.*docs/[A-Za-z0-9_/-]+\.md' .ci server tests
} | sed 's/^\([^:]*:[0-9]*\):.*\(docs\/[^ ]*\)$/\1 path \2/' >>"$found"

bad=0
say() {
    echo "$1: $2" >&2
    bad=1
}
while read -r here kind target; do
    case $kind in
    link)
        file=${target%%#*}
        # docs/../README.md is README.md: headings are kept under the plain name.
        plain=$(realpath -m --relative-to=. "$file")
        if [ ! -e "$plain" ]; then
            say "$here" "a link to $file, which is not there"
        elif [ "$file" != "$target" ] && ! grep -qxF -- "- heading $plain#${target#*#}" "$found"; then
            say "$here" "a link to $plain, which has no heading '#${target#*#}'"
        fi
        ;;
    path)
        case $target in
        build/tests/*) target=${target#build/}.c ;;
        esac
        pattern=$(printf '%s' "$target" | sed 's/[A-Z][A-Z0-9_-]*/*/g')
        # shellcheck disable=SC2086 # a pattern
        ls -d $target >/dev/null 2>&1 || ls -d $pattern >/dev/null 2>&1 || say "$here" "no $target in this tree"
        ;;
    source)
        [ -n "$(find kernels data index engine retrieval server tests -name "$target" -print -quit)" ] ||
            say "$here" "no source is called $target"
        ;;
    esac
done <"$found"
exit $bad
