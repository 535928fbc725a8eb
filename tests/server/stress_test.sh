#!/bin/sh
# Some seconds of tests/trials/stress_trial.c (`make stress` takes minutes, SAN=thread): threads that do
# everything at once lose nothing, leave indexes that hold what the store holds, and take no two locks in
# both orders. Speaks TAP.
. "$(dirname "$0")/tap.sh"
trial=${BUILD:-build}/tests/trials/stress_trial
[ -x "$trial" ] || skip_all "everything at once" "$trial is not built"
TMPDIR=$work "$trial" "${STRESS_SECONDS:-4}" ${SEED:+"$SEED"} >"$work/out" 2>"$work/err"
check "everything at once: nothing is lost, indexes are whole, locks have an order" $?
grep -v '^# lock' "$work/out"
finish
