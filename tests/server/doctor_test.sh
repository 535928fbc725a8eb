#!/bin/sh
# forage doctor: what it finds fine, notes and calls a problem, and that it changes nothing. Speaks TAP.
. "$(dirname "$0")/tap.sh"

doctor() { # doctor STATUS ARGUMENTS...
    tap_status=$1
    shift
    run "$tap_status" "$forage" doctor --listen 127.0.0.1:0 "$@"
}
doctor 0 --home "$work/none" && grep -q '^note  *home  *the folder .*not there yet$' "$work/out" && [ ! -e "$work/none" ]
check "a home that is not there is noted and not made" $?
echo 'The weir is opened in March.' >"$work/weir.txt"
"$forage" ingest "$work/weir.txt" --home "$work/home" >/dev/null 2>&1
doctor 0 --home "$work/home" && grep -q '^ok  *home .*1 document in 1 collection$' "$work/out" && grep -q '^0 problems' "$work/out"
check "a home in order is told with what it holds" $?
doctor 0 --home "$work/home" --json && grep -q '^{"checks":\[{"verdict":"ok".*"problems":0,"notes":[0-9]*}$' "$work/out"
check "the same as JSON" $?
serve "$work/home"
run 0 "$forage" doctor --home "$work/home" --listen "${url#http://}" && grep -q 'a service has it open' "$work/out" &&
    grep -q '^ok  *address .*answers' "$work/out"
check "a service that runs already is known" $?
port=${url##*:}
run 0 "$forage" doctor --home "$work/home" --listen "$port" && grep -q "^ok  *address .*answers on http://127.0.0.1:$port " "$work/out"
check "by its port alone, too" $?
all=0
for listen in "0.0.0.0:$port" ":$port"; do # status 1: the home has no keys
    run 1 "$forage" doctor --home "$work/home" --listen "$listen" && grep -q '^ok  *address .*answers' "$work/out" || all=1
done
check "where every address is meant it is asked on the loopback" $all
stop TERM
run 1 "$forage" doctor --home "$work/home" --listen 192.0.2.1:80 && grep -q '^problem  *address' "$work/out" &&
    grep -q '^problem  *access .*no keys' "$work/out"
check "an address that is not this machine's, and one without keys, are problems" $?
"$forage" keys create --home "$work/home" --name n --scope read >/dev/null 2>&1
run 0 "$forage" doctor --home "$work/home" --listen 0.0.0.0:0 && grep -q '^ok  *keys .*1 in force' "$work/out"
check "with a key it may be reached" $?
"$forage" keys create --home "$work/past" --name n --scope read --expires 1s >/dev/null 2>&1
sleep 1.1
doctor 1 --home "$work/past" && grep -q '^problem  *keys .*none of 1 in force.*nobody gets in' "$work/out"
check "keys whose time is over let nobody in" $?
run 1 "$forage" doctor --home "$work/past" --listen 0.0.0.0:0 && grep -q '^problem  *access .*no keys' "$work/out"
check "and an address that others reach wants one" $?
cp -r "$work/home" "$work/revoked"
"$forage" keys revoke --home "$work/revoked" "$("$forage" keys list --home "$work/revoked" | cut -d' ' -f1)" >/dev/null 2>&1
doctor 1 --home "$work/revoked" && grep -q '^problem  *keys .*none of 1 in force' "$work/out"; check "nor do those that were revoked" $?
doctor 1 --home "$work/home" --model "$work/nothing.gguf" && grep -q '^problem  *model .*not there' "$work/out"
check "a model that is not there is a problem" $?
all=0
for name in builtin builtin-encoder; do
    doctor 0 --home "$work/home" --embed-model $name && grep -q "^ok  *embedder .*$name is inside the binary" "$work/out" || all=1
done
check "the embedders inside the binary are always there" $all
mkdir "$work/table" && for part in config.json tokenizer.json; do echo '{}' >"$work/table/$part"; done
doctor 1 --home "$work/home" --embed-model "$work/table" && grep -q '^problem  *embedder .*has no model.safetensors' "$work/out" &&
    echo vectors >"$work/table/model.safetensors" &&
    doctor 0 --home "$work/home" --embed-model "$work/table" && grep -q '^ok  *embedder ' "$work/out"
check "a folder of model2vec is one, and another names the file that it lacks" $?
doctor 1 --home "$work/home" --embed-model "$work/nothing.gguf" && grep -q '^problem  *embedder .*not there' "$work/out" &&
    doctor 1 --home "$work/home" --model "$work/table" && grep -q '^problem  *model .*is a folder' "$work/out"
check "a file that is not there is a problem, and so is a folder in place of a language model" $?
echo text >"$work/plain"
doctor 1 --home "$work/home" --model "$work/plain" && grep -q '^problem  *model .*is no GGUF file' "$work/out" &&
    doctor 1 --home "$work/plain" && grep -q '^problem  *home .*is a file, and a home is a folder' "$work/out"
check "a file that is no model is one, and so is a file in place of a home" $?
doctor 1 --home "$work/home" --listen 127.0.0.1:99999 && grep -q '^problem  *address .*a port is a number from 0 to 65535' "$work/out"
check "a port that is none is one" $?
if [ "$(df -Pk /proc 2>/dev/null | awk 'NR == 2 { print $4 }')" = 0 ]; then # a file system of its own, without room
    doctor 1 --home /proc/none/deeper && grep -q '^problem  *disk  *0.0 GiB free' "$work/out"
    check "of a home that is not there yet the disk is looked at that it would be on" $?
else
    skip "of a home that is not there yet the disk is looked at that it would be on" "no /proc"
fi
if [ -n "$(command -v python3)" ]; then
    python3 -c 'import socket, sys, time
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
print(s.getsockname()[1], flush=True); time.sleep(60)' >"$work/silent_port" &
    silent=$!
    services="$services $silent"
    while [ ! -s "$work/silent_port" ]; do sleep .1; done
    run 1 timeout 30 "$forage" doctor --home "$work/home" --listen "127.0.0.1:$(cat "$work/silent_port")" &&
        grep -q '^problem  *address .*in use' "$work/out" && grep -q '^1 problem, ' "$work/out"
    check "a program that has the port and never answers is a problem, and said in seconds" $?
    kill "$silent"
else
    skip "a program that has the port and never answers is a problem, and said in seconds" "no python3"
fi
echo damage >"$work/home/keys"
doctor 1 --home "$work/home" && grep -q '^problem  *keys' "$work/out"; check "damaged keys are one" $?
head -c 5000 /dev/zero | tr '\0' x >"$work/home/forage.db"
before=$(sha256sum <"$work/home/forage.db")
doctor 1 --home "$work/home" && grep -q '^problem  *home' "$work/out" && grep -q 'index verify' "$work/out" &&
    [ "$before" = "$(sha256sum <"$work/home/forage.db")" ]
check "a damaged home is one, what to do is said, and nothing was changed" $?
finish
