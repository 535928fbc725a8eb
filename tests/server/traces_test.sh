#!/bin/sh
# Spans for a collector of OpenTelemetry: what is sent of questions and documents, a caller's trace, collectors that are
# busy, out of reach or silent, and that no request waits for them. Speaks TAP.
. "$(dirname "$0")/tap.sh"
command -v python3 >/dev/null || skip_all traces "no python3"
tests=$(dirname "$0")/clients
collect() { # collect NAME [STATUS...]: a collector; sets $collector
    python3 "$tests/collector.py" "$work/$1.port" "$work/$1.jsonl" $(shift; echo "$@") 2>"$work/$1.err" &
    services="$services $!"
    wait_for test -s "$work/$1.port"
    collector=http://127.0.0.1:$(cat "$work/$1.port")
}
metric() { curl -s "$url/metrics" | sed -n "s/^forage_trace_spans_total{outcome=\"$1\"} //p"; }
sent() { [ "$(metric sent)" -ge "$1" ]; }
spans() { run 0 python3 "$tests/spans.py" "$work/$1.jsonl"; }
doc='{"documents":[{"id":"heron","text":"The grey heron stands one metre tall. It eats fish."}]}'
ask='{"query":"What does the grey heron eat?"}'
trace=0af7651916cd43dd8448eb211c80319c

collect one 503
serve "$work/home" --otlp-endpoint "$collector" --otlp-header 'X-Token: secret' || :
post /ingest "$doc" | grep -q '"created"'; check "documents go in" $?
curl -s -D "$work/headers" -o "$work/reply" -H 'X-Request-Id: mine' -H "traceparent: 00-$trace-b7ad6b7169203331-01" \
    -H 'Content-Type: application/json' "$url/query" -d "$ask"
own=$(tr -d '\r' <"$work/headers" | sed -n "s/^traceresponse: 00-$trace-\([0-9a-f]*\)-01$/\1/ip")
[ -n "$own" ] && grep -q '"answered"' "$work/reply"; check "the reply names its span in the caller's trace" $?
curl -s -H "traceparent: 00-$trace-b7ad6b7169203331-00" -H 'X-Request-Id: quiet' "$url/collections" >/dev/null
curl -s "$url/health" >/dev/null
wait_for sent 8; check "spans are sent, though the collector was busy at first" $?
grep -q "\"X-Token\": \"secret\"" "$work/one.jsonl"; check "with the header that was asked for" $?
spans one; check "what is sent is OTLP, stages within their requests" $?
grep -q "^$trace $own b7ad6b7169203331 2 POST_/query mine$" "$work/out"; check "the span is the caller's child" $?
for stage in embed dense sparse answer; do grep -q "^$trace [0-9a-f]* $own 1 $stage -$" "$work/out" || echo "no $stage"; done >"$work/err"
[ ! -s "$work/err" ]; check "its stages are below it" $?
ingest=$(sed -n 's/^[0-9a-f]* \([0-9a-f]*\) - 2 POST_\/ingest .*/\1/p' "$work/out")
[ -n "$ingest" ] && grep -q " $ingest 1 commit -$" "$work/out"; check "those of documents too" $?
! grep -qE 'quiet|/health|metrics' "$work/out"; check "what a caller does not want traced is not, nor are probes" $?
! grep -qiE 'heron|fish' "$work/one.jsonl"; check "no word of a question or a document is in them" $?
grep -q "request.*trace_id=$trace" "$log"; check "the log has the trace" $?
stop TERM; check "it ends in order" $?

# Ill-formed ones are not taken up: version ff, no trace, capital letters, cut short, followed by more.
serve "$work/home" --otlp-endpoint "$collector" --trace-sample 1
for bad in "ff-$trace-b7ad6b7169203331-01" "00-00000000000000000000000000000000-b7ad6b7169203331-01" "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01" \
    "00-$trace-b7ad6b7169203331" "00-$trace-b7ad6b7169203331-01-x" "00-$trace-0000000000000000-01"; do
    curl -s -D "$work/headers" -o /dev/null -H "traceparent: $bad" "$url/collections"
    grep -qi "^traceresponse: 00-[0-9a-f]*-[0-9a-f]*-01" "$work/headers" && ! grep -qi "$trace" "$work/headers" || echo "$bad"
done >"$work/out"
[ ! -s "$work/out" ]; check "an ill-formed traceparent begins a trace of its own" $?
curl -s -D "$work/headers" -o /dev/null -H "traceparent: 42-$trace-b7ad6b7169203331-01-more" "$url/collections"
grep -qi "^traceresponse: 00-$trace-" "$work/headers"; check "one of a version to come is read as far as it is known" $?
stop TERM

# A collector that takes connections and says nothing; one that is not there.
python3 -c "import socket, sys, time
s = socket.create_server(('127.0.0.1', 0)); print(s.getsockname()[1], flush=True); time.sleep(600)" >"$work/silent" &
services="$services $!"
wait_for test -s "$work/silent"
for to in "http://127.0.0.1:$(cat "$work/silent")" http://127.0.0.1:9; do
    serve "$work/home" --otlp-endpoint "$to" --log-level warn
    begin=$(date +%s)
    run 0 "$forage" bench http --url "$url/collections" --requests 4000 --concurrency 4
    took=$(($(date +%s) - begin))
    many_lost() { [ "$(metric dropped)" -gt 0 ] || [ "$(metric failed)" -gt 0 ]; }
    grep -q ' 0 errors of ' "$work/out" "$work/err" && [ $took -lt 60 ]; check "nobody waits for a collector that does not answer" $?
    wait_for many_lost; check "what it does not take is counted" $?
    case $to in *:9) # refused at once, and again after 7 s; the other one for longer
        wait_for grep -q 'warn *traces_lost' "$log"; sleep 3
        [ "$(grep -c traces_lost "$log")" = 1 ]; check "the log says so, once" $? ;;
    esac
    begin=$(date +%s)
    stop TERM && [ $(($(date +%s) - begin)) -lt 20 ]; check "nor does the end" $?
done
run 2 "$forage" serve --home "$work/home" --otlp-endpoint localhost:4318; check "an address is http or https" $?
run 2 "$forage" serve --home "$work/home" --otlp-endpoint http://x --otlp-header 'nonsense'; check "a header has a colon" $?
finish
