#!/bin/sh
# forage sync: a folder and its documents kept in step. What is new, changed, moved and gone; what is left out; what
# must never be removed; kills at any point; a watch. Speaks TAP.
. "$(dirname "$0")/tap.sh"
here=$(cd "$(dirname "$0")" && pwd)
case $forage in /*) ;; *) forage=$PWD/$forage ;; esac
cd "$work" || exit 1

# row CREATED UPDATED MOVED UNCHANGED REMOVED SKIPPED FAILED: does the table say so?
row() { [ "$(sed -n '/^ *created /{n;p;}' "$work/out" | tr -s ' ' | sed 's/^ //')" = "$*" ]; }
says() { grep -qF -- "$1" "$work/out"; }
ids() { # ids HOME [COLLECTION]: of all its documents
    "$forage" documents --home "$1" --collection "${2:-default}" --limit 100000 --json | tr '{' '\n' |
        sed -n 's/^"id":"\([^"]*\)".*/\1/p' | sort
}
on_disk() { find "$1" -name '*.md' -size +0 | sort; }
in_step() { # in_step FOLDER HOME: are the documents the files, by name and by content?
    [ "$(ids "$2")" = "$(on_disk "$1")" ] || return 1
    run 0 "$forage" index verify --home "$2" || return 1
    on_disk "$1" | while read -r file; do
        "$forage" documents "$file" --home "$2" | grep -qF "$(head -n 1 "$file" | sed 's/^# //')" || echo "$file"
    done >"$work/differ"
    [ ! -s "$work/differ" ]
}
sync_notes() { # sync_notes STATUS [OPTION...]
    sync_status=$1
    shift
    run "$sync_status" "$forage" sync notes --home h "$@"
}
fill() { # fill FOLDER N
    mkdir -p "$1/deep/er"
    fill_i=0
    while [ $fill_i -lt "$2" ]; do
        case $((fill_i % 3)) in 0) fill_to=$1 ;; 1) fill_to=$1/deep ;; *) fill_to=$1/deep/er ;; esac
        printf '# Buoy %d\n\nBuoy %d is painted in spring.\n' $fill_i $fill_i >"$fill_to/n$fill_i.md"
        fill_i=$((fill_i + 1))
    done
}

# ---- in step
fill notes 9
mkdir -p notes/node_modules/x notes/.git notes/out
echo '# Never' | tee notes/node_modules/x/a.md notes/.git/a.md notes/.hidden.md notes/out/a.md notes/draft.md >/dev/null
printf 'out/\n*.pyc\n' >notes/.gitignore
echo '/draft.md' >notes/.forageignore
: >notes/empty.md
echo x >notes/a.pyc
echo x >notes/b.unknown
ln -s .. notes/deep/loop
ln -s /etc notes/deep/away
ln -s n0.md notes/link.md
mkfifo notes/pipe.md
head -c 3000 /dev/zero | tr '\0' 'x' >notes/big.md
sync_notes 0 --max-file 2K && row 9 0 0 0 0 15 0 &&
    says '15 skipped: hidden 4, ignored 3, link 3, .unknown 1, empty 1, no file 1, node_modules 1, too large 1'
check "a folder goes in, and what is left out is counted by kind" $?
grep -q '^forage: big.md: left out: its 3000 bytes are more than the 2048 of --max-file$' "$work/err"
check "a file that is too large is named with the limit" $?
rm notes/big.md notes/draft.md notes/out/a.md notes/node_modules/x/a.md notes/.git/a.md notes/.hidden.md notes/link.md notes/pipe.md
in_step notes h; check "documents are the files" $?
sync_notes 0 && row 0 0 0 9 0 10 0; check "again: nothing to do" $?
for path in ./notes/ "$work/notes" notes/deep/.. "$work//notes/."; do
    run 0 "$forage" sync "$path" --name notes --home h && row 0 0 0 9 0 10 0
    check "$(echo "$path" | sed "s|$work|...|") is the same folder" $?
done

echo 'More of it.' >>notes/n0.md
printf '# Buoy new\n' >notes/new.md
mkdir notes/else
mv notes/deep/n1.md notes/else/other.md
mv notes/deep/er notes/else/er
rm notes/n3.md
sleep 0.1
"$forage" documents --home h >"$work/before"
sync_notes 0 --dry-run && row 1 1 4 3 1 10 0 && says 'would move: deep/n1.md -> else/other.md' &&
    says 'would move: deep/er/n2.md -> else/er/n2.md' && says 'would update: n0.md' && says 'would create: new.md' &&
    says 'would remove: n3.md'
check "a dry run says what would be done" $?
"$forage" documents --home h | cmp -s - "$work/before"; check "and changes nothing" $?
sync_notes 0 && row 1 1 4 3 1 10 0; check "new, changed, moved, gone" $?
in_step notes h; check "in step again" $?
touch notes/n0.md
sync_notes 0 && row 0 0 0 9 0 10 0; check "a touched file is unchanged" $?
stamp=$(stat -c %y notes/new.md)
printf '# Buoy wen\n' >notes/new.md # the same size
touch -d "$stamp" notes/new.md     # and time
sync_notes 0 && row 0 1 0 8 0 10 0 && in_step notes h; check "a change that size and time do not show is seen" $?

# ---- others' hands
run 0 "$forage" delete notes/n0.md notes/new.md --home h && sync_notes 0 && row 2 0 0 7 0 10 0
check "a document deleted by hand comes back" $?
echo '{"id":"notes/n0.md","text":"Somebody wrote over it."}' >x.jsonl
echo '{"id":"notes/not-a-file","text":"Nobody synced this."}' >>x.jsonl
echo '{"id":"notesy/n0.md","text":"Nor this."}' >>x.jsonl
run 0 "$forage" ingest x.jsonl --home h && sync_notes 0 && row 0 1 0 8 0 10 0; check "one replaced by hand, too" $?
rm notes/new.md
sync_notes 0 && row 0 0 0 8 1 10 0 && ids h | grep -qx notes/not-a-file && ids h | grep -qx notesy/n0.md
check "documents of others are never removed, whatever their names" $?
run 0 "$forage" delete notes/not-a-file notesy/n0.md --home h

# ---- what must not be removed
mv notes notes.away
sync_notes 1 && [ "$(ids h | wc -l)" -eq 8 ]; check "a folder that is missing removes nothing" $?
mkdir notes
sync_notes 1 && row 0 0 0 0 0 0 0 && says 'refused: the folder holds no file' && [ "$(ids h | wc -l)" -eq 8 ]
check "nor does one that is empty" $?
sync_notes 1 --max-deletes 100%; check "whatever the limit is" $?
rmdir notes
mv notes.away notes
mkdir kept
mv notes/n0.md notes/n6.md kept
sync_notes 1 --max-deletes 1 && row 0 0 0 6 0 10 0 && says 'refused: 2 of 8 documents would be removed and 1 may' && says '--max-deletes 2 allows it' && in=$(ids h | wc -l) && [ "$in" -eq 8 ]
check "no more go than may" $?
sync_notes 1 --max-deletes 24%; check "of a hundred" $?
sync_notes 1 --max-deletes 1 --json && says '"removed":0' && says '"withheld":2' && says '"refused":"2 of 8'
check "in JSON" $?
sync_notes 0 --max-deletes 2 && row 0 0 0 6 2 10 0; check "and as many as may, go" $?
mv kept/* notes
run 2 "$forage" sync notes --home h --max-deletes 3x && grep -q -- '--max-deletes' "$work/err"; check "a limit that is none is refused" $?
sync_notes 0 && row 2 0 0 6 0 10 0; check "they come back" $?
if [ "$(id -u)" -ne 0 ]; then
    chmod 0 notes/else
    sync_notes 1 && row 0 0 0 4 0 10 1 && says 'failed: else: cannot open the folder' && [ "$(ids h | wc -l)" -eq 8 ]
    check "an unreadable folder is a failure, and its documents stay" $?
    chmod 700 notes/else
    chmod 0 notes/n0.md
    sync_notes 1 && says 'failed: n0.md: cannot open it' && [ "$(ids h | wc -l)" -eq 8 ]; check "so is a file" $?
    chmod 600 notes/n0.md
elif command -v setpriv >/dev/null && chmod 755 "$work" && chmod -R a+rwX "$work" &&
    setpriv --reuid 65534 --clear-groups "$forage" help >/dev/null 2>&1; then
    as_nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
    cp -r h h2 && chown -R 65534:65534 h2 notes && chmod 0 notes/else
    run 1 as_nobody "$forage" sync notes --home h2 && row 0 0 0 4 0 10 1 && says 'failed: else: cannot open the folder' &&
        says '4 documents kept' && [ "$(ids h2 | wc -l)" -eq 8 ]
    check "an unreadable folder is a failure, and its documents stay" $?
    chmod 0 notes/n0.md
    run 1 as_nobody "$forage" sync notes --home h2 && says 'failed: n0.md: cannot open it' && [ "$(ids h2 | wc -l)" -eq 8 ]
    check "so is a file" $?
    chown -R "$(id -u):$(id -g)" notes && chmod 700 notes/else && chmod 600 notes/n0.md
else
    skip "unreadable folders" "everything is readable to root, and there is no setpriv(1)"
fi

# ---- failures
echo '%!PS-Adobe' >notes/false.md
sync_notes 1 && row 0 0 0 8 0 10 1 && says 'failed: false.md: '; check "a file that cannot be taken in is a failure with its reason" $?
sync_notes 1 && row 0 0 0 8 0 10 1 && says 'failed: false.md: '; check "and again, as long as it is there" $?
rm notes/false.md
sync_notes 0; check "no longer" $?

# ---- one folder, one source, one collection
mkdir other && echo '# Other' >other/o.md
run 1 "$forage" sync other --name notes --home h && grep -q "the source 'notes' is the folder" "$work/err" && [ "$(ids h | wc -l)" -eq 8 ]
check "another folder under the same name is refused" $?
run 1 "$forage" sync notes --home h --collection two && grep -q "fills the collection 'default'" "$work/err"
check "so is another collection" $?
mv notes moved
run 0 "$forage" sync moved --name notes --relocate --home h && row 0 0 0 8 0 10 0; check "a folder may say that it has moved" $?
mv moved notes
sync_notes 0 --relocate
run 0 "$forage" sync other --home h --collection two && row 1 0 0 0 0 0 0 && [ "$(ids h two)" = other/o.md ] &&
    run 0 "$forage" sync other --home h && row 0 0 0 1 0 0 0
check "a source keeps its collection" $?
mkdir 'a b' && run 2 "$forage" sync 'a b' --home h && grep -q -- '--name' "$work/err"; check "a folder whose name is none needs --name" $?
run 2 "$forage" sync x.jsonl --home h; check "a file is no folder" $?
mkdir inside && echo '# In' >inside/i.md && run 0 "$forage" sync inside --home inside/home && says 'home 1' && run 0 "$forage" sync inside --home inside/home && row 0 0 0 1 0 1 0
check "a home inside of the folder is left out" $?
sync_notes 0 --max-tokens 64 && row 0 8 0 0 0 10 0 && sync_notes 0 --max-tokens 64 && row 0 0 0 8 0 10 0
check "other chunks are made where they are asked for" $?

# ---- by source
echo '{"id":"notes/foreign","text":"Of nobody.","metadata":{"source":"wiki"}}' >x.jsonl
echo '{"id":"wiki/1","text":"Of a wiki.","metadata":{"source":"wiki","year":2020}}' >>x.jsonl
run 0 "$forage" ingest x.jsonl --home h && run 0 "$forage" documents --source notes --home h --output json &&
    [ "$(grep -o '"content_sha256"' "$work/out" | wc -l)" -eq 8 ] && ! says foreign
check "documents are listed by their source" $?
run 0 "$forage" documents --source notes --home h --limit 3 && [ "$(grep -c 'notes/' "$work/out")" -eq 3 ] && grep -q -- "--after 'notes/" "$work/err" &&
    run 0 "$forage" documents --source notes --home h --limit 5 --after notes/deep/n7.md && [ "$(grep -c 'notes/' "$work/out")" -lt 8 ] && ! says deep/n7
check "a page at a time" $?
run 0 "$forage" documents --filter '{"type":"eq","key":"source","value":"wiki"}' --home h && says wiki/1 && says notes/foreign && ! says notes/n0
check "and by a condition" $?
run 0 "$forage" documents --source other --home h && says other/o.md; check "a source's own collection is looked into" $?
run 1 "$forage" documents --source nobody --home h && grep -q "no source 'nobody'" "$work/err"; check "no such source" $?
run 2 "$forage" documents notes/n0.md --source notes --home h; check "an id and a source exclude each other" $?
run 0 "$forage" delete --source notes --dry-run --home h && says '8 documents would be deleted' && says '  notes/n0.md' && ! says foreign
check "a dry deletion by source counts and names" $?
if command -v script >/dev/null; then
    echo n | script -qec "$forage delete --source notes --home h" /dev/null >"$work/out" 2>&1
    says 'Delete 8 documents? [y/N]' && says 'nothing was deleted' && run 0 "$forage" documents --source notes --home h --output json && says notes/n0.md
    check "on a terminal it asks first" $?
else
    skip "on a terminal it asks first" "there is no script(1)"
fi
run 0 "$forage" delete --source notes --filter '{"type":"eq","key":"source","value":"x"}' --home h && says '0 documents deleted'
check "a source and a condition hold both" $?
run 0 "$forage" delete --source notes --home h && says '8 documents deleted (8 chunks)' && [ "$(ids h | tr '\n' ' ')" = 'notes/foreign wiki/1 ' ]
check "a deletion by source leaves others alone" $?
run 1 "$forage" delete --source notes --home h; check "the source is forgotten" $?
sync_notes 0 && row 8 0 0 0 0 10 0; check "and may come back" $?

# ---- the rules of git
if command -v git >/dev/null; then
    mkdir tree && cd tree && git init -q . 2>/dev/null
    for d in . a a/b a/b/c build build/a src src/build doc 'doc/a b' x/y/z; do
        mkdir -p "$d"
        for f in a.md b.md c.txt keep.md TODO.md 'sp ace.md' x1.md xx.md; do echo "# $d $f" >"$d/$f"; done
    done
    printf '/build/\n*.txt\n!doc/*.txt\na/**/c.txt\n**/TODO.md\nx?.md\n!/x/y/z/x1.md\n' >.gitignore
    printf 'keep.md\n/a.md\n# no\n\\#no\nsp\\ ace.md\n' >a/.gitignore
    printf '!keep.md\nb.m[a-f]\n' >a/b/.gitignore
    printf '*\n!*/\n!a.md\n' >doc/.gitignore
    printf 'z/**\n!z/a.md\n' >x/y/.gitignore
    git ls-files --others --exclude-standard -z | tr '\0' '\n' | grep -v '/*\.gitignore$' | sed 's/^/tree\//' | sort >"$work/want"
    rm -rf .git
    cd ..
    run 0 "$forage" sync tree --home tree.home && ids tree.home >"$work/got" && [ -s "$work/got" ] && cmp "$work/want" "$work/got" >"$work/out"
    check "what git ignores is left out, and nothing else" $?
else
    skip "what git ignores is left out, and nothing else" "there is no git(1)"
fi

# ---- kills
fill many 400
rounds=0 kills=0
while [ $rounds -lt 12 ]; do
    rounds=$((rounds + 1))
    i=$((rounds * 7))
    rm -f "many/n$((i * 3 % 400 / 3 * 3)).md"
    [ -d many/deep/er ] && mv many/deep/er "many/er$rounds"
    [ $((rounds % 2)) -eq 0 ] && { mv "many/er$((rounds - 1))" many/deep/er 2>/dev/null; for f in many/deep/*.md; do echo "Round $rounds." >>"$f"; done; }
    printf '# Round %d\n' $rounds >"many/r$rounds.md"
    "$forage" sync many --home k >/dev/null 2>&1 &
    victim=$!
    sleep "0.0$((rounds * 8 % 100))"
    kill -9 $victim 2>/dev/null && kills=$((kills + 1))
    wait $victim 2>/dev/null
    rm -f "many/r$rounds.md" # taken in perhaps, and gone before anything was noted of it
done
[ $kills -ge 6 ]; check "runs were killed ($kills of $rounds)" $?
run 0 "$forage" sync many --home k && in_step many k; check "a run after kills at any point ends right" $?
run 0 "$forage" sync many --home k && grep -q "^ *0 *0 *0 *$(on_disk many | wc -l) *0 " "$work/out"; check "and there is nothing left to do" $?

# ---- other settings
mkdir set && echo '# Reef' >set/reef.md && cp "$here/../data/formats/claim.pdf" set/
if command -v pdftotext >/dev/null; then
    run 0 "$forage" sync set --home sh && row 2 0 0 0 0 0 0 && run 0 "$forage" sync set --home sh --overlap 7 && row 0 2 0 0 0 0 0
    check "chunks cut otherwise: all documents are made anew" $?
    if command -v tesseract >/dev/null; then
        run 0 "$forage" sync set --home sh --overlap 7 --ocr auto && row 0 1 0 1 0 0 0 &&
            run 0 "$forage" sync set --home sh --overlap 7 --ocr force && row 0 1 0 1 0 0 0 &&
            run 0 "$forage" sync set --home sh --overlap 7 --ocr force && row 0 0 0 2 0 0 0
        check "--ocr otherwise: files that have not changed are read again" $?
        run 0 "$forage" query "claim" --home sh --json && grep -q '"document_id":"set/claim.pdf"[^}]*"page":1,"bbox":' "$work/out"
        check "what --ocr force recognised is found on its page" $?
    else
        skip "--ocr otherwise: files that have not changed are read again" "tesseract is not installed"
    fi
else
    skip "chunks cut otherwise: all documents are made anew" "pdftotext is not installed"
fi

# ---- by a service, which reads the files as it was started to
all=0
for setting in max-file=1K language=german max-tokens=64 overlap=7 ocr=auto ocr-language=eng threads=2; do
    run 2 "$forage" sync --name notes --url http://127.0.0.1:9 --$setting && grep -q -- "--${setting%=*} is for --home" "$work/err" || all=1
done
run 2 "$forage" sync --name notes --url http://127.0.0.1:9 --sync-interval 60 && grep -q -- '--sync-interval is for --watch' "$work/err" || all=1
check "how files are read, and how often, is not for --url" $all
run 2 "$forage" sync set --home sh --sync-interval 60 && grep -q 'give that, too' "$work/err"; check "an interval without a watch is refused" $?

# ---- a watch
mkdir w && echo '# One' >w/one.md
"$forage" sync w --home wh --watch --sync-interval 500 >"$work/watch" 2>&1 &
watcher=$!
services="$services $watcher"
held() { [ "$(ids wh 2>/dev/null | tr '\n' ' ')" = "$1" ]; }
wait_for held 'w/one.md '; check "a watch begins with what is there" $?
echo '# Two' >w/two.md
wait_for held 'w/one.md w/two.md '; check "it sees a new file" $?
mkdir -p w/deep/er && echo '# Three' >w/deep/er/three.md
wait_for held 'w/deep/er/three.md w/one.md w/two.md '; check "and one in new folders" $?
rm w/two.md && mv w/deep w/d
wait_for held 'w/d/er/three.md w/one.md '; check "and what went and moved" $?
kill -TERM $watcher
wait $watcher
check "it ends in order" $?
finish
