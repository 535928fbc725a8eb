#!/bin/sh
# forage documents, collections and delete: of a home and of a running service the same. Speaks TAP.
. "$(dirname "$0")/tap.sh"
says() { grep -qF -- "$1" "$work/out"; } # says TEXT
i=0
while [ $i -lt 1500 ]; do
    echo "{\"id\":\"d$(printf %04d $i)\",\"title\":\"Number $i\",\"text\":\"Barge $i on the canal.\",\"metadata\":{\"year\":$((2000 + i % 30)),\"tags\":[\"t$((i % 3))\"]}}"
    i=$((i + 1))
done >"$work/docs.jsonl"
echo '{"id":"odd name/ä?#%","text":"Plain.","uri":"file:x"}' >>"$work/docs.jsonl"
first='{"type":"lt","key":"year","value":2010}'

both() { # both WHAT OPTIONS...
    what=$1
    shift
    run 0 "$forage" collections "$@" && says ' 1501 ' && says ' notes'; check "collections are listed ($what)" $?
    run 0 "$forage" collections "$@" --json && says '"name":"notes"' && says '"documents":1501'; check "in JSON ($what)" $?
    run 0 "$forage" documents --collection notes "$@" && [ "$(grep -c 'Number' "$work/out")" -eq 100 ] &&
        says 'd0000 - Number 0' && grep -q -- "--after 'd0099'" "$work/err"
    check "documents are listed, a page at a time ($what)" $?
    run 0 "$forage" documents --collection notes "$@" --after d0099 --limit 2 && says d0100 && says d0101 && ! says d0102
    check "the next page ($what)" $?
    run 0 "$forage" documents --collection notes "$@" --limit 2000 --json && says '"has_more":false' &&
        [ "$(grep -o '"content_sha256"' "$work/out" | wc -l)" -eq 1501 ]
    check "all of them, over the pages of the service ($what)" $?
    run 0 "$forage" collections "$@" --output md && says '| name | documents | chunks | language |' && says '| notes | 1501 | 1501 | ' &&
        run 0 "$forage" documents --collection notes "$@" --output md --limit 2 && says '| --- | --- | --- | --- | --- |' &&
        says ' | d0001 | Number 1 |'
    check "as tables of Markdown ($what)" $?
    run 0 "$forage" query 'Where is barge 700?' --collection notes "$@" --output md && says 'Barge 700 on the canal.[^1]' &&
        says '[^1]: Number 700 (d0700): “Barge 700 on the canal.”' && ! says ' [1]'
    check "an answer in Markdown has footnotes ($what)" $?
    run 0 "$forage" query 'Where is barge 700?' --no-generate --collection notes "$@" --output md && says '- Number 700 (d0700): “Barge 700'
    check "passages are a list ($what)" $?
    run 0 "$forage" documents 'odd name/ä?#%' --collection notes "$@" && says 'file:x' && says 'Plain.'
    check "one is shown whole ($what)" $?
    run 1 "$forage" documents none --collection notes "$@" && grep -q "'none'" "$work/err"; check "one that is not there ($what)" $?
    run 1 "$forage" documents --collection nowhere "$@" && grep -q nowhere "$work/err"; check "no such collection ($what)" $?

    run 0 "$forage" delete --filter "$first" --collection notes --dry-run "$@" && says '500 documents would be deleted' &&
        says '  d0000' && says '  ... and 400 more'
    check "a dry run names what would go ($what)" $?
    run 0 "$forage" delete --filter "$first" --collection notes --dry-run --json "$@" &&
        says '"dry_run":true,"matched":500,"deleted":0' && says '"ids":["d0000","d0001"'
    check "in JSON ($what)" $?
    run 0 "$forage" collections "$@" && says ' 1501 '; check "and deletes nothing ($what)" $?
    run 0 "$forage" delete --filter "$first" --collection notes "$@" && says '500 documents deleted (500 chunks)'
    check "a condition deletes ($what)" $?
    run 0 "$forage" delete --filter "$first" --collection notes "$@" && says '0 documents deleted'; check "once ($what)" $?
    run 1 "$forage" documents d0000 --collection notes "$@"; check "they are gone ($what)" $?
    run 0 "$forage" delete d0010 'odd name/ä?#%' --collection notes --dry-run "$@" && says '2 documents would be deleted'
    check "ids, dry ($what)" $?
    run 0 "$forage" delete d0010 'odd name/ä?#%' --collection notes "$@" && says '2 documents deleted'; check "ids ($what)" $?
    run 1 "$forage" delete d0011 none d0012 --collection notes --json "$@" && says '"deleted":2' &&
        says '"missing":["none"]' && grep -q "'none'" "$work/err"
    check "an id that is not there is named, the others go, status 1 ($what)" $?
    run 0 "$forage" collections "$@" && says '  997 '; check "the counts follow ($what)" $?
    run 2 "$forage" delete --filter '{"type":"lt"}' --collection notes "$@" && grep -q 'filter' "$work/err"
    check "a condition that is none is refused ($what)" $?
    run 2 "$forage" delete --collection notes "$@"; check "neither ids nor a condition ($what)" $?
    run 0 "$forage" query "Which barge is on the canal?" --collection notes --no-generate --top-k 1000 --json "$@" &&
        ! says '"d0000"' && ! says '"d0010"' && says '"d0013"'
    check "what is deleted is not found ($what)" $?
    run 0 "$forage" collections delete notes "$@" && run 0 "$forage" collections "$@" && ! says notes
    check "a collection is deleted ($what)" $?
    run 1 "$forage" collections delete notes "$@" && grep -q notes "$work/err"; check "once ($what)" $?
}
run 0 "$forage" ingest "$work/docs.jsonl" --home "$work/home" --collection notes; check "documents go in" $?
both home --home "$work/home"
run 0 "$forage" index verify --home "$work/home"; check "the indexes agree with it" $?
serve "$work/home"
run 0 "$forage" ingest "$work/docs.jsonl" --url "$url" --collection notes; check "and again, through the service" $?
run 0 "$forage" documents --home "$work/home" --collection notes --limit 1; check "a home is listed beside its server" $?
run 0 "$forage" delete --filter "$first" --dry-run --home "$work/home" --collection notes && says '500 documents would be'
check "and a deletion tried" $?
run 1 "$forage" delete d0020 --home "$work/home" --collection notes && grep -q "in use" "$work/err"
check "but not done" $?
both service --url "$url"
stop TERM
printf 'The heron is one metre tall.' >"$work/plain.txt"
serve "$work/uploads"
curl -s "$url/ingest" -F "file=@$work/plain.txt" >/dev/null
run 0 "$forage" documents --url "$url" && grep -qE ' [0-9a-f]{32} - plain.txt$' "$work/out"; check "an upload without an id is named by its file" $?
run 0 "$forage" query "How tall is the heron?" --url "$url" && grep -qE '^  \[1\] plain.txt \([0-9a-f]{32}\)$' "$work/out"
check "and so as a source of an answer" $?
stop TERM
for command in documents collections "delete x"; do
    # shellcheck disable=SC2086 # words
    run 1 "$forage" $command --home "$work/none" && [ ! -e "$work/none" ] && grep -q "$work/none" "$work/err"
    check "$command: a home that is none is not made" $?
done
finish
