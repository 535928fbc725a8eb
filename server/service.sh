# service.sh - for the demo and the benchmarks, which ask a running service; read with ".", not run.
# Before: $forage, the program, and $work where a folder is to be kept (or empty); else it is a temporary
# one, and goes at the end.
keep=${work:-}
work=${work:-$(mktemp -d)}
mkdir -p "$work"
server=
finish() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
    [ -z "$server" ] || wait "$server" 2>/dev/null || true
    [ -n "$keep" ] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

serve() { # HOME [OPTION...]: $server and $url; what it says goes to $work/service.log
    home=$1
    shift
    rm -f "$work/port"
    "$forage" serve --home "$home" --listen 127.0.0.1:0 --port-file "$work/port" "$@" 2>"$work/service.log" &
    server=$!
    i=0
    until [ -s "$work/port" ]; do
        i=$((i + 1))
        if [ $i -gt 600 ] || ! kill -0 "$server" 2>/dev/null; then
            cat "$work/service.log" >&2
            exit 1
        fi
        sleep 0.1
    done
    url=http://127.0.0.1:$(cat "$work/port")
}
stop() { # and fail where it does not end well
    kill -TERM "$server"
    wait "$server"
    server=
}
number() { sed -n "s/.*\"$1\":\([-0-9.eE+]*\).*/\1/p"; } # of a JSON object on stdin
