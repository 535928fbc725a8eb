#!/bin/sh
# The manual (README.md, docs/, docs/forage.1) against the program: every command, option, route and metric that it
# names is there, and the examples of docs/ingest.md and docs/ask.md do what they say. Speaks TAP.
. "$(dirname "$0")/tap.sh"
command -v curl >/dev/null || skip_all manual "no curl"

pages="$(ls README.md docs/*.md docs/measurements/*.md)"
# Options that belong to other programs in examples (curl, git, grep, systemd, numactl, make, pkg-config, docker, buildah).
others='--option|--build-arg|--format|--rm|--cflags|--libs|--libs-only-l|--static|--color|--colour|--count|--cpunodebind|--data-binary|--diffusion-eps|--diffusion-steps|--invert-match|--lines|--membind|--only-matching'

# All commands with their options, as the program prints them. A command's line: two blanks, one or two words.
"$forage" help | sed -n '/^Commands:/,/^$/p' >"$work/list"
for first in $(sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p' "$work/list" | sort -u); do
    "$forage" help "$first" >>"$work/help" 2>/dev/null
    sed -n "s/^  $first \([a-z][a-z0-9-]*\)  *[a-z].*/\1/p" "$work/list" | while read -r second; do
        "$forage" help "$first" "$second" >>"$work/help" 2>/dev/null
    done
done
[ "$(grep -c '^Usage:' "$work/help")" -gt 30 ]; check "the program's help was read" $?

# shellcheck disable=SC2086 # a list of names
{
    sed 's/\\-/-/g; s/\\f[A-Z]//g' docs/forage.1
    cat $pages
} | grep -ohE -e '(^|[^A-Za-z0-9-])--[a-z][a-z0-9-]+' | sed 's/^[^-]*//' | sort -u | grep -vxE -e "$others" >"$work/options"
: >"$work/out"
: >"$work/err"
while read -r option; do
    grep -qE -e "^  $option( |\$)" "$work/help" || echo "no command has $option" >>"$work/err"
done <"$work/options"
[ -s "$work/options" ] && [ ! -s "$work/err" ]; check "every option that the manual names is one of a command" $?

# `forage WORD ...` in examples and in running text, but not "Forage" and not sentences.
: >"$work/err"
# shellcheck disable=SC2086
grep -ohE '(^|`)(build/)?forage [a-z][a-z-]*( [a-z][a-z-]*)?' $pages | sed 's/.*forage //' | sort -u |
    while read -r first second; do
        grep -qE "^  $first( |\$)" "$work/list" || {
            [ "$first" = help ] || echo "no command 'forage $first'"
            continue
        }
        case $first in
        index | bench) grep -qE "^  $first $second " "$work/list" || [ -z "$second" ] || echo "no command 'forage $first $second'" ;;
        esac
    done >"$work/err"
[ ! -s "$work/err" ]; check "every command that the manual names is there" $?

# shellcheck disable=SC2086
grep -ohE '(GET|POST|PUT|DELETE) /[-a-z0-9_/.]*' $pages | sed 's|/$||; s|\.$||' | sort -u >"$work/routes"
: >"$work/err"
while read -r method path; do
    [ -n "$path" ] || continue # GET /
    case $path in /v1*) [ "${path%..}" = "$path" ] || continue ;; esac # POST /v1/...
    m=$(echo "$method" | tr '[:upper:]' '[:lower:]')
    # The line of the path in the description, then the method somewhere before the next path.
    awk -v path="$path" -v m="$m" '
        /^  *"\// { at = $1; gsub(/[":]/, "", at); sub(/\/\{[a-z]*\}$/, "", at) }
        at == path && index($0, "\"" m "\":") { found = 1 }
        END { exit !found }' server/routes/openapi.json ||
        grep -q "\"$method\", \"$path\"" server/routes/app.c || echo "no $method $path" >>"$work/err"
done <"$work/routes"
[ -s "$work/routes" ] && [ ! -s "$work/err" ]; check "every route that the manual names is there" $?

: >"$work/err"
# shellcheck disable=SC2086
for metric in $(grep -ohE '`forage_[a-z_]+\*?`' $pages | tr -d '`' | sort -u); do
    grep -qw "$metric" server/sdk/forage.h || # of the library
        grep -rqF --include="*.c" "\"${metric%\*}" server || echo "no metric $metric" >>"$work/err"
done
[ ! -s "$work/err" ]; check "every metric that the manual names is there" $?

# The examples of docs/ingest.md and docs/ask.md.
serve "$work/home"
status() { [ "$(curl -s -o "$work/out" -w '%{http_code}' "$@")" = 200 ]; }
sed -n "/^curl -s localhost:8080.ingest -H/,/}}\]}'/p" docs/ingest.md | sed "s|localhost:8080|$url|" >"$work/example.sh"
[ -s "$work/example.sh" ] && run 0 sh "$work/example.sh" && grep -q '"status":"created"' "$work/out"
check "ingesting: the example of JSON" $?
status "$url/ingest?id=herons.txt&title=Herons" -H 'Content-Type: text/plain' --data-binary 'Herons eat fish.' &&
    grep -q '"id":"herons.txt"' "$work/out"; check "ingesting: one document as it is" $?
sed -n "/^curl -s localhost:8080.query/,/2024}}'/p" docs/ask.md | sed "s|localhost:8080|$url|" >"$work/example.sh"
[ -s "$work/example.sh" ] && run 0 sh "$work/example.sh" && grep -q 'every 400 hours. \[1\]' "$work/out"
check "asking: the example with a filter" $?
sed -n '/^{"type":"and"/,/^$/p' docs/ask.md | sed '/^```/d' | tr -d '\n' >"$work/filter"
status "$url/search" -H 'Content-Type: application/json' -d "{\"query\":\"pump\",\"filter\":$(cat "$work/filter")}"
check "asking: the example of a filter is one" $?
[ "$(curl -s -o "$work/out" -w '%{http_code}' "$url/query" -H 'Content-Type: application/json' \
    -d '{"query":"x","topk":3}')" = 400 ] && grep -q "unknown field 'topk'" "$work/out" && grep -q '"param":"topk"' "$work/out"
check "the API: the example of an error" $?
finish
