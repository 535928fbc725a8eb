#!/bin/sh
# The service's description under two linters of such descriptions: redocly with its recommended rules, spectral with
# those for OpenAPI. Speaks TAP; says what it skips where npm is out of reach. CLIENTS_CACHE=DIR keeps what was installed.
. "$(dirname "$0")/tap.sh"
cache=${CLIENTS_CACHE:-$work} lint=$(dirname "$0")/clients/lint.mjs api=server/routes/openapi.json
command -v node >/dev/null || skip_all openapi_lint "no node"
export REDOCLY_TELEMETRY=off
if [ ! -d "$cache/node_modules/@stoplight/spectral-rulesets" ] || [ ! -d "$cache/node_modules/@redocly/openapi-core" ]; then
    (cd "$cache" && timeout 300 npm install --silent --no-audit --no-fund --ignore-scripts --fetch-retries 1 @redocly/openapi-core@1.34 \
        @stoplight/spectral-core@1 @stoplight/spectral-parsers@1 @stoplight/spectral-rulesets@1) >/dev/null 2>&1 ||
        skip_all openapi_lint "npm reaches no registry"
fi
run 0 node "$lint" "$cache" "$api"; check "redocly and spectral find nothing" $?
sed 's/"operationId": "postQuery"/"operationId": "postSearch"/; s/"servers"/"x-servers"/' "$api" >"$work/wrong.json"
run 1 node "$lint" "$cache" "$work/wrong.json" && grep -q '^redocly error no-empty-servers' "$work/out" &&
    grep -q '^spectral .*operation-operationId-unique' "$work/out"
check "and would find what is wrong" $?
finish
