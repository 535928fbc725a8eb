#!/bin/sh
# The TypeScript client: its types are those of the service's description, it works against a service, the compiler
# takes what is right and refuses what is wrong. Speaks TAP; says what it skips where npm is out of reach.
# CLIENTS_CACHE=DIR keeps what was installed for the next run.
. "$(dirname "$0")/tap.sh"
cache=${CLIENTS_CACHE:-$work} tests=$(dirname "$0")/clients client=server/clients/typescript
node=$(command -v node) || skip_all typescript_client "no node"
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1
run 0 "$node" "$client/generate.mjs" server/routes/openapi.json "$work/api.d.ts" && run 0 diff "$client/api.d.ts" "$work/api.d.ts"
check "its types are those of openapi.json (else: $client/generate.mjs)" $?
serve "$work/home" --log-level warn
export URL="$url"
if [ "$("$node" -p 'typeof File')" = function ]; then
    run 0 "$node" "$tests/client.mjs"; check "it works against a service" $?
    awk '/^```/ {on = $0 == "```js"; next} on' docs/sdk.md | sed "s|http://127.0.0.1:8080|$url|; s|'forage-client'|'$PWD/$client/forage.js'|" >"$work/example.mjs"
    run 0 "$node" "$work/example.mjs" && grep -q '400 hours' "$work/out"; check "the example of the manual does what it says" $?
else
    skip "it works against a service" "node is older than 20"
    skip "the example of the manual does what it says" "node is older than 20"
fi
tsc=$cache/node_modules/typescript/lib/tsc.js
if [ ! -f "$tsc" ]; then
    (cd "$cache" && timeout 300 npm install --silent --no-audit --no-fund --fetch-retries 1 'typescript@5') >/dev/null 2>&1 || tsc=
fi
if [ -n "$tsc" ]; then
    run 0 "$node" "$tsc" --strict --noEmit --target es2022 --module nodenext --moduleResolution nodenext --lib es2022,dom,esnext \
        --typeRoots "$work/none" "$tests/types.ts"
    check "the compiler takes what is right and refuses what is wrong" $?
else
    skip "the compiler takes what is right and refuses what is wrong" "npm reaches no registry"
fi
stop TERM; check "the service stops cleanly" $?
finish
