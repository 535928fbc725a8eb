#!/bin/sh
# forage ingest of files and folders: what is skipped is said, what fails is named and ends with status
# 1, a file is one document however its path is typed, and nothing is said that was not asked for.
# Speaks TAP.
. "$(dirname "$0")/tap.sh"
case $forage in /*) ;; *) forage=$PWD/$forage ;; esac
counts() { # counts CREATED UPDATED UNCHANGED FAILED: does the first line say so?
    grep -q "^$1 created, $2 updated, $3 unchanged, $4 failed" "$work/out"
}
ids() { # ids HOME: of its documents, sorted
    "$forage" query mill --home "$1" --no-generate --json | sed 's/"document_id":"/\n&/g' |
        sed -n 's/^"document_id":"\([^"]*\)".*/\1/p' | sort
}

# ---- skipped and failed
mkdir -p "$work/in/deep" "$work/in/.git"
cd "$work/in" || exit 1
echo "The ferry leaves at eight." >ferry.md
echo "The ferry returns at six." >deep/back.txt
echo "%!PS x" >a.PS
printf 'Rar!\032\007\001' | tee b.rar >deep/c.rar
echo x >d.deb
echo x >nothing
echo x >.hidden
ln -s ferry.md link.md
mkfifo pipe
cd "$work" || exit 1
run 0 "$forage" ingest in --home "$work/one" && counts 2 0 0 0 &&
    grep -q '^9 skipped: .rar 2, hidden 2, .deb 1, .ps 1, link 1, no ending 1, no file 1$' "$work/out"
check "what a folder holds beside is counted by kind" $?
run 0 "$forage" ingest in --home "$work/one" --json &&
    grep -q '"skipped":9,"skipped_by_kind":{".rar":2,"hidden":2,".deb":1,".ps":1,' "$work/out"
check "and in JSON" $?
run 0 "$forage" ingest in/deep/back.txt --home "$work/one" && ! grep -q skipped "$work/out"
check "where nothing is skipped nothing is said" $?
printf '%%!PS-Adobe\nno text\n' >in/deep/false.txt
run 1 "$forage" ingest in --home "$work/one" && counts 0 0 2 1 && grep -q 'in/deep/false.txt: ' "$work/err"
check "one failure among others ends with status 1 and is named" $?
run 1 "$forage" ingest in/ferry.md in/none.md --home "$work/one" && counts 0 0 1 1 && grep -q 'in/none.md: ' "$work/err"
check "a path that is not there is a failure" $?
mkdir empty
: >empty/none.txt
printf '<html><body></body></html>' >empty/page.html
echo "The mill turns." >empty/mill.txt
run 0 "$forage" ingest empty --home "$work/textless" && counts 2 0 0 0 && grep -qx '1 without text' "$work/out" &&
    grep -qx '1 skipped: empty 1' "$work/out" && grep -q 'page.html: it holds no text' "$work/err" &&
    ! grep -q mill.txt "$work/err"
check "a document without text is named" $?
mkdir links
for i in 01 02 03 04 05 06 07 08 09 10 11 12; do echo '.so man1/mill.1' >links/p$i.1; done
run 0 "$forage" ingest links --home "$work/textless-many" &&
    [ "$(grep -c 'no text' "$work/err")" = 1 ] &&
    grep -q '^forage: 12 documents hold no text, and no question finds them: .*, .*, .* and 9 more$' "$work/err" &&
    grep -qx '12 without text' "$work/out"
check "of many documents without text the first are named, in one line" $?
run 0 "$forage" ingest empty --home "$work/textless-json" --json && grep -q '"without_text":1' "$work/out"
check "and counted in JSON" $?
run 1 "$forage" ingest empty/none.txt --home "$work/textless" && counts 0 0 0 1 && grep -q 'none.txt: it is empty' "$work/err"
check "a file without a byte is none" $?
run 0 "$forage" ingest empty --max-file 10 --home "$work/textless" && counts 0 0 0 0 && grep -q '^3 skipped: too large 2, empty 1' "$work/out" &&
    grep -q '^forage: empty/mill.txt: left out: its 16 bytes are more than the 10 of --max-file' "$work/err"
check "larger files than may be are left out and named" $?
run 1 "$forage" ingest empty/mill.txt --max-file 10 --home "$work/textless" --json &&
    grep -q '"failures":\[{"file":"empty/mill.txt","reason":"it is larger than the 10 bytes that --max-file allows"}\]' "$work/out"
check "one that is named itself fails, with the reason in JSON" $?
mkdir -p rules/sub rules/node_modules && cd rules || exit 1
echo "The lock is red." | tee a.md b.md sub/a.md sub/c.md node_modules/n.md >/dev/null
echo 'a.md' >.gitignore && echo '!a.md' >sub/.forageignore
cd .. && run 0 "$forage" ingest rules --home "$work/rules-home" && counts 3 0 0 0 &&
    grep -qx '4 skipped: hidden 2, ignored 1, node_modules 1' "$work/out"
check "ignore rules hold for a folder" $?
run 0 "$forage" ingest rules/a.md --home "$work/rules-home" && counts 1 0 0 0; check "and not for a file that is named" $?
echo '{"id":"x"}' >bad.jsonl
run 1 "$forage" ingest in/ferry.md bad.jsonl --home "$work/one" && counts 0 0 1 1 && grep -q 'bad.jsonl:1' "$work/err"
check "so is a line that is no document" $?
run 1 "$forage" ingest in/b.rar --home "$work/one" && grep -q 'in/b.rar: ' "$work/err" && ! grep -q skipped "$work/out"
check "a file that is named is never skipped" $?
rm in/deep/false.txt

# ---- one name
names() { # names WHAT OPTIONS...: the ways to type a path, all of them the same documents
    name_what=$1
    shift
    run 0 "$forage" ingest notes "$@" && counts 2 0 0 0; check "a folder goes in ($name_what)" $?
    for path in ./notes/ notes// "$PWD/notes" "$PWD/notes/" "$PWD/./notes/../notes" ../user/notes notes/a.md/../; do
        [ -d "$path" ] || continue
        run 0 "$forage" ingest "$path" "$@" && counts 0 0 2 0
        check "$(echo "$path" | sed "s|$work|...|") is the same folder ($name_what)" $?
    done
    run 0 "$forage" ingest "$PWD/notes/a.md" ./notes//deep/b.md "$@" && counts 0 0 2 0
    check "so are its files by themselves ($name_what)" $?
    (cd notes && run 0 "$forage" ingest . --base .. "$@") && counts 0 0 2 0
    check "and from elsewhere with --base ($name_what)" $?
}
mkdir -p "$work/user/notes/deep" "$work/away"
cd "$work/user" || exit 1
echo "The mill turns on Mondays." >notes/a.md
echo "The mill rests on Sundays." >notes/deep/b.md
names home --home "$work/two"
serve "$work/three"
names service --url "$url"
stop TERM
for home in "$work/two" "$work/three"; do
    [ "$(ids "$home" | tr '\n' ' ')" = "notes/a.md notes/deep/b.md " ]
    check "the ids are the paths below the working folder" $?
done
echo "Elsewhere." >"$work/away/c.md"
run 0 "$forage" ingest ../away --home "$work/two" && counts 1 0 0 0 &&
    run 0 "$forage" ingest "$work/away/c.md" --home "$work/two" && counts 0 0 1 0
check "what lies elsewhere is named from the root" $?

# ---- names given before: by an absolute path, and through a link
printf '{"id":"%s/notes/a.md","uri":"%s/notes/a.md","text":"Old."}\n' "$PWD" "$PWD" >"$work/old.jsonl"
ln -s "$work/away" docs
printf '{"id":"docs/c.md","uri":"docs/c.md","text":"Old."}\n' >>"$work/old.jsonl"
serve "$work/five"
run 0 "$forage" ingest "$work/empty" --url "$url" --collection textless && grep -qx '1 without text' "$work/out" &&
    grep -q 'page.html: it holds no text' "$work/err"
check "a service's reply says it too" $?
curl -s "$url/ingest?collection=textless" -F "file=@$work/empty/none.txt" >"$work/out" ||
    curl -s "$url/ingest?collection=textless" -F "file=@empty/none.txt" >"$work/out"
grep -q '"id":"none.txt","status":"failed".*"message":"it is empty"' "$work/out"
check "an upload without a byte fails" $?
printf 'a\0b\0c\0' >"$work/noise.docx"
run 1 "$forage" ingest "$work/noise.docx" --url "$url" && grep -q 'noise.docx is not a Word document, as its name says' "$work/err"
check "what is not what its name says is told so" $?
touch "$work/two
lines.txt" && echo x >"$work/two
lines.txt"
run 1 "$forage" ingest "$work/two
lines.txt" --url "$url" && grep -q 'its name holds a control character: rename it' "$work/err"
check "a name that no document can have is told as such" $?
# What was the boundary once: a file that holds it is a document like others, and its bytes are its text.
edge=--forage-7c1d0e5f9a3b42d8 disposition='Content-Disposition: form-data; name='
printf 'Honest.\r\n%s\r\n%s"id"\r\n\r\nforged\r\n%s\r\n%s"file"; filename="f.txt"\r\n\r\nForged.\r\n%s--\r\n' \
    "$edge" "$disposition" "$edge" "$disposition" "$edge" >"$work/edge.txt"
run 0 "$forage" ingest "$work/edge.txt" --url "$url" --collection edge && counts 1 0 0 0 &&
    run 1 "$forage" documents forged --url "$url" --collection edge
check "a file cannot end its part of the form and begin another" $?
# A service numbers the lines of each request: what is said names file and line nevertheless.
i=0
while [ $i -lt 300 ]; do
    i=$((i + 1))
    case $i in 3 | 280) echo '{"id":"x","txt":"No text."}' ;; 200) echo '{"text"' ;; 5) echo ;; *) echo "{\"id\":\"l$i\",\"text\":\"Line.\"}" ;; esac
done >"$work/many.jsonl"
echo '{"id":"x"}' >"$work/none.jsonl"
for target in "--home $work/lines" "--url $url --collection lines"; do
    # shellcheck disable=SC2086 # words
    run 1 "$forage" ingest "$work/none.jsonl" "$work/many.jsonl" $target && counts 296 0 0 4 &&
        sed "s|$work/||g" "$work/err" >"$work/said.${target%% *}" && ! grep -q ' line [0-9]' "$work/err"
    check "lines that are no document are counted (${target%% *})" $?
done
for place in none.jsonl:1 many.jsonl:3 many.jsonl:200 many.jsonl:280; do
    grep -q "$place" "$work/said.--home" && grep -q "$place" "$work/said.--url" || echo "$place"
done >"$work/out"
[ ! -s "$work/out" ] && cmp "$work/said.--home" "$work/said.--url" >>"$work/out" 2>&1
check "into a service as into a home they are named by file and line" $?
printf '\357\273\277{"id":"first","text":"Marked."}\n{"id":"second","text":"Plain."}\n' >"$work/mark.jsonl"
for target in "--home $work/marked" "--url $url --collection marked"; do
    # shellcheck disable=SC2086
    run 0 "$forage" ingest "$work/mark.jsonl" $target && counts 2 0 0 0
    check "a byte order mark is no part of the first line (${target%% *})" $?
done
run 0 "$forage" index build --input "$work/mark.jsonl" --home "$work/built" --progress none &&
    run 0 "$forage" documents first --home "$work/built"
check "nor is it for an index that is built" $?
for target in "--home $work/four" "--url $url"; do
    # shellcheck disable=SC2086 # two words
    run 0 "$forage" ingest "$work/old.jsonl" $target && run 0 "$forage" ingest notes docs/c.md $target && counts 1 2 0 0
    check "a document keeps the name it has (${target%% *})" $?
    # shellcheck disable=SC2086
    run 0 "$forage" ingest "$PWD/notes" ./docs/c.md $target && counts 0 0 3 0; check "for good (${target%% *})" $?
done
run 2 "$forage" ingest notes --base "$work/none" --home "$work/two" && grep -q -- "--base" "$work/err"
check "a base that is none is refused" $?
run 1 "$forage" ingest --files-from "$work" --home "$work/two" && grep -q "cannot read $work: " "$work/err"
check "a list that cannot be read is an error" $?
run 2 "$forage" ingest notes --home "$work/two" --ingest-memory 1K && grep -q -- '--ingest-memory must be at least 1048576 bytes' "$work/err" &&
    run 0 "$forage" ingest notes --home "$work/two" --ingest-memory 16M
check "a size below the least is refused" $?

# ---- what is said meanwhile
silent() { [ ! -s "$work/err" ]; }
echo '{"id":"q","text":"When does the mill turn?"}' >"$work/q.jsonl"
printf 'q\tnotes/a.md\t1\n' >"$work/qrels.tsv"
set -- eval --home "$work/two" --queries "$work/q.jsonl" --qrels "$work/qrels.tsv"
run 0 "$forage" ingest notes --home "$work/two" && silent; check "off a terminal ingest is quiet" $?
run 0 "$forage" "$@" && silent && grep -q success "$work/out"; check "so is eval" $?
run 0 "$forage" ingest notes --home "$work/two" --progress json && grep -q '^{"progress":"ingest"' "$work/err"
check "--progress json is heard" $?
run 0 "$forage" "$@" --json && grep -q '^{"progress":"eval"' "$work/err"; check "--json brings lines" $?
run 0 "$forage" "$@" --json --progress none && silent; check "unless there are to be none" $?
FORAGE_PROGRESS=bar run 0 "$forage" "$@" && grep -q '#####' "$work/err"; check "a bar is drawn where it is asked for" $?
run 2 "$forage" "$@" --progress loud && grep -q 'auto|bar|json|none' "$work/err"; check "other words are refused" $?
if command -v script >/dev/null; then
    script -qec "$forage ingest notes --home $work/two" /dev/null >"$work/out" 2>&1 && grep -q 'ingest .*documents' "$work/out"
    check "on a terminal there is a bar" $?
    ! grep -q 'index rebuild' "$work/out"; check "of a few chunks nobody is told to rebuild" $?
    seq 1 520 | sed 's/.*/{"id":"n&","text":"Note & tells of thing &."}/' >"$work/many.jsonl"
    script -qec "$forage ingest $work/many.jsonl --home $work/many" /dev/null >"$work/out" 2>&1 &&
        grep -q "index rebuild --home $work/many --embed-model builtin-encoder" "$work/out"
    check "of many it says what finds more" $?
    run 0 "$forage" ingest "$work/many.jsonl" --home "$work/many" && ! grep -q 'index rebuild' "$work/out"
    check "off a terminal it does not" $?
else
    skip "on a terminal there is a bar" "there is no script(1)"
    skip "of a few chunks nobody is told to rebuild" "there is no script(1)"
    skip "of many it says what finds more" "there is no script(1)"
    skip "off a terminal it does not" "there is no script(1)"
fi
finish
