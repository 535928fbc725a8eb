#!/bin/sh
# What README.md and docs/ point at is there: relative links with their headings, paths of the tree, names of
# source files; and the pages that sources name. So are options, metrics and routes: what pages name the program has, and
# every option of serve, every metric and every route stands in a page (a metric in the dashboard or the alerts will do). Prints "FILE:LINE: what is wrong" and ends with status 1.
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

# Options: rows of the tables that server/cli and server/bench have. Those of other programs, as pages write them:
others='build-arg cert cflags cpunodebind data-binary diffusion-eps diffusion-steps format invert-match key libs libs-only-l
lines membind only-matching rm static help'
serves='server/cli/cli_serve.c server/cli/cli_models.h server/cli/engine_flags.c'
# shellcheck disable=SC2086 # lists of names
{
    grep -rhoE --include='*.[ch]' '\{"[a-z][a-z0-9-]*", *CLI_' server | sed 's/^{"\([^"]*\)".*/has \1/'
    printf 'has %s\n' $others
    grep -hoE '\{"[a-z][a-z0-9-]*", *CLI_' $serves | sed 's/^{"\([^"]*\)".*/must \1/'
    grep -noE -e '(^|[^A-Za-z0-9_-])--[a-z][a-z0-9-]*' $pages | sed 's/^\([^:]*:[0-9]*\):.*--\(.*\)$/named \2 \1/'
} | awk '
$1 == "has" { has[$2] = 1 }
$1 == "must" { must[$2] = 1 }
$1 == "named" { named[$2] = named[$2] " " $3 }
END {
    for (o in named) if (!(o in has)) print "no option is called --" o ":" named[o]
    for (o in must) if (!(o in named)) print "no page names the option --" o " of serve"
}' >"$found"
# Metrics: names in strings of the program; a page may end one in _ or *, and leave _bucket, _sum, _count on.
# shellcheck disable=SC2086 # lists of names
{
    grep -rhoE --include='*.c' '"forage_[a-z0-9_]+' server/routes server/local server/http | sed 's/^"/has /'
    grep -ohE 'forage_[a-z0-9_]+_(total|seconds|bytes|info)(_bucket|_sum|_count)?' $pages docs/grafana-dashboard.json \
        docs/prometheus-alerts.yaml | sed 's/_\(bucket\|sum\|count\)$//; s/^/named /'
    grep -ohE 'forage_[a-z0-9_]+' $pages docs/grafana-dashboard.json docs/prometheus-alerts.yaml | sed 's/^/said /'
} | awk '
$1 == "has" { has[$2] = 1 }
$1 == "named" { named[$2] = 1 }
$1 == "said" { sub(/_(bucket|sum|count)$/, "", $2); said[$2] = 1 }
END {
    for (m in named) if (!(m in has)) print "no metric is called " m
    for (m in has) if (!(m in said)) print "no page names the metric " m
}' >>"$found"
# Routes, but for the files of the web page: /documents/{id} stands in a page as /documents/ID, /documents/{id} or as an example, /documents/a.txt.
grep -oE 'ROUTE\("[A-Z]+", "[^"]+' server/routes/app.c | sed 's/.*"//' | grep -v '^/assets/' | sort -u | while read -r route; do
    # shellcheck disable=SC2086 # a list of names
    grep -qE "$(printf '%s' "$route" | sed 's/{[a-z]*}/[^\/ `]+/g')([^A-Za-z/_-]|\$)" $pages ||
        echo "no page names the route $route"
done >>"$found"
# Folders: each that has a row stands in docs/architecture.md, those of retrieval/ by their last names.
sed -n 's/^\([a-z][a-z/]*\):.*/\1/p' .ci/layers.txt | grep / | while read -r folder; do
    grep -q "\`\(${folder}\|${folder#retrieval/}\)\`" docs/architecture.md ||
        echo "docs/architecture.md does not say what lies in $folder"
done >>"$found"
if [ -s "$found" ]; then
    sort "$found" >&2
    bad=1
fi
exit $bad
