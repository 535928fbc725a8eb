#!/bin/sh
# .ci/reproducible.sh [static] - the same sources give the same bytes: built twice from what is committed, in folders of other names, with
# another umask, time zone, language, user's name and number of jobs, then compared: the program, libforage, the packages of
# Debian, and with "static" the program without libraries. Says a line for each (TAP); what differs stays in
# build-twice.
set -eu
cd "$(dirname "$0")/.."
here=$PWD/build-twice
export SOURCE_DATE_EPOCH="$(git log -1 --format=%ct)"
rm -rf "$here"
mkdir -p "$here/a" "$here/another-folder-of-sources"
what="all deb"
[ "${1-}" != static ] || what="all deb static"
git archive HEAD | tee "$here/sources.tar" | tar -x -C "$here/a"
tar -xf "$here/sources.tar" -C "$here/another-folder-of-sources" --no-same-permissions
# shellcheck disable=SC2086 # a list of targets
make_in() { for t in $what; do make -C "$here/$1" --no-print-directory "$t" "CC=${CC:-gcc}" "-j$2" >"$here/$1.$t.log" 2>&1 || { tail -n 20 "$here/$1.$t.log"; exit 1; }; done; }
(umask 022; TZ=UTC LC_ALL=C USER=one make_in a 2)
(umask 027; TZ=Pacific/Chatham LC_ALL=C.UTF-8 USER=another make_in another-folder-of-sources 1)
n=0 failed=0
for file in build/forage build/libforage.so.0 build/forage-extract $(cd "$here/a" && ls build/*.deb) $([ "${1-}" != static ] || echo build/static/forage); do
    n=$((n + 1))
    if cmp -s "$here/a/$file" "$here/another-folder-of-sources/$file"; then
        echo "ok $n - $file: twice $(sha256sum <"$here/a/$file" | cut -c 1-16)"
    else
        echo "not ok $n - $file"
        failed=1
    fi
done
echo "1..$n"
[ $failed -ne 0 ] || rm -rf "$here"
exit $failed
