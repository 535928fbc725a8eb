#!/bin/sh
# The packages of Debian: what is in them, that their bytes follow from the sources, that the program runs from where
# it was unpacked, that libforage is found there, and what lintian says. Speaks TAP.
. "$(dirname "$0")/tap.sh"
for tool in dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null || skip_all package "no $tool (dpkg-dev)"
done
export SOURCE_DATE_EPOCH=1700000000 DEB_LEVEL=0
run 0 server/package/deb.sh "$forage" "$work/a"; check "they are made" $?
cp "$work/out" "$work/debs"
deb=$(head -n 1 "$work/debs")
run 0 server/package/deb.sh "$forage" "$work/b" && [ "$(wc -l <"$work/out")" -eq 3 ] &&
    (cd "$work/a" && sha256sum ./*.deb) >"$work/sums" && (cd "$work/b" && run 0 sha256sum -c "$work/sums")
check "twice the same bytes" $?
rm -r "$work/b"
# A file whose blocks lie scattered takes more of a disk: what is said of the size may not know.
run 0 dpkg-deb --extract "$deb" "$work/size" && run 0 dpkg-deb --field "$deb" Installed-Size &&
    [ "$(find "$work/size" -mindepth 1 -printf '%y %s\n' |
        awk '{ n += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print n }')" -eq "$(cat "$work/out")" ]
check "its size is that of its files' lengths" $?
rm -r "$work/size"
run 0 dpkg-deb --info "$deb" && grep -q 'libsqlite3-0' "$work/out" &&
    dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./conffiles | grep -qx /etc/default/forage
check "it says what it needs and which file is its user's" $?
run 0 dpkg-deb --extract "$deb" "$work/root" && run 0 "$work/root/usr/bin/forage" version; check "its program runs" $?
[ -f "$work/root/usr/share/man/man1/forage.1.gz" ] && [ -f "$work/root/usr/share/doc/forage/copyright" ] &&
    grep -q '^ExecStart=/usr/bin/forage serve' "$work/root/usr/lib/systemd/system/forage.service"
check "manual page, licences and the unit are there" $?
awk -v RS= '/^Files: data\/models\// && /\nLicense: CC-BY-SA-4.0/ {of = 1} /^License: CC-BY-SA-4.0\n.*https:/ {text = 1} END {exit !(of && text)}' \
    "$work/root/usr/share/doc/forage/copyright"
check "the licence of the models is said" $?
for script in postinst prerm postrm; do dpkg-deb --ctrl-tarfile "$deb" | tar -xO "./$script" >"$work/$script" && sh -n "$work/$script" || break; done
[ -s "$work/postrm" ] && grep -q 'update-state forage.socket' "$work/postinst" && grep -q 'stop forage.socket forage.service' "$work/prerm" &&
    grep -q 'purge forage.socket forage.service' "$work/postrm"
check "the socket goes with the service" $?
bash -n "$work/root/usr/share/bash-completion/completions/forage" 2>"$work/err"; check "bash takes the completion" $?
bash -c '. "$1"; COMP_WORDS=(forage query --mode h); COMP_CWORD=3; _forage; [ "${COMPREPLY[*]}" = hybrid ] &&
    COMP_WORDS=(forage index bu) COMP_CWORD=2 && _forage && [ "${COMPREPLY[*]}" = build ] &&
    COMP_WORDS=(forage index build --inp) COMP_CWORD=3 && _forage && [ "${COMPREPLY[*]}" = --input ]' \
    bash "$work/root/usr/share/bash-completion/completions/forage" 2>"$work/err"
check "commands of two words, options and their words are completed" $?
for shell in zsh fish; do
    case $shell in
    zsh) file=$work/root/usr/share/zsh/vendor-completions/_forage flag=-n ;;
    fish) file=$work/root/usr/share/fish/vendor_completions.d/forage.fish flag=--no-execute ;;
    esac
    if command -v $shell >/dev/null; then
        run 0 $shell $flag "$file"; check "$shell takes the completion" $?
    else
        skip "$shell takes the completion" "no $shell"
    fi
done
zsh=$work/root/usr/share/zsh/vendor-completions/_forage
run 0 make --no-print-directory -s install-files BUILD="$(dirname "$forage")" DESTDIR="$work/local" &&
    run 0 cmp "$zsh" "$work/local/usr/local/share/zsh/site-functions/_forage"
check "make install puts it where zsh looks below /usr/local" $?
rm -rf "$work/local"
name="zsh completes second words, also of a command that has none itself"
if command -v zsh >/dev/null; then
    cat >"$work/complete.zsh" <<'ZSH'
_describe() { print -l -- ${(M)commands:#$words[3]*}; [[ -n ${(M)commands:#$words[3]*} ]] }
_arguments() { print -l -- "$@" }
file=$1; shift
words=("$@") CURRENT=$#words
. $file
ZSH
    run 0 zsh -f "$work/complete.zsh" "$zsh" forage collections del && grep -q '^delete:' "$work/out" && [ "$(wc -l <"$work/out")" -eq 1 ] &&
        run 0 zsh -f "$work/complete.zsh" "$zsh" forage bench hn && grep -q '^hnsw:' "$work/out" &&
        run 0 zsh -f "$work/complete.zsh" "$zsh" forage collections --ho && grep -q -- '--home' "$work/out"
    check "$name" $?
else
    sed -n '/CURRENT == 3/,/_describe/p' "$zsh" | grep -q "#collections}:+'delete:"
    check "$name" $?
fi
for one in $(sed 1d "$work/debs"); do dpkg-deb --extract "$one" "$work/root"; done
header=$work/root/usr/include/forage.h lib=$(dirname "$work"/root/usr/lib/*/libforage.a)
[ -x "$lib/forage/forage-extract" ] && run 0 dpkg-deb --field "$(sed -n 3p "$work/debs")" Depends && grep -q '^libforage0 (= ' "$work/out"
check "libforage0 and libforage-dev are whole" $?
if command -v "${CC:-gcc}" >/dev/null; then
    printf '#include <forage.h>\nint main(void) { return forage_version()[0] == 0; }\n' >"$work/v.c"
    # shellcheck disable=SC2086 # a list of words
    run 0 ${CC:-gcc} "$work/v.c" -o "$work/v" -I"${header%/*}" -L"$lib" -lforage -Wl,-rpath,"$lib" && run 0 "$work/v"
    check "a program is built with them" $?
fi
if command -v lintian >/dev/null; then
    # shellcheck disable=SC2046 # a list of files
    run 0 lintian --allow-root --fail-on error,warning $(cat "$work/debs"); check "lintian finds nothing" $?
else
    skip "lintian finds nothing" "no lintian"
fi
finish
