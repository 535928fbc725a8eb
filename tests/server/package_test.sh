#!/bin/sh
# The package of Debian: what is in it, that its bytes follow from the sources, that its program runs from where
# it was unpacked, and what lintian says. Speaks TAP.
. "$(dirname "$0")/tap.sh"
for tool in dpkg-deb dpkg-shlibdeps; do
    command -v $tool >/dev/null || skip_all package "no $tool (dpkg-dev)"
done
export SOURCE_DATE_EPOCH=1700000000 DEB_LEVEL=0
run 0 server/package/deb.sh "$forage" "$work/a"; check "it is made" $?
deb=$(cat "$work/out")
run 0 server/package/deb.sh "$forage" "$work/b" && cmp -s "$deb" "$(cat "$work/out")"
check "twice the same bytes" $?
run 0 dpkg-deb --info "$deb" && grep -q 'libsqlite3-0' "$work/out" &&
    dpkg-deb --ctrl-tarfile "$deb" | tar -xO ./conffiles | grep -qx /etc/default/forage
check "it says what it needs and which file is its user's" $?
run 0 dpkg-deb --extract "$deb" "$work/root" && run 0 "$work/root/usr/bin/forage" version; check "its program runs" $?
[ -f "$work/root/usr/share/man/man1/forage.1.gz" ] && [ -f "$work/root/usr/share/doc/forage/copyright" ] &&
    grep -q '^ExecStart=/usr/bin/forage serve' "$work/root/usr/lib/systemd/system/forage.service"
check "manual page, licences and the unit are there" $?
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
if command -v lintian >/dev/null; then
    run 0 lintian --allow-root --fail-on error,warning "$deb"; check "lintian finds nothing" $?
else
    skip "lintian finds nothing" "no lintian"
fi
finish
