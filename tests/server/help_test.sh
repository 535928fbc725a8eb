#!/bin/sh
# What each command says of itself, and the forms that its report has: --help against the tables that completion
# is made of and against docs/forage.1; --output table, json and md. Speaks TAP.
. "$(dirname "$0")/tap.sh"
python3=$(command -v python3) || python3=
tests=$(cd "$(dirname "$0")" && pwd)/clients
says() { grep -qF -- "$1" "$work/out"; }
sentence() { [ "$(wc -l <"$work/err")" -eq 1 ] && grep -qF -- "$1" "$work/err"; }

# ---- help ---------------------------------------------------------------------------------------------

# A line of the list: two blanks, one word or two, two blanks or more.
"$forage" help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z0-9-]*\( [a-z][a-z0-9-]*\)*\)  .*/\1/p' >"$work/commands"
[ "$(wc -l <"$work/commands")" -gt 50 ] && grep -qx 'collections delete' "$work/commands"; check "the commands were read" $?

# options_of COMMAND: those that the shell completes, one a line.
"$forage" completion bash >"$work/completion"
options_of() {
    case $1 in *' '*) pattern="    '$1')" ;; *) pattern="    '$1 '*)" ;; esac
    grep -FA 1 -- "$pattern" "$work/completion" | sed -n "s/^ *options='\([^']*\)'.*/\1/p" | tr ' ' '\n' | grep . | sort
}
# What a newcomer reads first: how to begin, then what everybody needs, then what makers of models do.
begins() { sed -n '/^To begin:/,/^$/p' "$work/help" | grep -qE "^  forage $1 .*--home home "; }
"$forage" help >"$work/help"
begins ingest && begins query && begins serve &&
    [ "$(grep -n '^  serve  ' "$work/help" | cut -d : -f 1)" -lt "$(grep -n '^  bench bm25  ' "$work/help" | cut -d : -f 1)" ]
check "help begins with how to begin" $?
# usage_after SENTENCE COMMAND...: the sentence, then the usage, each line of it behind two blanks.
usage_after() {
    said=$1
    shift
    run 2 "$forage" "$@" </dev/null && [ "$(head -n 1 "$work/err")" = "forage: $said" ] && [ "$(sed -n 2p "$work/err")" = Usage: ] &&
        ! sed 1,2d "$work/err" | grep -qv '^  ' && sed -n 3p "$work/err" | grep -q '^  forage [a-z]'
}
usage_after 'query needs "question"' query && usage_after 'convert needs out.gguf' convert x &&
    usage_after "query does not know what to do with 'long'; words that belong together stand in quotes" query how long &&
    usage_after "serve does not know what to do with 'x'" serve x && usage_after 'keys create needs --name NAME' keys create
check "of wrong words it is said what is missing or too many, and how the command is written" $?

# section_of COMMAND: what docs/forage.1 says of its options, as plain text.
sed 's/\\-/-/g; s/\\f[A-Z]//g' docs/forage.1 | sed -n '/^\.SH OPTIONS OF EACH COMMAND/,/^\.SH EXIT STATUS/p' >"$work/manual"
section_of() { awk -v head=".B $1" '/^\.TP/ { on = 0 } on { print } $0 == head { on = 1 }' "$work/manual"; }

: >"$work/wrong"
: >"$work/all"
while read -r command; do
    # shellcheck disable=SC2086 # one word or two
    run 0 "$forage" $command --help </dev/null || echo "$command --help: status" >>"$work/wrong"
    says "  forage $command" || echo "$command --help: no usage" >>"$work/wrong"
    sed -n '/^Options:/,$s/^  \(--[A-Za-z0-9-]*\).*/\1/p' "$work/out" | sort >"$work/named"
    sed "s/^/$command /" "$work/named" >>"$work/all"
    options_of "$command" | cmp -s - "$work/named" || echo "$command --help: other options than completion has" >>"$work/wrong"
    # shellcheck disable=SC2086
    "$forage" help $command </dev/null | cmp -s - "$work/out" || echo "help $command says something else" >>"$work/wrong"
done <"$work/commands"
cp "$work/wrong" "$work/out"
[ ! -s "$work/wrong" ] && [ "$(wc -l <"$work/all")" -gt 500 ]; check "each command's --help ends well and names its options" $?

: >"$work/wrong"
while read -r command; do
    section_of "$command" >"$work/section"
    [ -s "$work/section" ] || echo "docs/forage.1 has no $command" >>"$work/wrong"
    sed -n "s/^$command \(--.*\)/\1/p" "$work/all" | while read -r option; do
        grep -qE -- "(^| )$option([ ,.]|\$)" "$work/section" || echo "docs/forage.1: $command lacks $option"
    done >>"$work/wrong"
    grep -oE -- '(^| )--[A-Za-z0-9-]+' "$work/section" | while read -r option; do
        grep -qxF -- "$command $option" "$work/all" || echo "docs/forage.1: $command has no $option"
    done >>"$work/wrong"
done <"$work/commands"
cp "$work/wrong" "$work/out"
[ ! -s "$work/wrong" ]; check "docs/forage.1 names every command with its options, and no others" $?

for command in ingest sync; do
    run 0 "$forage" help "$command"
    says 'node_modules, what machines make for machines'; check "help $command says that files of machines for machines are left out" $?
done
[ "$(grep -c 'machines make for machines' docs/forage.1)" -eq 2 ]; check "and so does docs/forage.1, of both" $?

# ---- the forms of a report ----------------------------------------------------------------------------

reports='stats
doctor
eval
fit
inspect
ingest
sync
log level
quantize
convert
keys create
keys list
keys revoke
index stats
index compact
index build
index rebuild
index verify
documents
collections
collections delete
delete'
: >"$work/wrong"
echo "$reports" >"$work/reports"
while read -r command; do
    # shellcheck disable=SC2086
    "$forage" help $command | grep -qE '^  --output text\|table\|json\|md ' || echo "$command has no --output text|table|json|md" >>"$work/wrong"
    # Refused before anything is done, so that none needs its arguments.
    # shellcheck disable=SC2086
    run 2 "$forage" $command --output nonsense </dev/null && sentence '--output must be one of text|table|json|md' && [ ! -s "$work/out" ] ||
        echo "$command --output nonsense: $(cat "$work/out" "$work/err")" >>"$work/wrong"
done <"$work/reports"
cp "$work/wrong" "$work/out"
[ ! -s "$work/wrong" ]; check "every report has the three forms, and a form that is none is refused in one line" $?
# The benchmarks print JSON alone, generate's --output is a file, and query's table is its sources.
sed -n 's/ --json$//p' "$work/all" | grep -vxE 'bench .*|generate|query' | sort >"$work/have"
sort "$work/reports" | cmp -s - "$work/have"; check "no other command has --json" $?

# One object or more, a line each; json.loads is stricter than a look at the brackets.
is_json() {
    [ -s "$work/out" ] && if [ -n "$python3" ]; then
        "$python3" -c 'import json, sys
for line in open(sys.argv[1], encoding="utf-8"): assert isinstance(json.loads(line), dict)' "$work/out" 2>>"$work/err"
    else
        ! grep -qv '^{.*}$' "$work/out"
    fi
}
# Tables alone: each begins with a head and its line, and all rows have as many bars as those.
is_markdown() {
    sed 's/\\.//g' "$work/out" | awk '
        /^```/ { fenced = !fenced; next }
        fenced { next }
        !/^\|/ { row = 0; if ($0 != "" && $0 !~ /^\*\*.*\*\*$/) bad = 1; next }
        { bars = gsub(/\|/, "|"); row++; rows++ }
        row == 1 { width = bars }
        row == 2 && !/^\|( --- \|)+$/ { bad = 1 }
        bars != width { bad = 1 }
        END { exit bad || rows < 2 }'
}
is_table() { [ -s "$work/out" ] && ! grep -qE '^[|{]' "$work/out"; }
# forms NAME STATUS COMMAND...: BEFORE makes each run a first one.
before() { :; }
forms() {
    name=$1 status=$2
    shift 2
    before && run "$status" "$forage" "$@" --output md && is_markdown && cp "$work/out" "$work/md"; check "$name in Markdown" $?
    before && run "$status" "$forage" "$@" --output json && is_json && cp "$work/out" "$work/json"; check "$name in JSON" $?
    before && run "$status" "$forage" "$@" --json && is_json; check "$name: --json is short for it" $?
    before && run "$status" "$forage" "$@" && is_table && before && run "$status" "$forage" "$@" --output table && is_table
    check "$name for people" $?
}

root=$PWD
case $forage in /*) ;; *) forage=$root/$forage ;; esac
cd "$work" || exit 1
mkdir notes
printf '# Herons | pumps\n\nHerons eat fish. ```\n' >notes/heron.md
printf 'The north pump is serviced every 400 hours.\n' >notes/pump.txt
printf '\000\001' >notes/odd.bin
before() { rm -rf h; }
forms "ingest" 1 ingest notes none.md --home h --progress none
grep -qxF '| created | 2 |' md && grep -qxF '| none.md | cannot open it: No such file or directory |' md
check "ingest: what failed is a table of its own" $?
forms "sync" 0 sync notes --home h --progress none
{ echo '{"id":"b1","text":"Barges carry gravel."}' && echo '{"id":"b2","text":"Ferries carry people."}'; } >corpus.jsonl
forms "index build" 0 index build --input corpus.jsonl --home h --progress none
before() { :; }
run 0 "$forage" ingest notes --home h && run 0 "$forage" ingest corpus.jsonl --home h --collection other
check "a home" $?
forms "stats" 0 stats --home h
forms "collections" 0 collections --home h
forms "documents" 0 documents --home h
grep -qF '| notes/heron.md | Herons \| pumps |' md; check "documents: a bar stays in its cell" $?
forms "documents ID" 0 documents notes/heron.md --home h
grep -qx '````' md; check "documents ID: the text stays in its fence" $?
forms "delete" 0 delete notes/pump.txt --home h --dry-run
forms "index stats" 0 index stats --home h
forms "index compact" 0 index compact --home h
forms "index rebuild" 0 index rebuild --home h --collection other --progress none
forms "index verify" 0 index verify --home h
forms "doctor" 0 doctor --home h --listen 127.0.0.1:0
before() { "$forage" ingest corpus.jsonl --home h --collection gone >out 2>&1; }
forms "collections delete" 0 collections delete gone --home h
before() { :; }
forms "keys create" 0 keys create --home k --name n --scope read
forms "keys list" 0 keys list --home k
before() { "$forage" keys create --home k --name n --scope read --json | sed 's/.*"id":"\([^"]*\)".*/\1/' >id; }
revoke() { before && run 0 "$forage" keys revoke "$(cat id)" --home k "$@"; }
revoke --output md && is_markdown; check "keys revoke in Markdown" $?
revoke --json && is_json && says '"revoked":true'; check "keys revoke in JSON" $?
revoke && says 'is revoked'; check "keys revoke for people" $?
before() { :; }
printf '{"id":"q1","text":"How often is the pump serviced?"}\n' >q.jsonl
printf 'q1\tnotes/pump.txt\t1\n' >qrels.tsv
forms "eval" 0 eval --home h --queries q.jsonl --qrels qrels.tsv --no-answers --progress none
grep -qx '| recall@10 | 1 |' md; check "eval: a figure of its report" $?
i=0
while [ $i -lt 16 ]; do # vectors that are nobody's
    echo "{\"text\":\"The ferry number $i crosses the lake.\"}" >>f.jsonl
    k=0
    while [ $k -lt 16 ]; do
        [ $k -eq $i ] && printf '\000\000\200\077' || printf '\000\000\000\076'
        k=$((k + 1))
    done >>f.f32
    i=$((i + 1))
done
forms "fit" 0 fit --input f.jsonl --vectors f.f32 --teacher-dim 16 --dim 16 --out 'f "x".gguf' --progress none
forms "inspect" 0 inspect 'f "x".gguf'
grep -qxF '**tensors**' md && grep -qF '| metadata general.architecture | ' md; check "inspect: metadata and tensors" $?
forms "quantize" 0 quantize "$root/data/models/forage-reader.gguf" m8.gguf q8_0 --progress none
if [ -n "$python3" ]; then
    mkdir bert && "$python3" "$tests/small_bert.py" bert
    forms "convert" 0 convert bert bert.gguf --progress none
else
    skip "convert" "no python3"
fi
# ---- what is wrong, and what to do ----------------------------------------------------------------------

fails() { # fails STATUS SENTENCE COMMAND...
    status=$1 said=$2
    shift 2
    run "$status" "$forage" "$@" </dev/null && sentence "forage: $said" && [ ! -s "$work/out" ] && return
    echo "$*: $(cat "$work/err" "$work/out")" >>"$work/wrong"
}
: >"$work/wrong"
nobody="cannot reach http://127.0.0.1:1: is a service running there? 'forage serve' starts one, --url names another"
fails 1 "$nobody" query x --url http://127.0.0.1:1
fails 1 "$nobody" log level --url http://127.0.0.1:1
fails 1 "$nobody" documents --url http://127.0.0.1:1
fails 1 "url: 'localhost:1' is not a http:// or https:// address; did you mean http://localhost:1?" documents --url localhost:1
for command in 'query x' documents 'delete x' 'index stats' 'index verify' 'index rebuild' 'collections delete'; do
    case $command in collections*) set -- nope ;; *) set -- --collection nope ;; esac
    # shellcheck disable=SC2086 # one word or two
    fails 1 "collection 'nope' does not exist; 'forage collections' lists them" $command "$@" --home h
done
fails 1 "document 'nope' does not exist; 'forage documents' lists them" documents nope --home h
fails 1 'query must not be empty' query '' --home h
fails 1 'query must not be empty' query ' 	' --home h
fails 2 'sync needs a folder' sync '' --home h
fails 2 "serve has no option --port; did you mean --listen?" serve --port 8080
fails 2 "serve has no option --lisen; did you mean --listen?" serve --lisen 127.0.0.1:0
fails 2 "query has no option --question; 'forage help query' lists them" query --question x
fails 2 "collections delete has no option --yes; 'forage help collections delete' lists them" collections delete x --yes
fails 2 'delete needs either ids, or --filter or --source' delete --home h
fails 1 "there is no file or folder nosuch/dir; no home is made in fresh" ingest nosuch/dir --home fresh
[ ! -e fresh ] || echo "ingest of nothing made a home" >>"$work/wrong"
"$forage" ingest nosuch - --home fresh </dev/null >/dev/null 2>&1
fails 1 "collection 'default' does not exist; the first document makes it ('forage ingest PATH'), 'forage collections' lists others" query x --home fresh
fails 2 "the command comes first, its options behind it; '--home' is no command; 'forage help' lists them" --home h query x
echo text >plain
for command in documents 'index stats' 'index verify' 'sync notes' 'query x'; do
    # shellcheck disable=SC2086
    fails 1 'plain is a file, and a home is a folder' $command --home plain
done
echo '{"id":"q","text":"What is it?"}' >eval.jsonl
printf 'other\tnote\t1\n' >eval.tsv
fails 1 "collection 'nope' does not exist" eval --home h --queries eval.jsonl --qrels eval.tsv --collection nope
fails 1 'eval.jsonl holds no query behind --skip' eval --home h --queries eval.jsonl --qrels eval.tsv --skip 5
fails 1 'plain holds no judgement: a line is query-id TAB document-id TAB relevance' eval --home h --queries eval.jsonl --qrels plain
fails 1 'there is no home in nosuch' keys list --home nosuch
for flags in '--embed-model m.gguf' '--rerank-model m.gguf' '--reader none' '--model m.gguf' '--kv-ram 1M' '--threads 2'; do
    for command in 'query x' chat mcp; do
        # shellcheck disable=SC2086
        fails 2 "with --url the service goes by the settings that it was started with: ${flags%% *} is for --home" $command --url http://127.0.0.1:1 $flags
    done
done
for flags in '--embed-model m.gguf' '--keep-originals 0' '--ingest-memory 1M'; do
    for command in 'ingest notes' 'sync notes'; do
        # shellcheck disable=SC2086
        fails 2 "with --url the service goes by the settings that it was started with: ${flags%% *} is for --home" $command --url http://127.0.0.1:1 $flags
    done
done
fails 2 'with --url the service does the work: --threads is for --home' ingest notes --url http://127.0.0.1:1 --threads 2
fails 2 'with --url the service watches, into the collection that it was told' sync notes --url http://127.0.0.1:1 --collection x
fails 1 'cannot create nosuch/dir/b: No such file or directory; the folder that it is to stand in does not exist: make it, or name another' backup nosuch/dir/b --home h
fails 1 'cannot write nosuch/a: No such file or directory; the folder that it is to stand in does not exist' eval --home h --queries eval.jsonl --qrels eval.tsv --run-file nosuch/a
for command in 'ingest notes' 'serve --listen 127.0.0.1:1' mcp 'keys create --name a --scope read' 'sync notes'; do
    # shellcheck disable=SC2086
    fails 1 'cannot make folder plain/x: Not a directory; a file is in its way: name another place' $command --home plain/x
done
fails 2 'h is a folder; name the file to be made, such as h/home.backup' backup h --home h --force
# The environment and forage.conf are for homes too: what a service has no use for is passed over there.
FORAGE_COLLECTION=x FORAGE_EMBED_MODEL=m.gguf FORAGE_LANGUAGE=german FORAGE_THREADS=2 fails 1 "$nobody" sync notes --url http://127.0.0.1:1
FORAGE_EMBED_MODEL=m.gguf FORAGE_READER=none FORAGE_THREADS=2 fails 1 "$nobody" query x --url http://127.0.0.1:1
cp "$work/wrong" "$work/out"
[ ! -s "$work/wrong" ]; check "what is wrong is said in one line, with what to do" $?
run 0 "$forage" eval --home h --queries eval.jsonl --qrels eval.tsv --progress none && sentence 'eval.tsv judges no query of eval.jsonl'
check "an evaluation without a judgement says so" $?

serve h
run 1 "$forage" serve --home second --listen "${url#http://}" &&
    sentence "forage: cannot listen on '${url#http://}': Address already in use; stop what listens there, or name another place with --listen"
check "a place that is taken is said with what to do" $?
forms "log level" 0 log level --url "$url"
forms "stats of a service" 0 stats --url "$url"
forms "collections of a service" 0 collections --url "$url"

run 0 "$forage" keys list --home h && [ ! -s "$work/out" ] && [ "$(cat "$work/err")" = 'no keys' ]
check "a home without keys says so" $?
run 1 "$forage" log level --url "$url/?x=" && grep -q '^forage: the reply: ' "$work/err" && [ ! -s "$work/out" ]
check "a reply that is no JSON is a failure" $?
if [ -n "$python3" ]; then
    "$python3" - "$work/page.port" 2>/dev/null <<'PY' &
import http.server, sys
class Page(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>Welcome</html>")
server = http.server.HTTPServer(("127.0.0.1", 0), Page)
with open(sys.argv[1], "w") as f:
    f.write(str(server.server_port))
for _ in range(2):
    server.handle_request()
PY
    services="$services $!"
    wait_for test -s "$work/page.port"
    page=http://127.0.0.1:$(cat "$work/page.port")
    run 1 "$forage" query x --url "$page" && grep -q '^forage: the reply: ' "$work/err" && [ ! -s "$work/out" ] &&
        run 1 "$forage" query x --json --url "$page" && [ ! -s "$work/out" ]
    check "so is an answer that is none" $?
else
    skip "so is an answer that is none" "no python3"
fi

# ---- which one counts, and what is beside a report ------------------------------------------------------

run 0 env FORAGE_JSON=true "$forage" stats --home h && is_json; check "FORAGE_JSON asks for JSON" $?
run 0 env FORAGE_JSON=true "$forage" stats --home h --output md && is_markdown; check "--output goes before it" $?
run 0 env FORAGE_OUTPUT=md "$forage" stats --home h && is_markdown && run 0 env FORAGE_OUTPUT=json "$forage" query note --home h && is_json
check "FORAGE_OUTPUT is the form of every report, and of an answer" $?
run 0 env FORAGE_OUTPUT=md "$forage" stats --home h --json && is_json && run 0 env FORAGE_OUTPUT=md "$forage" stats --home h --output text && is_table
check "a flag goes before it" $?
run 2 env FORAGE_OUTPUT=nonsense "$forage" stats --home h && sentence 'FORAGE_OUTPUT must be one of text|table|json|md' &&
    run 2 env FORAGE_OUTPUT=nonsense "$forage" query x --home h && sentence 'FORAGE_OUTPUT must be one of text|table|json|md'
check "a form that is none is refused by name there, too" $?
for form in text table json md; do
    run 0 "$forage" query note --home h --output $form && cp "$work/out" "$work/flag" &&
        run 0 env FORAGE_OUTPUT=$form "$forage" query note --home h &&
        { [ $form = json ] || cmp -s "$work/out" "$work/flag"; } || break
done && run 0 "$forage" query note --home h --output table && grep -q '^n *checked *document *title *place *quote$' "$work/out"
check "an answer has the four forms, by flag and by variable: its table is its sources" $?
run 0 "$forage" sync notes --home h5 --output md --progress json && is_markdown && grep -q '^{"progress":' "$work/err"
check "progress is JSON where that was asked for" $?
rm -rf h5
run 0 "$forage" sync notes --home h5 --output md && is_markdown && [ ! -s "$work/err" ]; check "and not for the sake of Markdown" $?
finish
