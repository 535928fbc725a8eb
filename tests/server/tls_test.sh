#!/bin/sh
# TLS, its certificate exchanged while the server runs; pages of allowed origins; rate limits by forage.conf.
. "$(dirname "$0")/tap.sh"
command -v curl >/dev/null && command -v openssl >/dev/null || skip_all tls "no curl or openssl"

code() { curl -s -o "$work/out" -D "$work/headers" -w '%{http_code}' "$@"; }
certificate() { # certificate NAME: $work/NAME.crt and .key
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj "/CN=$1" \
        -addext "subjectAltName=DNS:localhost,IP:127.0.0.1" -keyout "$work/$1.key" -out "$work/$1.crt" 2>/dev/null
}
certificate one && certificate two; check "two certificates were made" $?
cp "$work/one.crt" "$work/now.crt"
cp "$work/one.key" "$work/now.key"

run 2 "$forage" serve --home "$work/h" --tls-cert "$work/now.crt"; check "a certificate without its key is refused" $?
run 1 "$forage" serve --home "$work/h" --listen 127.0.0.1:0 --tls-cert "$work/one.crt" --tls-key "$work/two.key" &&
    grep -q two.key "$work/err"; check "another's key is refused" $?
run 1 "$forage" serve --home "$work/h" --listen 127.0.0.1:0 --tls-cert "$work/none.crt" --tls-key "$work/two.key" &&
    grep -q none.crt "$work/err"; check "a certificate that is not there is named" $?
serve "$work/h" --tls-cert "$work/now.crt" --tls-key "$work/now.key"
port=${url##*:} url=https://localhost:${url##*:}
grep -q 'url=https://' "$log"; check "the log names https" $?
[ "$(code --cacert "$work/one.crt" "$url/collections")" = 200 ]; check "TLS is spoken" $?
[ "$(code --cacert "$work/two.crt" "$url/collections")" = 000 ]; check "with that certificate" $?
[ "$(code "http://localhost:$port/collections")" = 000 ]; check "and nothing else" $?
[ "$(code --cacert "$work/one.crt" --tls-max 1.2 "$url/health")" = 200 ] &&
    [ "$(code --cacert "$work/one.crt" --tlsv1.3 "$url/health")" = 200 ]; check "1.2 and 1.3" $?
echo | openssl s_client -connect "localhost:$port" -tls1_1 -cipher 'DEFAULT:@SECLEVEL=0' >"$work/out" 2>&1
! grep -q 'Cipher is [A-Z]' "$work/out" || grep -q 'Cipher is (NONE)' "$work/out"; check "but not 1.1" $?
awk 'BEGIN { for (i = 0; i < 40000; i++) print "{\"id\":\"" i "\",\"text\":\"Heron " i " eats fish.\"}" }' | head -n 300 >"$work/many.ndjson"
[ "$(code --cacert "$work/one.crt" -H 'Content-Type: application/x-ndjson' --data-binary @"$work/many.ndjson" "$url/ingest")" = 200 ] &&
    [ "$(grep -o '"created"' "$work/out" | wc -l)" = 300 ]; check "documents go in" $?
curl -sN --cacert "$work/one.crt" "$url/query" -H 'Content-Type: application/json' -d '{"query":"What does heron 7 eat?","stream":true}' |
    grep -q '^event: done'; check "and answers stream out" $?

cp "$work/two.key" "$work/now.key"
kill -HUP "$pid"
kept() { grep -q tls_kept "$log"; }
wait_for kept; [ "$(code --cacert "$work/one.crt" "$url/health")" = 200 ]
check "a key that does not fit leaves the certificate of before" $?
cp "$work/two.crt" "$work/now.crt"
kill -HUP "$pid"
is_two() { [ "$(code --cacert "$work/two.crt" "$url/health")" = 200 ]; }
wait_for is_two && [ "$(code --cacert "$work/one.crt" "$url/health")" = 000 ]
check "after SIGHUP it is another, and the server the same" $?
kill -0 "$pid"; check "it runs on" $?
stop TERM; check "SIGTERM ends it" $?

# Pages of other origins.
run 2 "$forage" serve --home "$work/h" --allow-origin app.example.org; check "an origin has http or https" $?
serve "$work/h" --allow-origin https://app.example.org,http://localhost:3000
[ "$(code -X OPTIONS "$url/query" -H 'Origin: https://app.example.org' -H 'Access-Control-Request-Method: POST')" = 204 ] &&
    grep -qi '^Access-Control-Allow-Origin: https://app.example.org' "$work/headers" &&
    grep -qi '^Access-Control-Allow-Headers: .*Authorization' "$work/headers"; check "an allowed page may ask first" $?
[ "$(code "$url/collections" -H 'Origin: https://app.example.org')" = 200 ] &&
    grep -qi '^Vary: Origin' "$work/headers" && ! grep -qi 'Allow-Credentials' "$work/headers"; check "and then read" $?
for origin in https://app.example.org.evil.example http://app.example.org https://app.example.org:8443 https://evil.example null; do
    [ "$(code "$url/collections" -H "Origin: $origin")" = 403 ] && ! grep -qi 'Access-Control' "$work/headers"
    check "a page of $origin may not" $?
done
stop TERM

# Tiers.
cat >"$work/h/forage.conf" <<'END'
tier = slow: requests=0.01, burst=3
tier = pro: requests=1000
default-tier = slow
END
admin=$("$forage" keys create --home "$work/h" --name a --scope admin --tier pro 2>/dev/null)
plain=$("$forage" keys create --home "$work/h" --name b --scope read 2>/dev/null)
serve "$work/h"
answers() { # answers KEY N STATUS: how many of N requests have it
    i=0 n=0
    while [ $i -lt "$2" ]; do
        [ "$(code -H "Authorization: Bearer $1" "$url/collections")" = "$3" ] && n=$((n + 1))
        i=$((i + 1))
    done
    echo $n
}
[ "$(answers "$plain" 5 200)" = 3 ]; check "a key of the default tier has what that allows" $?
[ "$(code -H "Authorization: Bearer $plain" "$url/collections")" = 429 ] && grep -q '"param":"requests"' "$work/out" &&
    grep -q 'tier slow' "$work/out" && grep -qiE '^Retry-After: [0-9]+' "$work/headers"
check "a refusal names the limit and says when to come again" $?
[ "$(answers "$admin" 20 200)" = 20 ]; check "another tier allows more" $?
[ "$(code -H "Authorization: Bearer $plain" "$url/health")" = 200 ]; check "probes are not limited" $?
code -H "Authorization: Bearer $admin" "$url/metrics" >/dev/null
grep -q '^forage_rate_limited_total{of="key",limit="requests"} 3$' "$work/out" && grep -q '^forage_keys 2$' "$work/out"
check "metrics count it" $?
stop TERM
rm "$work/h/keys"
serve "$work/h" --address-tier slow
[ "$(for i in 1 2 3 4 5; do code "$url/collections"; echo; done | grep -c 429)" = 2 ] && grep -q 'this address' "$work/out"
check "an address has a tier where there are no keys" $?
stop TERM
run 2 "$forage" serve --home "$work/h" --address-tier none && grep -q "no tier 'none'" "$work/err"
check "a tier that there is not is refused by name" $?
finish
