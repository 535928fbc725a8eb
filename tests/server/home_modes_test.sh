#!/bin/sh
# What a home holds is its owner's alone, whatever the umask; a home that was open to others is
# tightened, with a word. Speaks TAP.
. "$(dirname "$0")/tap.sh"
umask 000
open_to_others() { # everything below a folder that others may touch
    find "$1" -perm /077 ! -name forage.conf >"$work/out"
    [ ! -s "$work/out" ]
}
model=$shared/models/stories260K.gguf
[ -r "$model" ] && set -- --model "$model" --kv-disk 8M || set --

mkdir "$work/home" # by a person: 0777
serve "$work/home" "$@"
"$forage" ingest data/sample --url "$url" >/dev/null 2>&1
"$forage" query "When is the weir closed?" --url "$url" >/dev/null 2>&1
post /v1/completions '{"prompt":"Once upon a time there was a little girl who lived in a house by the sea","max_tokens":8}' >/dev/null
curl -s -X POST "$url/admin/snapshot" >/dev/null
open_to_others "$work/home"; check "a home in use is its owner's alone" $?
[ "$(stat -c %a "$work/home")" = 700 ] && [ "$(stat -c %a "$work/home/forage.db")" = 600 ] &&
    [ "$(stat -c %a "$work/home/forage.db-wal")" = 600 ] && [ "$(stat -c %a "$work/home/index")" = 700 ]
check "0700 its folders, 0600 its files" $?
stop TERM
open_to_others "$work/home"; check "and one that was closed" $?
! grep -q modes_ "$log"; check "there is nothing to say about a new one" $?
"$forage" backup "$work/copy.tar.zst" --home "$work/home" >/dev/null 2>&1
[ "$(stat -c %a "$work/copy.tar.zst")" = 600 ]; check "so is a backup" $?

find "$work/home" -exec chmod a+rw {} +
chmod a+rx "$work/home"
echo "# mine" >"$work/home/forage.conf"
serve "$work/home"
open_to_others "$work/home"; check "a home that was open to others is tightened" $?
grep -q "modes_tightened.*could be read or written by others" "$log"; check "with a line of the log" $?
[ "$(stat -c %a "$work/home/forage.conf")" = 666 ]; check "forage.conf is the user's" $?
curl -s "$url/metrics" | grep -q 'forage_damage_total{kind="modes_tightened"} 1'
check "and /metrics counts it" $?
stop TERM

# A folder that is more than a home stays as it is, and what Forage keeps in it is closed.
mkdir "$work/shared"
touch "$work/shared/letters"
serve "$work/shared"
[ "$(stat -c %a "$work/shared")" = 777 ] && [ "$(stat -c %a "$work/shared/letters")" = 666 ] &&
    [ "$(stat -c %a "$work/shared/forage.db")" = 600 ] && grep -q "modes_open" "$log"
check "a folder full of other things is left open, and named" $?
stop TERM

# What only reads makes no home, nor what works on one that must be there, and says what does.
told=0
for command in "query x" chat stats documents "index verify" "index stats" "index compact" "index rebuild" "backup $work/none.tar.zst" "serve --read-only"; do
    # shellcheck disable=SC2086 # words
    "$forage" $command --home "$work/none" </dev/null >"$work/out" 2>"$work/err"
    [ $? -ne 0 ] && grep -q "^forage: there is no home in $work/none; 'forage ingest FILE --home $work/none' makes one$" "$work/err" &&
        [ ! -e "$work/none" ] || told=1
done
check "without a home each command that needs one says how to make it" $told
# Somebody else is told whose it is, not that there is none.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir "$work/open"
    "$forage" ingest data/sample/kitchen.md --home "$work/open/home" >/dev/null 2>&1
    chmod a+x "$work"
    cp "$forage" "$work/open/forage"
    chmod a+rx "$work/open" "$work/open/forage"
    other() { setpriv --reuid 65534 --regid 65534 --clear-groups "$work/open/forage" "$@" --home "$work/open/home"; }
    run 1 other query "red light" && grep -q 'cannot look into .*/home: it belongs to another user' "$work/err"
    check "another user is told that a home is not his" $?
    run 1 other ingest "$work/open" && grep -q 'cannot look into .*/home: it belongs to another user' "$work/err"
    check "also where he would write into it" $?
else
    skip "another user is told that a home is not his" "only root can be another user"
fi
finish
