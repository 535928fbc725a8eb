#!/bin/sh
# server/package/static_libs.sh OUT - what `make static` links and Debian has no archive of: libcjson.a, libmd4c.a and
# libzip.a, and a libcurl.a of HTTP alone (Debian's wants LDAP, Kerberos, RTMP and SSH), into the folder OUT. They are
# built from the sources of Debian's packages in the versions that are installed, which apt fetches and whose sums it
# checks. OUT/sources names them, a line each.
set -eu
mkdir -p "$1"
out=$(cd "$1" && pwd)
work=$out/work
flags="-O2 -g -fPIC -ffunction-sections -fdata-sections -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$out=."
rm -rf "$work"
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/src"
key=/usr/share/keyrings/debian-archive-keyring.gpg
# Sources come from where the machine has its packages from.
apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE) $(COMPONENT)' |
    sed -n "s|^Packages |deb-src [signed-by=$key] |p" | sort -u >"$work/sources.list"
apt() {
    apt-get -qq -o Dir::Etc::sourcelist="$work/sources.list" -o Dir::Etc::sourceparts=- \
        -o Dir::State::lists="$work/lists" -o Dir::Cache="$work/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

# The source of an installed library in OUT/work/src/NAME. get NAME LIBRARY
get() {
    version=$(dpkg-query -W -f '${source:Version}' "$2")
    echo "$1 $version"
    mkdir "$work/src/$1"
    ( # where the changes of Debian cannot be had, as it came from its authors
        cd "$work/src"
        apt source --download-only "$1=$version" >/dev/null 2>&1 &&
            dpkg-source -x "$1"_*.dsc tree >/dev/null 2>&1 && mv tree "$1.tree"
    ) || (
        cd "$work/src"
        echo "static: $1 without the changes of Debian, which cannot be fetched" >&2
        apt source --tar-only "$1=$version" >/dev/null 2>&1
        mkdir "$1.tree"
        tar -xf "$1"_*.orig.tar.* -C "$1.tree" --strip-components=1
    )
    rmdir "$work/src/$1"
    mv "$work/src/$1.tree" "$work/src/$1"
}

apt update
{
    get cjson libcjson-dev
    get md4c libmd4c-dev
    get libzip libzip-dev
    get curl libcurl4-openssl-dev
} >"$work/sources"

cd "$work/src"
cc=${CC:-gcc}
# shellcheck disable=SC2086 # lists of words
{
    $cc $flags -c cjson/cJSON.c -o cjson.o
    $cc $flags -DMD4C_USE_UTF8 -c md4c/src/md4c.c -o md4c.o
}
ar rcs "$work/libcjson.a" cjson.o
ar rcs "$work/libmd4c.a" md4c.o
cmake -S libzip -B libzip.build -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$flags" -DBUILD_SHARED_LIBS=OFF -DBUILD_TOOLS=OFF \
    -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF -DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF \
    -DENABLE_OPENSSL=OFF >libzip.log 2>&1 || { tail -n 20 libzip.log >&2; exit 1; }
make -C libzip.build -j"$(nproc)" zip >>libzip.log 2>&1 || { tail -n 20 libzip.log >&2; exit 1; }
cp libzip.build/lib/libzip.a "$work/"
(cd curl && ./configure CC="$cc" CFLAGS="$flags" --disable-shared --enable-static --with-openssl --with-zlib --without-brotli --without-zstd \
    --without-nghttp2 --without-libidn2 --without-libpsl --without-librtmp --without-libssh2 --without-gssapi --disable-ldap \
    --disable-ldaps --disable-rtsp --disable-dict --disable-telnet --disable-tftp --disable-pop3 --disable-imap --disable-smb \
    --disable-smtp --disable-gopher --disable-mqtt --disable-ftp --disable-file --disable-manual --disable-ntlm \
    --disable-alt-svc --with-ca-path=/etc/ssl/certs --with-ca-bundle=/etc/ssl/certs/ca-certificates.crt) >curl.log 2>&1 ||
    { tail -n 20 curl.log >&2; exit 1; }
make -C curl/lib -j"$(nproc)" >>curl.log 2>&1 || { tail -n 20 curl.log >&2; exit 1; }
cp curl/lib/.libs/libcurl.a "$work/"
mv "$work"/*.a "$work/sources" "$out/"
rm -rf "$work"
