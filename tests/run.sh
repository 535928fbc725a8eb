#!/bin/sh
# tests/run.sh BUILD [ROOM...] - run the test programs of the rooms (all of them when none is named), say which
# took longest, and close with the one line that counts: "N passed, N failed, N skipped". Where any were
# skipped, a line before it says of which programs, and whether the golden data is what they lack.
# A program speaks TAP (cmocka does when asked); one that dies or prints no plan is one failure more.
#
# TEST_WITHOUT names programs that are left out ("data/extract_host_test ...").
# TEST_JOBS (one for each processor, 4 at most) programs run side by side: half of the time they wait. Those
# that measure time come behind them, one by one.
set -u
alone='retrieval/ingest_budget_test server/slow_test server/hard_documents_test'

# ---- one program: run.sh --one BUILD RESULTS PROGRAM -----------------------------------------------

# What it printed goes to standard output in one piece; one line of RESULTS is "passed failed skipped seconds name".
run_one() {
    build=$1 results=$2 t=$3
    case $t in
    *.sh) name=${t%.sh} ;;
    *) name=${t#"$build"/} ;;
    esac
    name=${name#tests/}
    short=${name%%/*}/$(basename "$name")
    if [ ! -x "$t" ]; then # a script committed without its mode would never run, and nobody would know
        echo "not ok - $t is not executable"
        echo "0 1 0 0 $short" >>"$results"
        return
    fi
    mine=$(mktemp -d)
    trap 'rm -rf "$mine"' EXIT
    out=$mine/out said=$mine/said reports=$mine/reports
    mkdir "$reports"
    # intercept_memmem=0: that check reads the whole haystack at every call, quadratic in a replace().
    # Sanitizers write into a folder, so that a report from a child process or from a service that a test
    # killed counts too: any report at all is a failure, and nothing is suppressed.
    export ASAN_OPTIONS="log_path=$reports/asan:detect_leaks=1:handle_segv=2:intercept_memmem=0:${ASAN_OPTIONS-}"
    export UBSAN_OPTIONS="log_path=$reports/ubsan:print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS-}"
    export TSAN_OPTIONS="log_path=$reports/tsan:${TSAN_OPTIONS-}"
    start=$(date +%s)
    BUILD=$build CMOCKA_MESSAGE_OUTPUT=TAP timeout "${TEST_TIMEOUT:-900}" "$t" >"$out" 2>&1 </dev/null
    rc=$?
    took=$(($(date +%s) - start))
    # cmocka writes a skipped test as "not ok N # SKIP name".
    sed -i 's/^not ok \([0-9]*\) # SKIP \(.*\)$/ok \1 - \2 # SKIP/' "$out"
    p=$(grep -c '^ok ' "$out")
    s=$(grep -ci '^ok .*# skip' "$out")
    f=$(grep -c '^not ok ' "$out")
    p=$((p - s))
    {
        if [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then
            f=1
            echo "not ok - $short ended with status $rc"
        elif [ "$((p + s + f))" -eq 0 ]; then
            f=1
            echo "not ok - $short reported no test"
        fi
        if [ -n "$(ls "$reports")" ]; then
            f=$((f + 1))
            echo "not ok - $short: a sanitizer spoke"
            head -n 80 "$reports"/*
        fi
        [ "$f" -eq 0 ] || tail -n 60 "$out"
        [ "$f" -eq 0 ] || head -n -60 "$out" | grep '^not ok ' # what stands before these
        echo "$short: $p passed, $f failed, $s skipped ($took s)"
        grep -i '^ok .*# skip' "$out" | sed 's/^ok [0-9]* *-* */    skipped: /; s/ *# SKIP$//'
    } >"$said"
    { # one at a time
        flock 9
        cat "$said"
        echo "$p $f $s $took $short" >>"$results"
    } 9>"$results.lock"
}

if [ "${1-}" = --one ]; then
    run_one "$2" "$3" "$4"
    exit 0
fi

# ---- all ---------------------------------------------------------------------------------------------

build=$1
shift
[ $# -gt 0 ] || set -- kernels data index engine retrieval server fuzz
jobs=$(nproc)
[ "$jobs" -le 4 ] || jobs=4
jobs=${TEST_JOBS:-$jobs}
lists=$(mktemp -d)
trap 'rm -rf "$lists"' EXIT
: >"$lists/results"
: >"$lists/alone"
: >"$lists/compute"
: >"$lists/wait"
for room in "$@"; do
    for t in "$build"/tests/"$room"/*_test "$build"/tests/"$room"/*/*_test tests/"$room"/*_test.sh; do
        [ -e "$t" ] || continue
        case $t in
        *.sh) ;;
        *) source=${t#"$build"/} # one left over from a source that is gone does not count
           [ -e "$source.c" ] || [ -e "${source%_test}.c" ] || continue ;;
        esac
        base=$(basename "$t")
        case " ${TEST_WITHOUT-} " in
        *" $room/${base%.sh} "*)
            echo "left out: $room/${base%.sh}"
            continue
            ;;
        esac
        case " $alone " in
        *" $room/${base%.sh} "*) list=alone ;;
        *) case $room in server) list=wait ;; *) list=compute ;; esac ;;
        esac
        echo "$t" >>"$lists/$list"
    done
done
# Those that compute beside those that wait.
paste -d '\n' "$lists/wait" "$lists/compute" | grep . >"$lists/order"
xargs -r -P "$jobs" -n 1 "$0" --one "$build" "$lists/results" <"$lists/order"
xargs -r -n 1 "$0" --one "$build" "$lists/results" <"$lists/alone"

if [ "$(wc -l <"$lists/results")" -gt 10 ]; then
    echo "longest: $(sort -k 4 -rn "$lists/results" | head -n 10 | awk '{printf "%s%s %d s", (NR > 1 ? ", " : ""), $5, $4}')"
fi
without=$(sort -k 5 "$lists/results" | awk '$3 {printf "%s%s (%d)", (n++ ? ", " : ""), $5, $3}')
if [ -n "$without" ]; then
    golden=${FORAGE_SHARED:-../shared}
    [ -d "$golden" ] || without="$without; the golden data is not here: $golden is no folder, FORAGE_SHARED names another"
    echo "skipped: $without"
fi
expected=$(cat "$lists/order" "$lists/alone" | wc -l)
awk -v expected="$expected" '{p += $1; f += $2; s += $3}
    END {
        if (NR != expected) { # a worker of this script died
            printf "not ok - of %d programs %d were heard of\n", expected, NR
            f++
        }
        printf "%d passed, %d failed, %d skipped\n", p, f, s
        exit (f > 0)
    }' "$lists/results"
