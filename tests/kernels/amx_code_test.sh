#!/bin/sh
# The AMX kernels are machine code of the instructions that they are meant to be, and no other object
# of the build has any: those would run where nobody asked whether the processor can.
set -u
build=${BUILD:-build}
n=0 bad=0
check() { # check NAME STATUS
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        bad=1
    fi
}
if ! command -v objdump >/dev/null; then
    echo "ok 1 - the AMX kernels have tile instructions # SKIP no objdump"
    echo 1..1
    exit 0
fi
if [ ! -f "$build/kernels/matmul_amx.o" ]; then
    echo "ok 1 - the AMX kernels have tile instructions # SKIP built for another architecture"
    echo 1..1
    exit 0
fi
tiles() { objdump -d --no-show-raw-insn "$1" | grep -oE '[[:space:]](ldtilecfg|tile[a-z0-9]+|tdp[a-z0-9]+)[[:space:]]' | sort -u | tr -d ' \t\n'; }
check "matmul_amx has the instructions of int8 tiles" \
    "$([ "$(tiles "$build/kernels/matmul_amx.o")" = ldtilecfgtdpbssdtileloaddtilestoredtilezero ]; echo $?)"
check "attention_amx has those of bf16 tiles" \
    "$([ "$(tiles "$build/kernels/attention_amx.o")" = ldtilecfgtdpbf16pstileloaddtilestoredtilezero ]; echo $?)"
check "peak_amx has the products, of factors that it loads" \
    "$([ "$(tiles "$build/kernels/peak_amx.o")" = ldtilecfgtdpbf16pstdpbssdtileloadd ]; echo $?)"
for o in matmul attention peak; do
    objdump -d "$build/kernels/${o}_amx.o" | grep -q tilerelease
    check "${o}_amx releases its tiles" $?
done
others=
for o in "$build"/*/*.o; do
    case $o in */tests/* | *_amx.o) continue ;; esac
    objdump -d --no-show-raw-insn "$o" | grep -qE '[[:space:]](ldtilecfg|tilerelease|tileloadd|tdp[a-z0-9]+)([[:space:]]|$)' && others="$others $o"
done
[ -z "$others" ] || echo "# $others"
check "no other object has tile instructions" "$([ -z "$others" ]; echo $?)"
echo "1..$n"
exit $bad
