#!/bin/sh
# libforage as it is installed: its names, and the example of docs/sdk.md built against it, shared and static, in C
# and C++. Speaks TAP.
. "$(dirname "$0")/tap.sh"
build=${BUILD:-build}
cc=${CC:-gcc}
command -v pkg-config >/dev/null || skip_all sdk "no pkg-config"
[ -e "$build/libforage.so" ] || skip_all sdk "$build/libforage.so is not built (make)"

# A sanitizer's library wants its runtime first: examples are linked with what it was built with.
flags=
case $build in
*/san-*) flags="-fsanitize=$(basename "$build" | sed 's/^san-//; s/-/,/g')" ;;
*coverage*) flags=--coverage ;;
esac
root=$work/root
run 0 make --no-print-directory -s install-sdk "BUILD=$build" "DESTDIR=$root" PREFIX=/opt/forage LIBDIR=/opt/forage/lib
check "it is installed" $?
export PKG_CONFIG_PATH="$root/opt/forage/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" LD_LIBRARY_PATH="$root/opt/forage/lib"
lib=$root/opt/forage/lib
[ "forage $(pkg-config --modversion forage)" = "$("$forage" version)" ]; check "its version is that of the program" $?
nm -D --defined-only "$lib/libforage.so.0" | awk '$2 != "A" {print $3}' >"$work/names"
[ "$(grep -c '^forage_[a-z_]*@@FORAGE_0.1$' "$work/names")" -ge 24 ] && ! grep -qv '^forage_[a-z_]*@@FORAGE_0.1$' "$work/names"
check "the shared library gives out versioned names, and no others" $?
nm -g --defined-only "$lib/libforage.a" | awk 'NF == 3 {print $3}' >"$work/names"
[ "$(wc -l <"$work/names")" -ge 24 ] && ! grep -qv '^forage_[a-z_]*$' "$work/names"
check "nor does the static one give out others" $?
grep -o 'forage_[a-z_]*(' server/sdk/forage.h | sort -u | tr -d '(' >"$work/declared"
sort -u "$work/names" | diff - "$work/declared" >"$work/out"
check "they are what the header declares" $?
run 0 ldd "$lib/libforage.so.0" && ! grep -qE 'microhttpd|libcurl|gnutls' "$work/out"
check "it needs no HTTP" $?

awk '/^```/ {on = $0 == "```c"; next} on' docs/sdk.md >"$work/example.c"
[ -s "$work/example.c" ]; check "the manual has an example" $?
wait_said() {
    run 0 "$1" "$work/home.$2" && grep -q '^kb-1: created$' "$work/out" && grep -q ': failed$' "$work/out" &&
        grep -q '^token: .*400 hours' "$work/out" && grep -q '^\[1\] The north pump is serviced every 400 hours.$' "$work/out"
}
# shellcheck disable=SC2046,SC2086 # lists of flags
run 0 $cc -Wall -Wextra -Werror -std=c99 $flags "$work/example.c" -o "$work/shared" $(pkg-config --cflags --libs forage) &&
    wait_said "$work/shared" shared
check "it does what it says with the shared library" $?
# shellcheck disable=SC2046,SC2086
run 0 $cc $flags "$work/example.c" -o "$work/static" $(pkg-config --static --cflags forage) "$lib/libforage.a" \
    $(pkg-config --static --libs-only-l forage | sed 's/-lforage//') &&
    ! ldd "$work/static" | grep -q libforage && wait_said "$work/static" static
check "and with the static one" $?
run 1 "$work/shared" /proc/none/home && grep -q . "$work/err"; check "its errors are sentences" $?
if command -v "${CXX:-g++}" >/dev/null; then
    echo '#include <forage.h>
int main() { return forage_open(nullptr, "", nullptr, nullptr, nullptr) == FORAGE_EINVAL ? 0 : 1; }' >"$work/example.cc"
    # shellcheck disable=SC2046,SC2086
    run 0 "${CXX:-g++}" -Wall -Wextra -Werror $flags "$work/example.cc" -o "$work/cxx" $(pkg-config --cflags --libs forage) &&
        run 0 "$work/cxx"
    check "the header is C++ too" $?
else
    skip "the header is C++ too" "no C++ compiler"
fi
echo '#include <forage.h>
#include <stdio.h>
int main(int argc, char **argv) {
    forage *f; forage_reply *r; (void)argc;
    forage_document d = {.path = argv[2]};
    if (forage_open(&f, argv[1], NULL, NULL, NULL) || forage_ingest(f, &d, 1, NULL, NULL, &r, NULL)) return 1;
    puts(forage_reply_string(r, "/results/0/status")); forage_reply_free(r); forage_close(f); return 0; }' >"$work/apart.c"
(cd "$work" && echo 'Swans are white.' >swans.txt && tar czf swans.tar.gz swans.txt)
# shellcheck disable=SC2046,SC2086
run 0 $cc $flags "$work/apart.c" -o "$work/apart" $(pkg-config --cflags --libs forage) &&
    run 0 "$work/apart" "$work/home.apart" "$work/swans.tar.gz" && grep -qx created "$work/out"
check "formats that are read apart find their reader beside the library" $?
finish
