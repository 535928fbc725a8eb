#!/bin/sh
# A part of tests/trials/fault_sweep.c and power_trial.c (`make fault-sweep` and `make power-trial` go
# through all): calls that fail, of memory, files and threads, make the service neither crash nor leak nor
# lie; when the power goes nothing acknowledged is lost; disks that lie are found out. Speaks TAP.
. "$(dirname "$0")/tap.sh"
trial=${BUILD:-build}/tests/trials/fault_sweep
[ -x "$trial" ] || skip_all "calls that fail" "$trial is not built"
TMPDIR=$work "$trial" "${SECONDS_EACH:-5}" >"$work/out" 2>"$work/err"
check "no call that fails makes it crash, leak or lie" $?
cat "$work/out"
TMPDIR=$work "${BUILD:-build}/tests/trials/power_trial" "${IMAGES:-25}" >"$work/out" 2>"$work/err"
check "whenever the power goes, what was acknowledged is there; of disks that lie none is believed" $?
cat "$work/out"
finish
