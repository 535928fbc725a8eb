#!/bin/sh
# .ci/aarch64.sh [ROOM...] - Forage for aarch64: built with Debian's cross compiler in a root of its own, and the tests
# of the rooms (all below the server, where none is named) run by qemu. Nothing of this machine is changed: the root lies in
# build-aarch64/root (a gigabyte, kept for the next time), and the emulator is registered in a namespace that ends
# with the tests. As root; needs mmdebstrap and qemu-user-static of Debian, and Linux 6.7.
set -eu
cd "$(dirname "$0")/.."
triple=aarch64-linux-gnu
here=$PWD/build-aarch64 root=$PWD/build-aarch64/root
: "${SUITE:=bookworm}"
shared=$(cd "${FORAGE_SHARED:-../shared}" 2>/dev/null && pwd -P || :)

if [ "${1-}" = --inside ]; then # in namespaces of its own
    shift
    mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
    # ELF, 64 bits, little-endian, EM_AARCH64; F: the emulator is opened now, and need not lie in the root.
    printf '%s' ':forage-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:'"$(command -v qemu-aarch64-static)"':F' \
        >/proc/sys/fs/binfmt_misc/register
    mkdir -p "$root/src" "$root/shared"
    mount --bind "$PWD" "$root/src"
    [ -z "$shared" ] || mount --bind "$shared" "$root/shared"
    for folder in proc dev sys; do mount --rbind "/$folder" "$root/$folder"; done
    mount -t tmpfs tmpfs "$root/tmp"
    in_root() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 "$@"; }
    in_root make -C /src -j"$(nproc)" CROSS=$triple- BUILD=build-aarch64/out all tests
    in_root /src/build-aarch64/out/forage version
    [ $# -gt 0 ] || set -- kernels data index engine retrieval
    # Emulation takes ten to fifty times as long. qemu has neither seccomp nor Landlock: what holds readers of documents
    # cannot be tested by it, nor that they come to an end within their time of computing.
    exec chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 TEST_TIMEOUT=3600 FORAGE_SHARED=/shared \
        TEST_WITHOUT='data/extract_host_test data/many_parts_test' sh -c 'cd /src && exec tests/run.sh build-aarch64/out "$@"' sh "$@"
fi

for tool in mmdebstrap qemu-aarch64-static; do
    command -v $tool >/dev/null || { echo "aarch64: no $tool (Debian: mmdebstrap, qemu-user-static)" >&2; exit 1; }
done
[ "$(id -u)" -eq 0 ] || { echo 'aarch64: a root of another system is made as root' >&2; exit 1; }
if [ ! -d "$root" ]; then
    mkdir -p "$here"
    # Libraries are of the other architecture, programs of this one.
    packages=$(.ci/deps.sh names test | sed -n 's/^\(lib.*-dev\|zlib1g-dev\)$/\1:arm64/p; s/^\(make\|pkg-config\|xxd\|poppler-utils\|curl\)$/\1/p' | grep -v '^libc6-dev' | paste -sd ,)
    echo "aarch64: a root of Debian $SUITE in $root" >&2
    mmdebstrap --quiet --variant=buildd "--architectures=$(dpkg --print-architecture),arm64" \
        "--include=crossbuild-essential-arm64,$packages" "$SUITE" "$root.new"
    mv "$root.new" "$root"
fi
exec unshare --user --map-root-user --mount --propagation private "$0" --inside "$@"
