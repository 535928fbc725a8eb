#!/bin/sh
# The program of `make static` in a root that holds nothing else: no library, no /etc, no /proc. Speaks TAP.
. "$(dirname "$0")/tap.sh"
static=${BUILD:-build}/static/forage
[ -x "$static" ] || skip_all static "$static is not built (make static)"
readelf -hldW "$static" >"$work/elf" 2>&1
grep -q 'Type:.*DYN (Position-Independent Executable' "$work/elf" && ! grep -qE 'NEEDED|INTERP' "$work/elf"
check "it needs no library and no loader, and lies at random addresses" $?
grep 'GNU_STACK' "$work/elf" | grep -q ' RW ' && grep -q 'GNU_RELRO' "$work/elf"
check "its stack holds no code, and what was resolved is read-only" $?

root=$work/root
mkdir -p "$root/tmp"
cp "$static" "$root/forage"
cp data/sample/kitchen.md "$root/"
enter=chroot
[ "$(id -u)" -eq 0 ] || enter='unshare -Ur chroot'
alone() { # alone ARGUMENT...: the program, alone
    $enter "$root" /forage "$@"
}
alone version >/dev/null 2>&1 || skip_all static "no root of its own can be had here (chroot, unshare)"
run 0 alone ingest /kitchen.md --home /home && run 0 alone query 'What must be done when the red light above the sink is on?' --home /home
grep -q 'boil it for three' "$work/out"; check "it takes a document in and answers from it" $?

# The C library would load these charsets from /usr/lib.
if command -v iconv >/dev/null; then
    while IFS='|' read -r charset word; do
        echo "<html><head><meta charset=\"$charset\"><title>1</title></head><body><p>$word</p></body></html>" |
            iconv -f UTF-8 -t "$charset" >"$root/$charset.html" || continue
        run 0 alone ingest "/$charset.html" --home "/home.$charset" && run 0 alone query "$word" --home "/home.$charset"
        grep -qF "${word%%.*}" "$work/out"; check "$charset is read" $?
    done <<'END'
KOI8-R|Паром отходит в восемь часов утра каждый день.
SHIFT_JIS|連絡船は毎朝八時に出発します。
ISO-8859-2|Łódź odpływa rano o godzinie ósmej z przystani.
GB18030|渡船每天早上八点出发。
END
fi

# A service, with TLS where certificates can be made; names are resolved without the system's modules.
mkdir -p "$root/etc"
echo 'hosts: nonsense' >"$root/etc/nsswitch.conf"
echo '127.0.0.1 localhost here.example' >"$root/etc/hosts"
secure=
if command -v openssl >/dev/null; then
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
        -keyout "$root/key" -out "$root/cert" 2>/dev/null && secure='--tls-cert /cert --tls-key /key'
fi
# shellcheck disable=SC2086 # options
$enter "$root" /forage serve --home /home --listen 127.0.0.1:0 --port-file /tmp/port $secure 2>"$work/log" &
services=$! log=$work/log pid=$services
wait_for test -s "$root/tmp/port"
port=$(cat "$root/tmp/port")
if [ -n "$secure" ]; then
    run 0 curl -s --cacert "$root/cert" "https://localhost:$port/health"; check "it serves, over TLS" $?
else
    run 0 curl -s "http://localhost:$port/health"; check "it serves" $?
fi
if [ -z "$secure" ]; then
    run 0 alone query 'What must be done when the red light is on?' --url "http://here.example:$port"
    grep -q 421 "$work/out" "$work/err" || grep -q 'boil' "$work/out"; check "it resolves names alone" $?
else
    alone query 'What must be done?' --url "https://here.example:$port" >"$work/out" 2>&1
    grep -qi 'certificate' "$work/out"; check "it resolves names alone, and checks certificates" $?
fi
stop TERM; check "and ends in order" $?
finish
