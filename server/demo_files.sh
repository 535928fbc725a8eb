#!/bin/sh
# server/demo_files.sh LIMIT [SHARE] - the files of this machine that the demo reads, one a line: the manual
# pages of everyday commands, at most LIMIT other pages and a fifth of that in documents of packages.
#
# Some tools install thousands of pages whose names begin alike. So pages and packages are grouped by how their
# names begin; one of each group is taken, then a second of each, and so on, and none gives more than a
# twentieth. What is taken of a group, and in which order, follows from a sum over the names: the same files
# each time, from all sections and all of the alphabet. Slim images have none of this.
set -eu
limit=$1
share=${2:-/usr/share}
export LC_ALL=C
tab=$(printf '\t')

spread() { # spread LIMIT: of lines of group and path on stdin, the paths that are taken
    awk -F "$tab" 'BEGIN { for (i = 32; i < 127; i++) code[sprintf("%c", i)] = i }
        { sum = 0
          for (i = 1; i <= length($2); i++) sum = (sum * 31 + code[substr($2, i, 1)]) % 1000003
          print $1 "\t" sum "\t" $2 }' |
        sort -t "$tab" -k1,1 -k2,2n -k3,3 |
        awk -F "$tab" -v most="$(($1 / 20 + 5))" '
            $1 != group { group = $1; rank = 0 }
            ++rank <= most { print rank "\t" $2 "\t" $3 }' |
        sort -t "$tab" -k1,1n -k2,2n -k3,3 | cut -f 3 | head -n "$1"
}

for page in tar grep find ls cp mv rm sed gzip chmod du df sort head tail cut diff ps ln wc date; do
    ls "$share/man/man1/$page".1* 2>/dev/null || true
done
# Names begin alike where what stands before the first - _ . : or digit does, as far as four letters.
find "$share/man/man1" "$share/man/man5" "$share/man/man7" "$share/man/man8" -type f -size -512k 2>/dev/null |
    sed "s|.*/\([^/]*\)\$|\1$tab&|; s/^\([A-Za-z]\{1,4\}\)[^$tab]*/\1/" | spread "$limit"
pdf=
command -v pdftotext >/dev/null && pdf='*.pdf'
find "$share/doc" -type f -size -512k \( -name "${pdf:-README}" -o -name 'README*' -o -name '*.md' -o -name '*.md.gz' \
    -o -name '*.html' -o -name 'FAQ*' -o -name '*.txt' -o -name '*.txt.gz' \) 2>/dev/null |
    sed "s|^$share/doc/\([^/]*\)/.*|\1$tab&|; s/^\([A-Za-z]\{1,\}\)[^$tab]*/\1/" | spread "$((limit / 5))"
