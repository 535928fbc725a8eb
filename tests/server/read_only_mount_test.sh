#!/bin/sh
# A home on a file system, or in a folder, that nobody may write to: `serve --read-only` answers from
# it, and from one that a crash left there. Speaks TAP.
if [ "${1-}" != inside ]; then
    for way in "unshare -m" "unshare -rm"; do
        # shellcheck disable=SC2086 # two words
        $way true 2>/dev/null && exec $way "$0" inside
    done
fi
. "$(dirname "$0")/tap.sh"
[ "${1-}" = inside ] || skip_all "a home on a read-only mount" "mount namespaces are not to be had here"

"$forage" ingest data/sample --home "$work/home" >/dev/null 2>&1
cp -a "$work/home" "$work/killed"
serve "$work/killed"
echo "Quinces ripen late." >"$work/quince.txt"
"$forage" ingest "$work/quince.txt" --url "$url" >/dev/null 2>&1
cp -a "$work/killed" "$work/crashed"
stop KILL
cp -a "$work/crashed" "$work/bare" && rm "$work/bare/forage.db-shm"

freeze() { # freeze HOME: as $work/mnt, read-only
    mkdir -p "$work/mnt" && mount --bind "$work/$1" "$work/mnt" 2>"$work/err" &&
        mount -o remount,ro,bind "$work/mnt" 2>>"$work/err"
}
thaw() { umount "$work/mnt"; }

freeze home || skip_all "a home on a read-only mount" "nothing can be mounted here"
touch "$work/mnt/file" 2>/dev/null
[ $? -ne 0 ]
check "nothing can be written" $?
serve "$work/mnt" --read-only && run 0 "$forage" query "When does the last bus leave on Sunday?" --url "$url" &&
    grep -q "17:10" "$work/out"
check "a home that was closed is served" $?
run 0 "$forage" documents --url "$url" && curl -sf "$url/stats" >/dev/null && curl -sf "$url/metrics" >/dev/null
check "its documents, figures and metrics too" $?
run 1 "$forage" ingest "$work/quince.txt" --url "$url" && grep -q -- "--read-only" "$work/err"
check "writes are refused" $?
stop TERM; check "it ends with status 0" $?
run 0 "$forage" query "When does the last bus leave on Sunday?" --home "$work/mnt" && grep -q "17:10" "$work/out"
check "a command answers from it without a server" $?
run 0 "$forage" index verify --home "$work/mnt"; check "it can be verified" $?
run 1 "$forage" serve --home "$work/mnt" --listen 127.0.0.1:0 && grep -q -- "--read-only serves" "$work/err"
check "to serve it for writing is refused, with what to do" $?
thaw

freeze crashed
serve "$work/mnt" --read-only && run 0 "$forage" query "When do quinces ripen?" --url "$url" &&
    grep -q "ripen late" "$work/out"
check "a home that a crash left is served with all that it had acknowledged" $?
stop TERM
thaw
freeze bare
run 1 "$forage" serve --home "$work/mnt" --read-only --listen 127.0.0.1:0 &&
    grep -q "open it once where it can be written to" "$work/err"
check "where its log cannot be read it says so, rather than serve less" $?
thaw

# A folder without the right to write: for others than root.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null && setpriv --reuid 65534 --regid 65534 --clear-groups true 2>/dev/null; then
    chown -R 65534:65534 "$work/home" && chmod 711 "$work" && find "$work/home" -exec chmod a-w {} +
    cp "$forage" "$work/forage" && chmod 755 "$work/forage"
    run 0 setpriv --reuid 65534 --regid 65534 --clear-groups "$work/forage" query "When does the last bus leave on Sunday?" --home "$work/home" &&
        grep -q "17:10" "$work/out"
    check "a home without the right to write is read by another user" $?
else
    skip "a home without the right to write is read by another user" "there is no other user to be"
fi
finish
