#!/bin/sh
# kill -9 at random moments of everything that writes (tests/trials/crash_trial.c): nothing that was
# acknowledged is lost. KILLS=40 by default; `make crash-trial` makes a thousand. Speaks TAP.
. "$(dirname "$0")/tap.sh"
trial=${BUILD:-build}/tests/trials/crash_trial
[ -x "$trial" ] || skip_all "nothing acknowledged is lost" "$trial is not built"
kills=${KILLS:-40}
TMPDIR=$work "$trial" "$forage" "$kills" ${SEED:+"$SEED"} >"$work/out" 2>"$work/err"
check "$kills kills: documents, backups, restored homes and keys are as they were acknowledged" $?
cat "$work/out"
hits() { sed -n "s/^# *\([0-9]*\) kills in: $1\$/\1/p" "$work/out"; }
[ "$(hits seal)" -ge 3 ] && [ "$(hits merge)" -ge 3 ] && [ "$(hits "ingest, NDJSON")" -ge 5 ]
check "many of them while index files were written" $?
finish
