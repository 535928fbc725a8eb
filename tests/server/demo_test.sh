#!/bin/sh
# Which files of a machine the demo reads (server/demo_files.sh), on a machine made up for it: one tool with
# thousands of pages among two hundred others. Speaks TAP.
. "$(dirname "$0")/tap.sh"
share=$work/share
everyday="grep sed find ls tar cut wc sort chmod"
for s in 1 5 7 8; do mkdir -p "$share/man/man$s"; done
mkdir -p "$share/doc/zebra" "$share/doc/aardvark" "$share/doc/gnu"
i=0
while [ $i -lt 3000 ]; do
    i=$((i + 1))
    echo "$share/man/man1/cloud_sub_$i.1.gz"
done | xargs touch
for s in 1 5 7 8; do
    for a in b d f h j l n p r t v; do
        for b in a e i o u; do echo "$share/man/man$s/$a${b}x-$s.$s.gz"; done
    done
done | xargs touch
for page in $everyday; do touch "$share/man/man1/$page.1.gz"; done
i=0
while [ $i -lt 900 ]; do
    i=$((i + 1))
    echo "$share/doc/gnu/README.$i"
done | xargs touch
touch "$share/doc/zebra/README" "$share/doc/aardvark/notes.txt"
head -c 600000 /dev/zero >"$share/man/man1/huge.1"

files() { # files LIMIT: into $work/files, each once
    server/demo_files.sh "$1" "$share" | awk '!seen[$0]++' >"$work/files"
}
lacks_everyday() { for page in $everyday; do grep -qx "$share/man/man1/$page.1.gz" "$work/files" || return 0; done; return 1; }

files 1500 && cp "$work/files" "$work/first" && files 1500 && cmp -s "$work/first" "$work/files"
check "the same files are taken each time" $?
! lacks_everyday; check "the pages of everyday commands are among them" $?
[ "$(grep -c x-[1578] "$work/files")" -eq 220 ]; check "no other page gives way to a tool with thousands" $?
n=$(grep -c cloud_ "$work/files")
[ "$n" -ge 1 ] && [ "$n" -le 80 ]; check "which gives a twentieth" $?
n=$(grep -c doc/gnu "$work/files")
[ "$n" -ge 1 ] && [ "$n" -le 20 ] && grep -q doc/zebra/README "$work/files" && grep -q doc/aardvark/notes.txt "$work/files"
check "packages with many documents leave room for others" $?
! grep -q huge "$work/files"; check "a page of more than half a megabyte is left out" $?
files 100
[ "$(grep -c /man/ "$work/files")" -le 122 ] && [ "$(grep -c /doc/ "$work/files")" -le 20 ] && ! lacks_everyday
check "a small demo is no larger than it was told to be" $?
for s in 1 5 7 8; do
    [ "$(grep -c "/man$s/..x-" "$work/files")" -ge 5 ] || echo "# section $s"
done >"$work/out"
first=$(grep -c '/[b-h].x-' "$work/files") second=$(grep -c '/[j-v].x-' "$work/files")
[ ! -s "$work/out" ] && [ "$first" -ge 20 ] && [ "$second" -ge 20 ]
check "and has pages of all sections and of both ends of the alphabet" $?
run 0 server/demo_files.sh 100 "$work/none" && [ ! -s "$work/out" ]
check "a machine without any has none" $?
finish
