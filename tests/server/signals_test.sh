#!/bin/sh
# SIGTERM at any moment of a service's life ends it in order: status 0, nothing lost. Speaks TAP.
. "$(dirname "$0")/tap.sh"
both=$((0x4002)) # SIGINT and SIGTERM in a mask of /proc

held() { # held FILE: does this thread hold both back?
    mask=$(sed -n 's/^SigBlk:[[:space:]]*//p' "$1" 2>/dev/null)
    [ -n "$mask" ] && [ $((0x$mask & both)) -eq $both ]
}
holds_or_died() { held "/proc/$pid/status" || ! kill -0 "$pid" 2>/dev/null; }
tells() { grep -qs "$1" "$log"; }

# As soon as its main thread can wait for a signal there is one, at a moment that differs: while the
# home is opened, while threads start, just before the listener is there.
ended=0 said=0
for i in $(seq 30); do
    log=$work/early.$i
    "$forage" serve --home "$work/home" --listen 127.0.0.1:0 2>"$log" &
    pid=$!
    services="$services $pid"
    until holds_or_died || tells " listening "; do :; done # who waits for a signal shows it as let in
    [ $((i % 3)) -eq 0 ] || sleep "0.0$((i % 10))"
    stop TERM && ended=$((ended + 1))
    tells " stopped " && said=$((said + 1))
done
echo "# $ended of 30 ended with status 0, $said said that they stopped"
[ $ended -eq 30 ] && [ $said -eq 30 ]; check "SIGTERM right after the start is waited for" $?

# And as soon as it serves.
ended=0 kept=0
for i in $(seq 30); do
    serve "$work/home"
    post /ingest "{\"documents\":[{\"id\":\"d$i\",\"text\":\"Note $i.\"}]}" | grep -q '"created"'
    given=$?
    stop TERM && ended=$((ended + 1))
    [ $given -eq 0 ] && [ ! -s "$work/home/forage.db-wal" ] && [ ! -e "$port_file" ] && kept=$((kept + 1))
done
echo "# $ended of 30 ended with status 0, $kept left a whole store"
[ $ended -eq 30 ] && [ $kept -eq 30 ]; check "SIGTERM after a write ends with a store that is whole" $?
run 0 "$forage" stats --home "$work/home" --json && grep -q '"documents":30' "$work/out"
check "all that was acknowledged is there" $?

# Of all its threads none may take the signal from the one that waits for it, which is the first.
serve "$work/home"
loose=0
for t in /proc/"$pid"/task/*/status; do
    [ "$t" != "/proc/$pid/task/$pid/status" ] || continue
    held "$t" || { loose=$((loose + 1)); sed -n 's/^Name:/# not held in/p' "$t"; }
done
[ $loose -eq 0 ]; check "every thread of a service holds SIGINT and SIGTERM back" $?
stop INT; check "SIGINT ends it with status 0" $?

# Other commands end at once.
mkfifo "$work/pipe"
"$forage" ingest - --home "$work/other" <"$work/pipe" >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/pipe"
waits() { [ -e "$work/other/forage.db" ] || ! kill -0 "$pid" 2>/dev/null; }
wait_for waits
stop TERM
[ $? -eq 143 ]; check "a command that serves nothing ends at once" $?
exec 3>&-
env --default-signal=INT "$forage" ingest - --home "$work/third" --progress bar <"$work/pipe" >"$work/out" 2>"$work/err" &
pid=$!
exec 3>"$work/pipe"
begun() { grep -q 'documents' "$work/err" || ! kill -0 "$pid" 2>/dev/null; }
wait_for begun
stop INT
[ $? -eq 130 ] && grep -q 'what is in stays in' "$work/err"
check "and whoever stops an ingest by Ctrl-C is told that it was no loss" $?
exec 3>&-
finish
