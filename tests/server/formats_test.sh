#!/bin/sh
# Documents of pages, sheets and slides, by every door: a folder, named files, an upload, a raw body. A
# citation says where in its document it stands, in JSON, on the page's answers and in a terminal; what
# cannot be read is named, and a service of which somebody ends the reading process goes on. Speaks TAP.
. "$(dirname "$0")/tap.sh"
case $forage in /*) ;; *) forage=$PWD/$forage ;; esac
samples=$PWD/tests/data/formats
cd "$work" || exit 1
mkdir -p in/deep
cp "$samples/columns.pdf" in/handbook.pdf
cp "$samples/cid-fonts.pdf" in/deep/fonts.pdf
cp "$samples/encrypted.pdf" in/deep/
cp "$samples/scanned.pdf" in/
head -c 9000 "$samples/gvpr.pdf" >in/torn.pdf
cp "$samples/deaths.xlsx" "$samples/example.docx" in/
cp "$samples/example.pptx" in/deep/
printf 'The ferry leaves at eight.\n' >in/ferry.txt
printf 'Rar!\032\007\001' >in/pack.rar

run 1 "$forage" ingest in --home "$work/one" &&
    grep -q '^6 created, 0 updated, 0 unchanged, 3 failed' "$work/out" && grep -q '^1 skipped: .rar 1' "$work/out" &&
    grep -q 'encrypted.pdf (a PDF): it is encrypted and asks for a password' "$work/err" &&
    grep -q 'scanned.pdf (a PDF): its 1 page holds no text, images alone' "$work/err" &&
    grep -q 'torn.pdf (a PDF): pdftotext cannot read it (status 1): it is damaged' "$work/err"
check "a folder with PDFs: those that cannot be read are named with the reason, and status is 1" $?
run 0 "$forage" query "What must be done when the red light above the sink is on?" --home "$work/one" &&
    grep -q '\[1\] .*in/handbook.pdf, p. 1' "$work/out"
check "the page stands in a terminal" $?
run 0 "$forage" query "Who meets no mobile telephone reception east of the second boardwalk?" --home "$work/one" &&
    grep -q 'in/handbook.pdf, p. 3' "$work/out"
check "and it is the right one" $?
run 0 "$forage" query "What is the profession of Vera Rubin?" --home "$work/one" && grep -q 'scientist' "$work/out" &&
    grep -q 'in/deaths.xlsx, other A6:F6' "$work/out"
check "so do a sheet and its cells" $?
run 0 "$forage" query "Header 1 B Header 2 1.23" --home "$work/one" && grep -q 'in/deep/example.pptx, slide 1' "$work/out"
check "and a slide" $?
mkdir -p more
cp "$samples/reed.srt" "$samples/lecture.vtt" "$samples/manual.rst" "$samples/station.ics" more/
run 0 "$forage" ingest more --home "$work/one"
run 0 "$forage" query "What keeps the key of the red door: what is locked at nine?" --home "$work/one" &&
    grep -q 'more/manual.rst, line 10' "$work/out"
check "a line of a text with markup" $?
run 0 "$forage" query "How many years of absence did the otters have?" --home "$work/one" &&
    grep -q 'more/lecture.vtt, at 0:12' "$work/out"
check "a time of a recording" $?
cp "$samples/../../quality/files/dishwasher.pdf" more/
run 0 "$forage" ingest more/dishwasher.pdf --home "$work/two" && run 0 "$forage" documents more/dishwasher.pdf --home "$work/two" &&
    grep -q '^.*0800 555 7788, Monday to Friday from 8 to 18 hours\.$' "$work/out"
check "a sentence that a comma ends at the foot of a page goes on over it" $?
run 1 "$forage" ingest in --home "$work/one" && grep -q '^0 created, 0 updated, 6 unchanged, 3 failed' "$work/out"
check "the same folder again changes nothing" $?

mkdir scans
cp "$samples/scanned-columns.pdf" "$samples/words.png" "$samples/pages.tif" scans/
run 1 "$forage" ingest scans --home "$work/three" && grep -q '^0 created, .* 1 failed' "$work/out" &&
    grep -q 'scanned-columns.pdf (a PDF): its 2 pages hold no text, .* with --ocr auto' "$work/err" &&
    grep -q '^2 skipped: .png 1, .tif 1' "$work/out"
check "a scanned document: that --ocr would read it is said; images are skipped" $?
run 1 "$forage" ingest scans --home "$work/three" --ocr always && grep -q -- '--ocr is off, auto or force' "$work/err"
check "a word that --ocr does not know" $?
if command -v tesseract >/dev/null; then
    run 0 "$forage" ingest scans --home "$work/three" --ocr auto && grep -q '^3 created, ' "$work/out" &&
        run 0 "$forage" query "Where is the battery made of eight blocks?" --home "$work/three" &&
        grep -q 'scans/scanned-columns.pdf, p. 2' "$work/out"
    check "--ocr auto reads it, with its pages; images too" $?
    run 0 "$forage" ingest scans --home "$work/three" --ocr auto && grep -q '^0 created, 0 updated, 3 unchanged' "$work/out"
    check "and again: nothing to do" $?
    run 1 "$forage" ingest scans --home "$work/three" --ocr auto --ocr-language xyz &&
        grep -q 'tesseract has no data of the language xyz here: install the package tesseract-ocr-xyz' "$work/err"
    check "a language that is not installed is named" $?
    # A machine without it: nothing is at its place.
    if unshare -rm true 2>/dev/null; then
        unshare -rm sh -c 'mount --bind /dev/null "$(command -v tesseract)" && exec "$@"' sh \
            "$forage" ingest scans --home "$work/three" --ocr auto >"$work/out" 2>"$work/err"
        [ $? -eq 1 ] && grep -q 'needs the program tesseract, which this machine lacks: install the package tesseract-ocr' "$work/err"
        check "without tesseract --ocr is refused by its name" $?
    else
        skip "without tesseract --ocr is refused by its name" "unshare is not allowed here"
    fi
else
    skip "--ocr auto reads scans" "tesseract is not installed"
fi

serve "$work/two"
code=$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: application/pdf' --data-binary @in/handbook.pdf "$url/ingest?id=raw")
[ "$code" = 200 ] && grep -q '"created"' "$work/out"
check "a raw body" $?
code=$(curl -s -o "$work/out" -w '%{http_code}' -F "file=@in/deep/fonts.pdf" -F "file=@in/deep/encrypted.pdf" "$url/ingest")
[ "$code" = 200 ] && grep -q '"created"' "$work/out" && grep -q 'encrypted and asks for a password' "$work/out"
check "an upload, of which one fails alone" $?
code=$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: image/png' --data-binary @scans/words.png "$url/ingest?id=raw-image")
[ "$code" = 415 ] && grep -q "is a PNG image and holds no text; with --ocr auto" "$work/out"
check "an image without ocr: 415 says what would read it" $?
code=$(curl -s -o "$work/out" -w '%{http_code}' -H 'Content-Type: image/png' --data-binary @scans/words.png "$url/ingest?ocr=yes")
[ "$code" = 400 ] && grep -q 'ocr must be off, auto or force' "$work/out"
check "a word that ocr does not know: 400" $?
if command -v tesseract >/dev/null; then
    code=$(curl -s -o "$work/out" -w '%{http_code}' -F ocr=auto -F "file=@scans/words.png" -F "file=@scans/scanned-columns.pdf" "$url/ingest")
    [ "$code" = 200 ] && ! grep -q '"failed"' "$work/out"
    check "an upload with the field ocr" $?
fi
ask() { post "$1" '{"query":"How long does a charged battery of a radio last in frost?","generate":true}' >"$work/out"; }
ask /query && grep -q '"source":{[^}]*"document_id":"raw"[^}]*"page":3,"bbox":\[[0-9.]*,[0-9.]*,[0-9.]*,[0-9.]*\]' "$work/out"
check "source.page and source.bbox" $?
post /search '{"query":"charged battery frost"}' >"$work/out" && grep -q '"page":[23],"bbox"' "$work/out"
check "a hit of /search has its page" $?
curl -s -o "$work/out" -F "file=@more/lecture.vtt" "$url/ingest"
post /query '{"query":"How many years of absence did the otters have?"}' >"$work/out" &&
    grep -q '"source":{[^}]*"time":\[12.5,18.25\]' "$work/out"
check "source.time" $?
# Under an address of its own a file's name alone says what it is: the same bytes under another are read anew.
printf 'def f(a):\n    return 1\n' >more/x.py
cp more/x.py more/x.js
for name in x.py x.py x.js x.js; do curl -s -F id=snippet -F uri=https://example.org/snippet -F "file=@more/$name" "$url/ingest"; done |
    grep -o '"status":"[a-z]*"' | paste -sd ' ' >"$work/out"
grep -qx '"status":"created" "status":"unchanged" "status":"updated" "status":"unchanged"' "$work/out"
check "the same bytes under another ending are no longer the same document" $?
# A PDF of many pages is seen to go on while it is read.
awk -v n=2500 '
function out(s) { printf "%s", s; at += length(s) }
function obj(k, s) { off[k] = at; out(k " 0 obj\n" s "\nendobj\n") }
BEGIN {
    out("%PDF-1.4\n")
    for (i = 1; i <= n; i++) kids = kids (3 + 2 * i) " 0 R "
    obj(1, "<< /Type /Catalog /Pages 2 0 R >>")
    obj(2, "<< /Type /Pages /Count " n " /Kids [" kids "] >>")
    obj(3, "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for (i = 1; i <= n; i++) {
        s = "BT /F1 11 Tf 14 TL 72 720 Td\n"
        for (k = 1; k <= 25; k++) s = s "(Page " i ", line " k ": the gauge at weir " (i * 31 + k) % 977 " read " (i * k * 7919) % 907 " cm.) Tj T*\n"
        obj(4 + 2 * i, "<< /Length " length(s) + 2 " >>\nstream\n" s "ET\nendstream")
        obj(3 + 2 * i, "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents " (4 + 2 * i) " 0 R /Resources << /Font << /F1 3 0 R >> >> >>")
    }
    x = at
    print "xref\n0 " 5 + 2 * n
    for (k = 0; k < 5 + 2 * n; k++) printf "%010d %05d %s \n", off[k], (k in off) ? 0 : 65535, (k in off) ? "n" : "f"
    print "trailer\n<< /Size " 5 + 2 * n " /Root 1 0 R >>\nstartxref\n" x "\n%%EOF" }' >long.pdf
job=$(curl -s "$url/ingest?id=long.pdf&wait=false" -H 'Content-Type: application/pdf' --data-binary @long.pdf |
    sed 's/.*"job_id":"\([^"]*\)".*/\1/')
pages_seen() { curl -s "$url/jobs/$job" >"$work/out"; grep -q '"done":0,"failed":0,"pages":[1-9]\|"status":"succeeded"' "$work/out"; }
wait_for pages_seen && grep -q '"status":"running"' "$work/out"
check "a job tells the pages that were read of a document that is not done" $?
job_over() { curl -s "$url/jobs/$job" >"$work/out"; grep -q '"status":"succeeded"' "$work/out"; }
wait_for job_over && grep -q '"created":1' "$work/out"
check "and goes on to its end" $?
server_of_workers() { # whose parent is the service
    for p in /proc/[0-9]*; do
        [ "$(sed 's/.*) . //;s/ .*//' "$p/stat" 2>/dev/null)" = "$pid" ] &&
            tr '\0' ' ' <"$p/cmdline" 2>/dev/null | grep -q -- --extract-worker && echo "${p#/proc/}"
    done
}
reader=$(server_of_workers)
[ -n "$reader" ] && kill -9 "$reader"
code=$(curl -s -o "$work/out" -w '%{http_code}' -F "file=@in/handbook.pdf;filename=again.pdf" "$url/ingest")
[ "$code" = 200 ] && grep -q '"created"\|"updated"' "$work/out"
check "the reading process was ended: another takes its place" $?
reader=$(server_of_workers)
stop TERM
for i in 1 2 3 4 5 6 7 8 9 10; do kill -0 "$reader" 2>/dev/null || break; sleep 0.2; done
[ -n "$reader" ] && ! kill -0 "$reader" 2>/dev/null
check "it ends with the service" $?
finish
