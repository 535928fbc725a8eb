# tests/server/tap.sh - what the shell tests share: TAP lines, commands whose status is looked at, and
# services on free ports. A test sources it; it is no test itself.
# Gives $forage (the program), $shared (golden data, may be absent) and $work (a folder that goes away
# at the end, with every service that still runs). `run` leaves what was printed in $work/out and err.
set -u
# shellcheck disable=SC2034 # for the tests
shared=${FORAGE_SHARED:-../shared}
forage=${BUILD:-build}/forage
work=$(mktemp -d)
services= n_services=0 log=/dev/null
tap_n=0 tap_failed=0
trap 'for p in $services; do kill -9 "$p" 2>/dev/null; done; wait 2>/dev/null; rm -rf "$work"' EXIT

check() { # check NAME STATUS: one test
    tap_n=$((tap_n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $tap_n - $1"; else
        echo "not ok $tap_n - $1"
        tap_failed=1
        cat "$work/out" "$work/err" "$log" 2>/dev/null | tail -n 20 | sed 's/^/# /'
    fi
}

skip() { # skip NAME REASON
    tap_n=$((tap_n + 1))
    echo "ok $tap_n - $1 # SKIP $2"
}

finish() { # the plan; ends the test
    echo "1..$tap_n"
    exit $tap_failed
}

skip_all() { # skip_all NAME REASON: nothing of this test can be done here
    skip "$@"
    finish
}

run() { # run STATUS COMMAND...: does it end with this status?
    tap_want=$1
    shift
    "$@" >"$work/out" 2>"$work/err"
    tap_got=$?
    [ "$tap_got" -eq "$tap_want" ] || {
        echo "# status $tap_got instead of $tap_want: $*"
        return 1
    }
}

wait_for() { # wait_for COMMAND...: until it holds, two minutes at most
    tap_tries=0
    until "$@"; do
        tap_tries=$((tap_tries + 1))
        [ $tap_tries -lt 1200 ] || return 1
        sleep 0.1
    done
}

serve() { # serve HOME [OPTION...]: a service; sets $url, $pid, $port_file and $log
    n_services=$((n_services + 1))
    port_file=$work/port.$n_services log=$work/log.$n_services
    tap_home=$1
    shift
    "$forage" serve --home "$tap_home" --listen 127.0.0.1:0 --port-file "$port_file" "$@" 2>"$log" &
    pid=$!
    services="$services $pid"
    wait_for listens_or_died
    # shellcheck disable=SC2034
    [ -s "$port_file" ] && url=http://127.0.0.1:$(cat "$port_file")
}
listens_or_died() { [ -s "$port_file" ] || ! kill -0 "$pid" 2>/dev/null; }

stop() { # stop SIGNAL [PID]: ends the last service, or another; its status
    kill "-$1" "${2:-$pid}" 2>/dev/null
    wait "${2:-$pid}" 2>/dev/null
}

post() { # post PATH JSON: the reply
    curl -s -H 'Content-Type: application/json' "$url$1" -d "$2"
}

[ -x "$forage" ] || skip_all "$(basename "$0" .sh)" "$forage is not built"
