#!/bin/sh
# The real program as its users run it: options, signals, restart, backup. Speaks TAP.
. "$(dirname "$0")/tap.sh"
start() { serve "$work/home" "$@"; }

run 2 "$forage"; check "no command is wrong usage" $?
run 2 "$forage" serv && grep -q "did you mean 'serve'" "$work/err"; check "a typo gets a suggestion" $?
run 2 "$forage" ask && grep -q "did you mean 'query'" "$work/err" && run 2 "$forage" rm x && grep -q "did you mean 'delete'" "$work/err" &&
    run 2 "$forage" xyz && grep -q "'forage help' lists them" "$work/err"
check "other programs' words for a command lead to it, and a word that is like none to none" $?
run 2 "$forage" serve --lisen x && grep -q -- "--listen" "$work/err"; check "an unknown option is refused by name" $?
run 0 "$forage" help serve && grep -q -- "--port-file" "$work/out"; check "help lists a command's options" $?
mkdir "$work/marked" && printf '\357\273\277threads = many\r\n' >"$work/marked/forage.conf"
run 2 "$forage" serve --home "$work/marked" && grep -q "forage.conf:1: threads: 'many' is not a whole number" "$work/err"
check "a forage.conf that an editor of Windows wrote is read" $?
run 2 "$forage" query a b; check "too many words are wrong usage" $?
FORAGE_TOP_K=0 run 2 "$forage" query x --home "$work/none" && grep -q FORAGE_TOP_K "$work/err"
check "a bad value in the environment is named" $?
FORAGE_LISEN=x run 2 "$forage" stats --home "$work/none" && grep -q "'FORAGE_LISEN'.*FORAGE_LISTEN" "$work/err"
check "a misspelt variable is named with the nearest that exists" $?
FORAGE_NONESUCH=x run 2 timeout 20 "$forage" serve --listen 127.0.0.1:0 --home "$work/none" && grep -q "'FORAGE_NONESUCH'" "$work/err" && [ ! -e "$work/none" ]
check "so is one like no other" $?
FORAGE_LISTEN=x FORAGE_NUMA=off FORAGE_PORT=tcp://10.0.0.1:80 FORAGE_SERVICE_HOST=10.0.0.1 FORAGE_NONESUCH="" \
    run 1 "$forage" stats --home "$work/none" && ! grep -q FORAGE_ "$work/err"
check "those of other commands and of a container platform are not" $?

mkdir "$work/home"
printf '# settings\nlog-format = json\nquery_workers = 2\n' >"$work/home/forage.conf"
start; check "serves on a free port and writes it to a file" $?
wait_for grep -q '"event":"listening"' "$log"; check "forage.conf is read" $?
mkdir "$work/docs"
echo "Morels must be cooked for at least ten minutes." >"$work/docs/morels.txt"
printf '# Tar\n\nThe option -t lists the contents of an archive.\n' >"$work/docs/tar.md"
echo "not to be read" >"$work/docs/.hidden.txt"
run 0 "$forage" ingest "$work/docs" --url "$url" && grep -q "^2 created" "$work/out"
check "a folder goes in over HTTP" $?
run 0 "$forage" ingest "$work/docs" --url "$url" && grep -q "2 unchanged" "$work/out"
check "the same folder again is unchanged" $?
run 0 "$forage" query "How long must morels be cooked?" --url "$url" && grep -q "ten minutes" "$work/out" &&
    grep -q "^  \[1\]" "$work/out"
check "a question gets a cited answer" $?
run 1 "$forage" ingest "$work/docs" --home "$work/home" && grep -q "lock\|another\|holds\|use" "$work/err"
check "a second writer is refused" $?
run 0 "$forage" query "How long must morels be cooked?" --home "$work/home" && grep -q "ten minutes" "$work/out"
check "the home can be asked beside the server" $?
run 0 "$forage" bench http --url "$url/health" --requests 200 --concurrency 4 --json &&
    grep -q '"errors":0' "$work/out"
check "the load generator counts no errors" $?
run 0 "$forage" backup "$work/copy.tar.zst" --home "$work/home"; check "a running home can be backed up" $?
stop TERM; check "SIGTERM ends it with status 0" $?
[ ! -e "$port_file" ]; check "the port file is gone" $?

FORAGE_MODEL_ALIAS="ada = forage-embed-256, gpt-4o=forage/default" start && curl -s "$url/v1/models" >"$work/out" &&
    grep -q '"id":"ada"[^}]*"alias_of":"forage-embed-256"' "$work/out" && grep -q '"id":"gpt-4o"' "$work/out"
check "models have other names" $?
stop TERM
run 1 "$forage" serve --home "$work/home" --listen 127.0.0.1:0 --model-alias ada=gpt && grep -q "no model 'gpt'.*forage-embed-256" "$work/err"
check "another name of nothing ends the start" $?
run 2 "$forage" serve --home "$work/home" --listen 127.0.0.1:0 --model-alias ada
check "so does one without a model" $?
start --log-format text && grep -q " listening " "$log"; check "a flag wins over forage.conf" $?
run 0 "$forage" stats --url "$url" --json && grep -q '"documents":2' "$work/out"
check "documents are there after a restart" $?
stop KILL
start; check "starts again after kill -9" $?
run 0 "$forage" query "Which option lists an archive?" --url "$url" && grep -q -- "-t" "$work/out"
check "and still answers" $?
stop INT; check "SIGINT ends it with status 0" $?

run 2 "$forage" serve --home "$work/home" --listen 0.0.0.0:0 && grep -q -- "--insecure" "$work/err"
check "an address that others reach needs --insecure" $?
start --listen 0.0.0.0:0 --insecure && grep -q "insecure.*read, change and delete everything" "$log"
check "and with it is told what it means" $?
status() { [ "$(curl -s -o "$work/out" -w '%{http_code}' "$@")" = "$code" ]; }
code=421 status -H "Host: evil.example" "$url/stats" && grep -q -- "--allow-host evil.example" "$work/out" &&
    code=403 status -H "Origin: http://evil.example" "$url/stats" && code=200 status "$url/stats"
check "foreign names and pages are refused, on every address" $?
stop TERM
FORAGE_ALLOW_HOST=a.example,b.example start && code=200 status -H "Host: b.example:80" "$url/stats" &&
    code=200 status -H "Origin: https://a.example" "$url/stats" &&
    code=421 status -H "Host: c.example" "$url/stats"
check "--allow-host adds names" $?
stop TERM
run 2 "$forage" serve --home "$work/home" --listen 127.0.0.1:0 --allow-host http://a.example &&
    grep -q "allow-host.*without http" "$work/err"
check "a name that is none is refused" $?

real=$forage
printf '#!/bin/sh\nulimit -n 800\nexec "%s" "$@"\n' "$(realpath "$real")" >"$work/few_files"
chmod +x "$work/few_files"
forage=$work/few_files
start && grep -q 'few_files.*800.*144' "$log"
check "with few files there are fewer connections, and that is told" $?
stop TERM
start --max-connections 100 && ! grep -q few_files "$log"; check "and none is told of where they suffice" $?
stop TERM
forage=$real

FORAGE_CPU=avx3 start && grep -q "avx3.*avxvnni" "$log"; check "a processor level that is none is told" $?
stop TERM
echo "lisen = x" >>"$work/home/forage.conf"
run 2 "$forage" stats --home "$work/home" && grep -q "forage.conf:4" "$work/err"
check "an unknown setting is refused by file and line" $?
run 0 "$forage" restore "$work/copy.tar.zst" --home "$work/second" && grep -q "2 documents" "$work/out"
check "a backup becomes a home" $?
run 1 "$forage" restore "$work/copy.tar.zst" --home "$work/second" && grep -q -- "--force" "$work/err"
check "a home that holds documents is not overwritten" $?
serve "$work/third"
echo '{"id":"t1","text":"Not of the backup."}' | run 0 "$forage" ingest - --url "$url"
run 1 "$forage" restore "$work/copy.tar.zst" --home "$work/third" --force && grep -q "another process" "$work/err"
check "a home that is served is not restored" $?
stop KILL
[ -s "$work/third/forage.db-wal" ] && run 0 "$forage" restore "$work/copy.tar.zst" --home "$work/third" --force &&
    grep -q "2 documents" "$work/out" && run 0 "$forage" index verify --home "$work/third" &&
    run 0 "$forage" query "What is of the backup?" --home "$work/third" --json && ! grep -q '"t1' "$work/out"
check "what a killed server had in its log does not come back" $?
cp "$work/copy.tar.zst" "$work/damaged.tar.zst"
size=$(stat -c %s "$work/damaged.tar.zst")
head -c $((size / 2)) /dev/urandom | dd of="$work/damaged.tar.zst" bs=4096 seek=2 conv=notrunc 2>/dev/null
run 1 "$forage" restore "$work/damaged.tar.zst" --home "$work/third" --force &&
    run 0 "$forage" stats --home "$work/third" --json && grep -q '"documents":2' "$work/out"
check "a damaged backup is refused and replaces nothing" $?
i=0
while [ $i -lt 16 ]; do # a table of 16 dimensions, fitted to vectors that are nobody's
    echo "{\"id\":\"f$i\",\"text\":\"The ferry number $i crosses the lake.\"}" >>"$work/f.jsonl"
    k=0
    while [ $k -lt 16 ]; do
        [ $k -eq $i ] && printf '\000\000\200\077' || printf '\000\000\000\076'
        k=$((k + 1))
    done >>"$work/f.f32"
    i=$((i + 1))
done
run 0 "$forage" fit --input "$work/f.jsonl" --vectors "$work/f.f32" --teacher-dim 16 --dim 16 --out "$work/f.gguf" &&
    run 0 "$forage" ingest "$work/f.jsonl" --home "$work/fitted" --embed-model "$work/f.gguf"
check "a home is filled by an embedder of its own" $?
serve "$work/fitted"
wait_for grep -q "not_ready.*collection=default.*index rebuild" "$log"; check "another embedder is told at the start" $?
[ "$(curl -s -o "$work/out" -w '%{http_code}' "$url/ready")" = 503 ] && grep -q "index rebuild" "$work/out"
check "and it does not look ready" $?
run 1 "$forage" query "Which ferry crosses?" --url "$url" && grep -q "index rebuild" "$work/err"; check "questions fail" $?
stop TERM
run 1 "$forage" ingest "$work/f.jsonl" --home "$work/fitted" && [ "$(grep -c . "$work/err")" -eq 1 ] && grep -q "index rebuild" "$work/err"
check "documents are refused once, not one by one" $?
serve "$work/fitted" --embed-model "$work/f.gguf"
[ "$(curl -s -o "$work/out" -w '%{http_code}' "$url/ready")" = 200 ] && ! grep -q not_ready "$log"; check "its own is ready" $?
stop TERM
echo '{"id":"j1","text":"Jsonl by pipe."}' | run 0 "$forage" ingest - --home "$work/second"
check "stdin goes in" $?
run 0 "$forage" index verify --home "$work/second" && grep -q sound "$work/out"; check "indexes verify" $?
run 0 "$forage" query "morels" --home "$work/second" --no-generate --json && grep -q '"contexts":\[{' "$work/out"
check "a restored home is searched" $?
finish
