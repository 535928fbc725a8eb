#!/bin/sh
# tests/run.sh BUILD [ROOM...] - run the test programs of the rooms (all of them when none is named)
# and close with the one line that counts: "N passed, N failed, N skipped". Where any were skipped, the
# line before it says of which programs, and whether the golden data is what they lack.
# A program speaks TAP (cmocka does when asked); one that dies or prints no plan is one failure more.
set -u
build=$1
shift
[ $# -gt 0 ] || set -- kernels data index engine retrieval server fuzz
passed=0 failed=0 skipped=0 without=
out=$(mktemp)
# intercept_memmem=0: that check reads the whole haystack at every call, quadratic in a replace().
# Sanitizers write into a folder, so that a report from a child process or from a service that a test
# killed counts too: any report at all is a failure, and nothing is suppressed.
reports=$(mktemp -d)
trap 'rm -rf "$out" "$reports"' EXIT
export ASAN_OPTIONS="log_path=$reports/asan:detect_leaks=1:handle_segv=2:intercept_memmem=0:${ASAN_OPTIONS-}"
export UBSAN_OPTIONS="log_path=$reports/ubsan:print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS-}"
export TSAN_OPTIONS="log_path=$reports/tsan:${TSAN_OPTIONS-}"
for room in "$@"; do
    for t in "$build"/tests/"$room"/*_test "$build"/tests/"$room"/*/*_test tests/"$room"/*_test.sh; do
        [ -e "$t" ] || continue
        case $t in
        *.sh) name=${t%.sh} ;;
        *) name=$t
           source=${t#"$build"/} # one left over from a source that is gone does not count
           [ -e "$source.c" ] || [ -e "${source%_test}.c" ] || continue ;;
        esac
        if [ ! -x "$t" ]; then # a script committed without its mode would never run, and nobody would know
            echo "not ok - $t is not executable"
            failed=$((failed + 1))
            continue
        fi
        start=$(date +%s)
        BUILD=$build CMOCKA_MESSAGE_OUTPUT=TAP timeout "${TEST_TIMEOUT:-900}" "$t" >"$out" 2>&1
        rc=$?
        # cmocka writes a skipped test as "not ok N # SKIP name".
        sed -i 's/^not ok \([0-9]*\) # SKIP \(.*\)$/ok \1 - \2 # SKIP/' "$out"
        p=$(grep -c '^ok ' "$out")
        s=$(grep -ci '^ok .*# skip' "$out")
        f=$(grep -c '^not ok ' "$out")
        p=$((p - s))
        if [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then
            f=1
            echo "not ok - $name ended with status $rc"
        elif [ "$((p + s + f))" -eq 0 ]; then
            f=1
            echo "not ok - $name reported no test"
        fi
        if [ -n "$(ls "$reports")" ]; then
            f=$((f + 1))
            echo "not ok - $name: a sanitizer spoke"
            head -n 80 "$reports"/*
            rm -f "$reports"/*
        fi
        [ "$f" -eq 0 ] || tail -n 60 "$out"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        [ "$s" -eq 0 ] || without="$without${without:+, }$room/$(basename "$name") ($s)"
        echo "$room/$(basename "$name"): $p passed, $f failed, $s skipped ($(($(date +%s) - start)) s)"
        grep -i '^ok .*# skip' "$out" | sed 's/^ok [0-9]* *-* */    skipped: /; s/ *# SKIP$//'
    done
done
if [ -n "$without" ]; then
    golden=${FORAGE_SHARED:-../shared}
    [ -d "$golden" ] || without="$without; the golden data is not here: $golden is no folder, FORAGE_SHARED names another"
    echo "skipped: $without"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
