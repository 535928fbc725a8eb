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

# Hardening (see the Makefile).
readelf -hlW "$forage" >"$work/out" 2>&1
grep -q 'Type:.*DYN (Position-Independent Executable' "$work/out"; check "it lies at random addresses" $?
grep 'GNU_STACK' "$work/out" | grep -q ' RW '; check "its stack holds no code" $?
readelf -dW "$forage" >"$work/flags"
grep -q 'GNU_RELRO' "$work/out" && grep -qE 'BIND_NOW|FLAGS_1.*NOW' "$work/flags"
check "what the loader resolved is read-only" $?
nm -D --undefined-only "$forage" >"$work/out"
grep -q '__stack_chk_fail' "$work/out" && grep -q '__memcpy_chk' "$work/out" && grep -q '__snprintf_chk' "$work/out"
check "lengths given to the C library are checked" $?
# Functions that may be called by address begin with endbr64; a large frame touches each page of its own.
objdump -d --no-show-raw-insn "$forage" >"$work/code"
if gcc -fcf-protection=full -fstack-clash-protection -x c -c /dev/null -o /dev/null 2>/dev/null; then
    echo "$(grep -c 'endbr64' "$work/code") endbr64, $(grep -c 'or[ql] *\$0x0,(%rsp)' "$work/code") probes" >"$work/out"
    [ "$(grep -c 'endbr64' "$work/code")" -gt 1000 ]; check "indirect calls have marked targets" $?
    grep -q 'or[ql] *\$0x0,(%rsp)' "$work/code"; check "large frames touch the guard page" $?
fi
rm -f "$work/code"

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
