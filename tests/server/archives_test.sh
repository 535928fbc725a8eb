#!/bin/sh
# Archives by every door: a folder, a named file, an upload, a raw body. Each member is a document of its own, named
# after the archive, with its own outcome. And what no extractor knows is refused by name at every door, members of
# archives among them. Speaks TAP.
. "$(dirname "$0")/tap.sh"
case $forage in /*) ;; *) forage=$PWD/$forage ;; esac
samples=$PWD/tests/data/formats
cd "$work" || exit 1
command -v zip >/dev/null || { echo "1..0 # SKIP no zip"; exit 0; }
mkdir -p in/deep pack/.git
echo "The ferry leaves at nine from the long pier." >pack/ferry.txt
cp "$samples/deaths.xlsx" "$samples/encrypted.pdf" "$samples/words.png" pack/
echo x >pack/.git/config
: >pack/none.txt
echo "Herons nest in the north colony." >herons.txt
zip -q inner.zip herons.txt
mv inner.zip pack/
zip -qr in/pack.zip pack
tar -cJf in/deep/pack.tar.xz herons.txt
head -c 900 in/pack.zip >torn.zip

run 1 "$forage" ingest in --home "$work/one" && grep -q '^4 created, 0 updated, 0 unchanged, 1 failed' "$work/out" &&
    grep -q '^3 skipped: .png 1, empty 1, hidden 1' "$work/out" &&
    grep -q 'in/pack.zip/pack/encrypted.pdf: .*it is encrypted and asks for a password' "$work/err"
check "a folder with archives: members are documents, left out by kind, or named with what is wrong" $?
run 0 "$forage" query "When does the ferry leave from the long pier?" --home "$work/one" &&
    grep -q 'in/pack.zip/pack/ferry.txt' "$work/out"
check "an answer names archive and member" $?
run 0 "$forage" query "Where do herons nest?" --home "$work/one" && grep -q 'in/pack.zip/pack/inner.zip/herons.txt\|in/deep/pack.tar.xz/herons.txt' "$work/out"
check "an archive within an archive" $?
run 0 "$forage" query "What is the profession of Vera Rubin?" --home "$work/one" &&
    grep -q 'in/pack.zip/pack/deaths.xlsx, other A6:F6' "$work/out"
check "members keep their places" $?
run 1 "$forage" ingest in --home "$work/one" && grep -q '^0 created, 0 updated, 4 unchanged, 1 failed' "$work/out"
check "the same again changes nothing" $?
run 1 "$forage" ingest torn.zip --home "$work/one" && grep -q 'torn.zip' "$work/err"
check "a damaged archive is named" $?

# ---- in a folder that is kept in step
row() { [ "$(sed -n '/^ *created /{n;p;}' "$work/out" | tr -s ' ' | sed 's/^ //')" = "$*" ]; }
held() { # held NAMES: are these the documents of the source?
    [ "$("$forage" documents --home "$work/kept" --json | tr '{' '\n' | sed -n 's/^"id":"step.\([^"]*\)".*/\1/p' | tr '\n' ' ')" = "$1" ]
}
step() { # step STATUS ROW...
    step_status=$1
    shift
    run "$step_status" "$forage" sync step --home "$work/kept" && row "$@"
}
pack() { # pack ARCHIVE: of what is in the folder pile
    rm -f "step/$1"
    (cd pile && zip -qr "../step/$1" .)
}
mkdir -p step pile/deep
echo "# Alder" >pile/alder.md
echo "# Birch" >pile/deep/birch.md
echo "# Cedar" >pile/cedar.md
cp "$samples/words.png" pile/
(cd pile && zip -q ../herons.zip alder.md)
mv herons.zip pile/inner.zip
pack p.zip
echo "# Dogwood" >step/dogwood.md
step 0 5 0 0 0 0 1 0 && grep -q '^1 skipped: .png 1$' "$work/out" &&
    held 'dogwood.md p.zip/alder.md p.zip/cedar.md p.zip/deep/birch.md p.zip/inner.zip/alder.md '
check "sync: what lies in an archive are documents of the source" $?
step 0 0 0 0 5 0 0 0; check "again: nothing to do" $?
touch step/p.zip
step 0 0 0 0 5 0 0 0; check "nor where only its time is another" $?
rm pile/cedar.md && mv pile/deep/birch.md step/birch.md && echo "More of it." >>pile/alder.md && echo "# Elm" >pile/elm.md
pack p.zip
run 0 "$forage" sync step --home "$work/kept" --dry-run && row 1 1 1 2 1 1 0 &&
    grep -q 'would move: p.zip/deep/birch.md -> birch.md' "$work/out" && grep -q 'would remove: p.zip/cedar.md' "$work/out"
check "a dry run looks into archives" $?
step 0 1 1 1 2 1 1 0 && held 'birch.md dogwood.md p.zip/alder.md p.zip/elm.md p.zip/inner.zip/alder.md '
check "new, changed, moved out of it, gone from it" $?
run 0 "$forage" sync step --home "$work/kept" && "$forage" delete step/p.zip/elm.md --home "$work/kept" --yes >/dev/null &&
    step 0 1 0 0 4 0 1 0 && held 'birch.md dogwood.md p.zip/alder.md p.zip/elm.md p.zip/inner.zip/alder.md '
check "a member's document that somebody deleted is put back" $?
rm step/p.zip
run 1 "$forage" sync step --home "$work/kept" --max-deletes 2 && row 0 0 0 2 0 0 0 && grep -q '3 of 5 documents would be removed and 2 may' "$work/err" "$work/out"
check "members of an archive that is gone count as removals" $?
step 0 0 0 0 2 3 0 0 && held 'birch.md dogwood.md '; check "and go with it" $?
pack p.zip
run 0 "$forage" sync step --home "$work/kept" && head -c 300 step/p.zip >torn-step.zip && cp torn-step.zip step/p.zip &&
    run 1 "$forage" sync step --home "$work/kept" && grep -q '^failed: p.zip: an archive: ' "$work/out" &&
    held 'birch.md dogwood.md p.zip/alder.md p.zip/elm.md p.zip/inner.zip/alder.md '
check "one that is damaged now keeps the documents of its last good version" $?
python3 -c 'import zipfile' 2>/dev/null && python3 - <<'PY'
import warnings, zipfile
warnings.simplefilter("ignore")
with zipfile.ZipFile("step/p.zip", "w") as z:
    for name, text in [("../up.md", "# Up"), ("/root.md", "# Root"), ("two.md", "# One"), ("two.md", "# Two")]:
        z.writestr(name, text)
PY
if [ $? -eq 0 ]; then
    run 0 "$forage" sync step --home "$work/kept" --max-deletes 100% && [ ! -e up.md ] && [ ! -e /root.md ] &&
        [ "$("$forage" documents --home "$work/kept" --json | grep -o '"id":"step/p.zip/' | wc -l)" = 3 ] &&
        "$forage" documents step/p.zip/two.md --home "$work/kept" | grep -q Two
    check "names that lead out of it stay names; of a name that is there twice the last one counts" $?
else
    skip "names that lead out of it stay names" "no python3"
fi

serve "$work/two"
run 1 "$forage" ingest in --url "$url" && grep -q '^4 created, 0 updated, 0 unchanged, 1 failed' "$work/out" &&
    grep -q '^3 skipped: .png 1, empty 1, hidden 1' "$work/out"
check "the same into a service" $?
code=$(curl -s -o "$work/out" -w '%{http_code}' -F "file=@in/pack.zip;filename=up.zip" "$url/ingest?collection=up")
[ "$code" = 200 ] && grep -q '"id":"up.zip/pack/ferry.txt",[^}]*"status":"created"' "$work/out" &&
    grep -q '"id":"up.zip/pack/words.png","status":"skipped","kind":".png","error":null' "$work/out" &&
    grep -q '"id":"up.zip/pack/encrypted.pdf",[^{]*"status":"failed"' "$work/out"
check "an upload" $?
code=$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: application/zip' --data-binary @in/pack.zip "$url/ingest?collection=raw&id=raw.zip")
[ "$code" = 200 ] && grep -q '"id":"raw.zip/pack/inner.zip/herons.txt",[^}]*"status":"created"' "$work/out"
check "a raw body" $?
code=$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: application/octet-stream' --data-binary @torn.zip "$url/ingest?collection=torn&id=torn.zip")
[ "$code" = 422 ] || grep -q '"status":"failed"' "$work/out"
check "a damaged one as a raw body fails" $?

# ---- what nobody reads is refused by its name, at every door -----------------------------------------
mkdir -p bad
printf '\211PNG\r\n\032\n\0\0\0\rIHDR' >bad/picture.png
printf '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\003\0>\0' >bad/program.txt
printf 'RIFF\044\0\0\0WAVEfmt ' >bad/sound.md
printf 'SQLite format 3\0\020\0\001\001' >bad/base.json
head -c 4000 /dev/urandom >bad/noise.dat
gzip -c bad/program.txt >bad/program.txt.gz
what_is() {
    case $1 in
    picture.png) echo "a PNG image" ;;
    program.txt | program.txt.gz) echo "a program (ELF)" ;;
    sound.md) echo "a sound or film (RIFF)" ;;
    base.json) echo "an SQLite database" ;;
    noise.dat) echo "binary data" ;;
    esac
}
all=0
for f in bad/*; do
    name=${f#bad/}
    what=$(what_is "$name")
    run 1 "$forage" ingest "$f" --home "$work/one" && grep -qF "$what" "$work/err" || { all=1; echo "# named file: $name"; }
    run 1 "$forage" ingest "$f" --url "$url" && grep -qF "$what" "$work/err" || { all=1; echo "# into a service: $name"; }
    curl -s -F "file=@$f" "$url/ingest" >"$work/out"
    grep -qF "$what" "$work/out" && grep -q '"status":"failed"' "$work/out" || { all=1; echo "# upload: $name"; }
    code=$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: application/octet-stream' --data-binary "@$f" "$url/ingest?id=x")
    [ "$code" = 415 ] && grep -qF "$what" "$work/out" || { all=1; echo "# raw body: $name $code"; }
    code=$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: text/plain' --data-binary "@$f" "$url/ingest?id=x")
    [ "$code" = 415 ] && grep -qF "$what" "$work/out" || { all=1; echo "# raw body as text: $name $code"; }
done
[ $all = 0 ]
check "a named file, one sent to a service, an upload and raw bodies are refused by what they are" $?
mkdir -p mixed && cp bad/program.txt bad/sound.md mixed/ && cp herons.txt mixed/
run 1 "$forage" ingest mixed --home "$work/three" && grep -q '^1 created, 0 updated, 0 unchanged, 2 failed' "$work/out" &&
    grep -q 'program.txt is a program (ELF)' "$work/err"
check "so is what lies in a folder under another name" $?
zip -qr mixed.zip mixed
run 1 "$forage" ingest mixed.zip --home "$work/three" && grep -q '^1 created, 0 updated, 0 unchanged, 2 failed' "$work/out" &&
    grep -q 'mixed.zip/mixed/program.txt: .*program.txt is a program (ELF)' "$work/err"
check "and in an archive" $?
code=$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: image/png' --data-binary @bad/picture.png "$url/ingest")
[ "$code" = 415 ] && grep -q 'a PNG image' "$work/out"
check "a declared type that is not read is refused before its bytes" $?
post /ingest '{"documents":[{"id":"j","text":"x","content_type":"application/x-executable"}]}' >"$work/out"
grep -q '"status":"failed"' "$work/out" && grep -q 'a program (ELF)' "$work/out"
check "so is that of a document in JSON" $?
finish
