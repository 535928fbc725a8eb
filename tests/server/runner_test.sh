#!/bin/sh
# What `make test` says at its end, over programs that are none: tests/run.sh. Speaks TAP.
. "$(dirname "$0")/tap.sh"
fake() { # fake PROGRAM LINES...: a test program of the build folder that prints this
    mkdir -p "$work/build/tests/$(dirname "$1")"
    fake_name=$work/build/tests/$1
    shift
    { echo "#!/bin/sh"; printf 'echo "%s"\n' "$@"; } >"$fake_name"
    chmod +x "$fake_name"
}
last() { tail -n "$1" "$work/out" | head -n 1; } # last N: the line N from the end

fake index/filter/filter_test "ok 1 - a" "ok 2 - b"
fake data/chunk/chunk_test "ok 1 - a" "not ok 2 # SKIP b" "not ok 3 # SKIP c"
fake data/store/store_test "ok 1 - a # SKIP no disk"
fake data/store/no_such_source_test "not ok 1 - left over"
FORAGE_SHARED=$work/none run 0 tests/run.sh "$work/build" data index
[ "$(last 1)" = "3 passed, 0 failed, 3 skipped" ]; check "the last line counts" $?
[ "$(last 2)" = "skipped: data/chunk_test (2), data/store_test (1); the golden data is not here: $work/none is no folder, FORAGE_SHARED names another" ]
check "the line before says in which programs, and that the golden data is missing" $?
FORAGE_SHARED=$work run 0 tests/run.sh "$work/build" data index
[ "$(last 2)" = "skipped: data/chunk_test (2), data/store_test (1)" ]; check "golden data that is there is not blamed" $?
FORAGE_SHARED=$work/none run 0 tests/run.sh "$work/build" index
[ "$(grep -c . "$work/out")" -eq 2 ] && [ "$(last 1)" = "2 passed, 0 failed, 0 skipped" ]
check "where nothing is skipped nothing is said" $?
fake index/filter/filter_test "not ok 1 - a"
run 1 tests/run.sh "$work/build" index && [ "$(last 1)" = "0 passed, 1 failed, 0 skipped" ]
check "a failure is the status" $?
fake index/filter/filter_test "ok 1 - a"
chmod -x "$work/build/tests/index/filter/filter_test"
run 1 tests/run.sh "$work/build" index && [ "$(last 1)" = "0 passed, 1 failed, 0 skipped" ] &&
    grep -q 'filter_test is not executable' "$work/out"
check "a test that cannot be run is a failure" $?
finish
