#!/bin/sh
# A service that is changed while it runs: settings read again on SIGHUP, a socket that is handed over; one that begins with an older home. Speaks
# TAP.
. "$(dirname "$0")/tap.sh"
tests=$(dirname "$0")/clients
tells() { grep -qs "$1" "$log"; }
mkdir "$work/home"
serve "$work/home"
curl -s "$url/health" >/dev/null
! tells 'path=/health'; check "probes are not in the log at first" $?
echo 'log-level = debug' >"$work/home/forage.conf"
kill -HUP "$pid"
wait_for tells 'reloaded log_level=debug'; curl -s "$url/health" >/dev/null
wait_for tells 'path=/health'; check "SIGHUP takes the level of forage.conf" $?
printf '# quiet\nlog_level = "error"\n' >"$work/home/forage.conf"
kill -HUP "$pid"
wait_for tells 'reloaded log_level=error'; curl -s "$url/no-such-route" >/dev/null
! tells 'no-such-route'; check "and another" $?
echo 'log-level = loud' >"$work/home/forage.conf"
kill -HUP "$pid"
wait_for tells 'log_level_kept.*none of'; check "one that there is not is refused, and the service goes on" $?
rm "$work/home/forage.conf"
kill -HUP "$pid"
wait_for tells 'reloaded log_level=info'; curl -s "$url/collections" >/dev/null
wait_for tells 'path=/collections'; check "without a line it is that of the start" $?
run 0 "$forage" log level --url "$url" && [ "$(cat "$work/out")" = info ]; check "the level can be asked for" $?
run 0 "$forage" log level debug --url "$url" && [ "$(cat "$work/out")" = debug ]
wait_for tells 'log_level_set .*log_level=debug'; curl -s "$url/ready" >/dev/null
wait_for tells 'path=/ready'; check "and be changed" $?
[ "$(curl -s "$url/admin/log-level")" = '{"level":"debug"}' ] && grep -q '"act":"POST /admin/log-level"' "$work/home/audit.log"
check "the change is in the audit log" $?
for bad in '{"level":"loud"}' '{}' '{"level":"info","more":1}' '{"level":7}'; do
    post /admin/log-level "$bad" | grep -q '"bad_field"\|"unknown_field"' || echo "$bad"
done >"$work/out"
[ ! -s "$work/out" ] && [ "$(curl -s "$url/admin/log-level")" = '{"level":"debug"}' ]; check "what is no level changes nothing" $?
run 2 "$forage" log level loud --url "$url"; check "nor on the command line" $?
kill -HUP "$pid"
back() { [ "$(curl -s "$url/admin/log-level")" = '{"level":"info"}' ]; }
wait_for back; check "SIGHUP takes it back" $?
stop TERM; check "SIGTERM ends it" $?
echo 'log-level = debug' >"$work/home/forage.conf"
serve "$work/home" --log-level info
kill -HUP "$pid"
wait_for tells 'reloaded log_level="as the option says"'; run 0 "$forage" log level debug --url "$url"; kill -HUP "$pid"; wait_for back; curl -s "$url/health" >/dev/null; curl -s "$url/collections" >/dev/null
wait_for tells 'path=/collections'; ! tells 'path=/health'; check "a flag wins over the file then, too" $?
stop TERM
rm "$work/home/forage.conf"
serve "$work/home" --read-only
run 0 "$forage" log level warn --url "$url"; check "a service that only reads takes a level too" $?
stop TERM
admin=$("$forage" keys create --home "$work/home" --name a --scope admin 2>/dev/null) reader=$("$forage" keys create --home "$work/home" --name r --scope read 2>/dev/null)
serve "$work/home"
run 1 "$forage" log level debug --url "$url" --api-key "$reader" && grep -qi 'admin' "$work/err" &&
    run 0 "$forage" log level debug --url "$url" --api-key "$admin"; check "it takes a key with the scope admin" $?
stop TERM
rm "$work/home/keys"

if command -v python3 >/dev/null; then
    run 0 python3 "$tests/handover.py" "$PWD/$forage" "$work/home" "$work"
    [ "$(cat "$work/out")" = 'answered True refused 0 ends 0 0' ]; check "nobody is refused while the service is started again" $?
    run 2 python3 -c "import os, sys
os.dup2(os.open('/dev/null', os.O_RDONLY), 3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')
os.execv(sys.argv[1], sys.argv[1:])" "$forage" serve --home "$work/home"
    grep -q 'none of TCP that listens' "$work/err"; check "what is no socket that listens is refused" $?
    run 2 python3 -c "import os, socket, sys
s = socket.create_server(('0.0.0.0', 0)); os.dup2(s.fileno(), 3); os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS='1')
os.execv(sys.argv[1], sys.argv[1:])" "$forage" serve --home "$work/home"
    grep -q 'has no keys' "$work/err"; check "one that others reach wants keys, whatever --listen says" $?
else
    skip "nobody is refused while the service is started again" "no python3"
fi
# A home of the first version, as the release before all others left it.
if command -v sqlite3 >/dev/null; then
    mkdir "$work/first"
    id=$(sqlite3 "$work/home/forage.db" "PRAGMA application_id")
    { cat data/sqlite/schema.sql; echo "PRAGMA application_id = $id; PRAGMA user_version = 1;"; } | sqlite3 "$work/first/forage.db"
    serve "$work/first"
    tells 'info  *schema_migrated what=".*/first/forage.db was brought from schema version 1 to [0-9]*:'
    check "an older home is brought up to date with a line of the log" $?
    curl -s "$url/metrics" | grep -q 'forage_damage_total{kind="schema_migrated"} 1'; check "and /metrics counts it" $?
    stop TERM
    serve "$work/first"
    ! tells schema_migrated; check "once" $?
    stop TERM
else
    skip "an older home is brought up to date with a line of the log" "sqlite3 is not installed"
fi
LISTEN_PID=1 LISTEN_FDS=1 serve "$work/home" && [ -n "$url" ]; check "a socket that is for another process is left alone" $?
stop TERM
finish
