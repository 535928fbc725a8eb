#!/bin/sh
# The program as it was linked: which libraries it loads, and what they start in a service. Speaks TAP.
. "$(dirname "$0")/tap.sh"
case $(readelf -d "$forage" 2>/dev/null) in
*asan* | *tsan* | *ubsan*) skip_all "the program's libraries and hardening" "a build with sanitizers" ;;
esac

# ldd -u names direct dependencies that bind nothing and ends with 1 where there is one.
run 0 ldd -u "$forage"; check "every library that is linked is used" $?
ldd "$forage" >"$work/out"
! grep -E 'blas|lapack|gomp|gfortran|roaring' "$work/out"
check "no library of dense algebra, with threads of its own, is loaded" $?

# A signal goes to any thread that does not block it: a library's would die of SIGTERM, and all with it.
serve "$work/home"
unblocked=0
for t in /proc/"$pid"/task/*; do
    blocked=$(sed -n 's/^SigBlk:[[:space:]]*//p' "$t/status")
    [ $((0x$blocked >> 14 & 1)) -eq 1 ] || unblocked=$((unblocked + 1))
done
echo "$unblocked threads take SIGTERM" >"$work/out"
[ "$unblocked" -le 1 ]; check "at most one thread of a service takes SIGTERM" $?
run 0 stop TERM; check "and SIGTERM ends it" $?
finish
