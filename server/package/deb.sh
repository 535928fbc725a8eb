#!/bin/sh
# server/package/deb.sh FORAGE OUT - packages of Debian in the folder OUT, from the program FORAGE and what `make
# install` installs: forage, libforage0 and libforage-dev. Bytes follow from the sources alone: times are those of
# the newest change (SOURCE_DATE_EPOCH), owners root's. Says the files' names, a line each.
set -eu
forage=$1 out=$2
here=$(dirname "$0")
version=$("$forage" version | sed 's/^forage //')
arch=$(dpkg --print-architecture)
maintainer=${MAINTAINER:-Forage maintainers <maintainers@forage.example.org>}
: "${SOURCE_DATE_EPOCH:=$(git -C "$here" log -1 --format=%ct 2>/dev/null || stat -c %Y "$here/../../Makefile")}"
export SOURCE_DATE_EPOCH
umask 022
work=$(mktemp -d)
stage=$work/forage runtime=$work/libforage0 dev=$work/libforage-dev
trap 'rm -rf "$work"' EXIT

# Of every package: whose it is, and that it changed. describe FOLDER
describe() {
    mkdir -p "$1"
    cat >"$1/copyright" <<'COPYRIGHT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: forage
Comment: The program and the library hold weights of models, the files data/models/*.gguf;
 reader-model.md and models.md beside this file say what they were made of.

Files: *
Copyright: 2026 the authors of Forage
License: Apache-2.0

Files: data/models/*.gguf
Copyright: 2026 the authors of Forage
License: CC-BY-SA-4.0
Comment: Fitted and trained on text under CC-BY-SA-4.0 (SQuAD, CMRC 2018, Wikipedia), with
 all-MiniLM-L6-v2, which is under Apache-2.0, and multilingual-e5-small, which is under MIT.

License: Apache-2.0
 On Debian systems, the whole text of the Apache License, Version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.

License: CC-BY-SA-4.0
 Creative Commons Attribution-ShareAlike 4.0 International: they may be shared and changed,
 for any purpose, by whoever names their authors, says what was changed, and gives what was
 made of them on under the same licence. The whole text is at
 https://creativecommons.org/licenses/by-sa/4.0/legalcode
COPYRIGHT
    printf 'forage (%s) unstable; urgency=medium\n\n  * See README.md.\n\n -- %s  %s\n' \
        "$version" "$maintainer" "$(date -u -R -d "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$1/changelog.gz"
}

# The libraries that files of a package are linked with, in the versions that this system has. needs STAGE FILE...
needs() (
    cd "$1"
    shift
    mkdir debian
    printf 'Source: forage\n\nPackage: forage\nArchitecture: any\nDepends: ${shlibs:Depends}\n' >debian/control
    dpkg-shlibdeps -O "$@" 2>/dev/null | sed 's/^shlibs:Depends=//'
    rm -r debian
)

# The package in a stage whose control says all but its size. That is reckoned from lengths, a kilobyte for whatever is
# no file: what du counts depends on how the file system has just laid the blocks. pack STAGE NAME
pack() {
    size=$(find "$1" -mindepth 1 -path "$1/DEBIAN" -prune -o -printf '%y %s\n' |
        awk '{ n += $1 == "f" ? int(($2 + 1023) / 1024) : 1 } END { print n }')
    sed -i "s/^Installed-Size:.*/Installed-Size: $size/" "$1/DEBIAN/control"
    (cd "$1" && find . -type f ! -path './DEBIAN/*' -printf '%P\0' | LC_ALL=C sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    mkdir -p "$out"
    dpkg-deb --root-owner-group -Zxz "-z${DEB_LEVEL:-6}" --build "$1" "$out/$2_${version}_$arch.deb" >/dev/null
    echo "$out/$2_${version}_$arch.deb"
}

make --no-print-directory -s install-files BUILD="$(dirname "$forage")" DESTDIR="$stage" PREFIX=/usr
doc=$stage/usr/share/doc/forage
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$stage/usr/bin/forage"
gzip -9n "$stage"/usr/share/man/man*/*
mkdir -p "$stage/DEBIAN" "$stage/etc/default"
rm "$doc/LICENSE" # every Debian has it
describe "$doc"

cat >"$stage/etc/default/forage" <<'CONF'
# What the service is started with: each option of 'forage serve' as FORAGE_NAME, dashes as underscores.
# The documents lie in /var/lib/forage, and a file forage.conf there is read too.
#FORAGE_LISTEN=127.0.0.1:8080
#FORAGE_MODEL=/var/lib/forage/model.gguf
CONF
echo /etc/default/forage >"$stage/DEBIAN/conffiles"

# Started at once, as services of Debian are; stopped before it goes, with the socket that somebody may have enabled (else
# systemd would keep its port); its documents stay until the purge.
cat >"$stage/DEBIAN/postinst" <<'POST'
#!/bin/sh
set -e
if [ "$1" = configure ] && command -v deb-systemd-helper >/dev/null; then
    deb-systemd-helper unmask forage.service >/dev/null || true
    if deb-systemd-helper --quiet was-enabled forage.service; then
        deb-systemd-helper enable forage.service >/dev/null || true
    else
        deb-systemd-helper update-state forage.service >/dev/null || true
    fi
    deb-systemd-helper update-state forage.socket >/dev/null || true # which links to purge
fi
if [ "$1" = configure ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
    deb-systemd-invoke "$([ -n "${2:-}" ] && echo restart || echo start)" forage.service >/dev/null || true
fi
POST
cat >"$stage/DEBIAN/prerm" <<'PRE'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop forage.socket forage.service >/dev/null || true
fi
PRE
cat >"$stage/DEBIAN/postrm" <<'POSTRM'
#!/bin/sh
set -e
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    systemctl --system daemon-reload >/dev/null || true
fi
if [ "$1" = purge ]; then
    ! command -v deb-systemd-helper >/dev/null || deb-systemd-helper purge forage.socket forage.service >/dev/null || true
    rm -rf /var/lib/forage /var/lib/private/forage
fi
POSTRM
chmod 755 "$stage/DEBIAN/postinst" "$stage/DEBIAN/prerm" "$stage/DEBIAN/postrm"

cat >"$stage/DEBIAN/control" <<CONTROL
Package: forage
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: 0
Depends: $(needs "$stage" usr/bin/forage)
Pre-Depends: init-system-helpers (>= 1.54~)
Recommends: poppler-utils
Suggests: tesseract-ocr
Section: net
Priority: optional
Description: answers from your own documents, with citations that were checked
 Documents go in, answers come out: each sentence is cited, and each citation is
 checked against the text that it quotes. Where the documents do not hold the
 answer, the service says so.
 .
 One program with a web page and an HTTP API, which clients of OpenAI's API and
 of the Model Context Protocol can use. It needs no network, no graphics card
 and no model file.
CONTROL
pack "$stage" forage

# ---- libforage ------------------------------------------------------------------------------------

lib=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
make --no-print-directory -s install-sdk BUILD="$(dirname "$forage")" DESTDIR="$dev" PREFIX=/usr "LIBDIR=/$lib"
mkdir -p "$runtime/DEBIAN" "$runtime/$lib" "$dev/DEBIAN"
mv "$dev/$lib"/libforage.so.0 "$dev/$lib"/forage "$runtime/$lib"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$runtime/$lib/libforage.so.0" \
    "$runtime/$lib/forage/forage-extract"
chmod 644 "$runtime/$lib/libforage.so.0"
strip --strip-debug --enable-deterministic-archives "$dev/$lib/libforage.a"
describe "$runtime/usr/share/doc/libforage0"
describe "$dev/usr/share/doc/libforage-dev"
for name in models reader-model; do
    cp "$stage/usr/share/doc/forage/$name.md" "$runtime/usr/share/doc/libforage0/"
    cp "$stage/usr/share/doc/forage/$name.md" "$dev/usr/share/doc/libforage-dev/"
done
echo 'activate-noawait ldconfig' >"$runtime/DEBIAN/triggers"
echo "libforage 0 libforage0 (>= $version)" >"$runtime/DEBIAN/shlibs"
cat >"$runtime/DEBIAN/control" <<CONTROL
Package: libforage0
Source: forage
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: 0
Depends: $(needs "$runtime" "$lib/libforage.so.0" "$lib/forage/forage-extract")
Recommends: poppler-utils
Suggests: tesseract-ocr
Section: libs
Priority: optional
Multi-Arch: same
Description: answers from your own documents in a program of your own
 Documents go in, answers come out: each sentence is cited, and each citation is
 checked against the text that it quotes.
 .
 The shared library, which opens a home in the process that calls it.
CONTROL
pack "$runtime" libforage0
cat >"$dev/DEBIAN/control" <<CONTROL
Package: libforage-dev
Source: forage
Version: $version
Architecture: $arch
Maintainer: $maintainer
Installed-Size: 0
Depends: libforage0 (= $version)
Section: libdevel
Priority: optional
Multi-Arch: same
Description: answers from your own documents in a program of your own (to build)
 Documents go in, answers come out: each sentence is cited, and each citation is
 checked against the text that it quotes.
 .
 The header, the static library, and what pkg-config needs.
CONTROL
pack "$dev" libforage-dev
