#!/bin/sh
# .ci/package-life.sh SUITE [PACKAGE [NEXT]] - the life of forage's package in a clean Debian SUITE (bookworm, trixie):
# installed by apt, started by systemd, filled, reloaded, upgraded, removed, installed again, purged. PACKAGE is what
# `make deb` made on a system of that release; without it it is built in a root of that release first. NEXT: a later
# version; without it PACKAGE again under a higher number. Says a line for each step (TAP), with figures. Roots lie in
# build-life, for the next time. Nothing of this machine is changed, and the systemd of the root has namespaces of its own. As
# root; needs mmdebstrap of Debian.
set -eu
cd "$(dirname "$0")/.."
here=$PWD/build-life
mkdir -p "$here"

if [ "${1-}" = --boot ]; then # in namespaces of its own: the system of the root
    root=$2
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    mount -t tmpfs tmpfs "$root/run"
    mount -t tmpfs tmpfs "$root/tmp"
    mount --rbind /dev "$root/dev"
    exec env -i container=forage PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" /lib/systemd/systemd --log-level=warning
fi
suite=${1:?SUITE [PACKAGE [NEXT]]} package=${2-} next=${3-}
[ "$(id -u)" -eq 0 ] || { echo 'package-life: as root' >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo 'package-life: no mmdebstrap' >&2; exit 1; }

# Debian's own mirror, as this machine knows it.
mirror=$(apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE)' | awk '$1 == "Packages" && $2 !~ /security/ { print $2; exit }')
if [ ! -f "$here/$suite.root.tar" ]; then
    mmdebstrap --quiet --variant=minbase --include=systemd-sysv,ca-certificates,curl "$suite" "$here/$suite.new" "$mirror" >/dev/null
    tar -cf "$here/$suite.root.tar" -C "$here/$suite.new" .
    rm -rf "$here/$suite.new"
fi
if [ -z "$package" ]; then
    build=$here/$suite.build
    if [ ! -d "$build" ]; then
        mmdebstrap --quiet --variant=buildd "--include=dpkg-dev,$(.ci/deps.sh names run | paste -sd ,)" "$suite" "$build.new" "$mirror" >/dev/null
        mv "$build.new" "$build"
    fi
    mkdir -p "$build/src"
    git archive HEAD | tar -x -C "$build/src"
    start=$(date +%s)
    unshare --mount sh -c 'mount -t proc proc "$1/proc"; mount --rbind /dev "$1/dev"; shift; exec "$@"' sh "$build" \
        chroot "$build" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin "SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)" \
        make -C /src "-j$(nproc)" deb >"$here/$suite.made" 2>&1 || { tail -n 30 "$here/$suite.made"; exit 1; }
    package=$(ls "$build"/src/build/forage_*.deb)
    echo "# built in $(($(date +%s) - start)) s by $(chroot "$build" gcc --version | head -n 1)"
fi
root=$here/$suite
rm -rf "$root"
mkdir "$root"
tar -xf "$here/$suite.root.tar" -C "$root"
before=$(du -sk "$root" | cut -f 1)
cp "$package" "$root/first.deb"
if [ -z "$next" ]; then # the same, one version on
    work=$(mktemp -d)
    dpkg-deb -R "$package" "$work/all"
    sed -i 's/^Version: .*/&+next/' "$work/all/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz -z0 --build "$work/all" "$root/next.deb" >/dev/null
    rm -rf "$work"
else
    cp "$next" "$root/next.deb"
fi

unshare --mount --pid --ipc --uts --net --cgroup --fork --kill-child "$0" --boot "$root" >"$here/$suite.boot" 2>&1 &
outer=$!
end() {
    kill -9 "$outer" 2>/dev/null || :
    wait 2>/dev/null || :
}
trap end EXIT
init=
for _ in $(seq 600); do
    init=$(pgrep -P "$outer" || :)
    [ -z "$init" ] || [ "$(cat "/proc/$init/comm" 2>/dev/null)" != systemd ] || break
    sleep 0.1
done
within() { nsenter -t "$init" -m -p -i -u -n -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
# Packages come through this machine's network; the system itself has its own, with nothing but lo.
with_net() { nsenter -t "$init" -m -p -i -u -r -w env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
failed=0 n=0
check() { # check NAME STATUS
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $suite: $1"; else
        echo "not ok $n - $suite: $1"
        failed=1
        within journalctl --no-pager -n 15 -u forage 2>/dev/null | sed 's/^/# /' || :
    fi
}
holds() { if "$@" >"$here/$suite.said" 2>&1; then echo 0; else echo 1; fi; }
answers() { within curl -sf -m 5 http://127.0.0.1:8080/ready; }
wait_for() { for _ in $(seq 300); do if "$@" >/dev/null 2>&1; then return 0; fi; sleep 0.1; done; return 1; }

is_up() { within systemctl is-system-running | grep -qE 'running|degraded'; } # of units that a namespace cannot have one may fail
wait_for is_up || { echo "package-life: systemd does not come up: $(tail -n 3 "$here/$suite.boot")" >&2; exit 1; }
within ip link set lo up 2>/dev/null || nsenter -t "$init" -n ip link set lo up 2>/dev/null || :
with_net apt-get -qq update >/dev/null 2>&1 || :
start=$(date +%s)
check 'apt installs it and what it needs' "$(holds with_net apt-get -qq install -y --no-install-recommends /first.deb)"
echo "# $(grep -c '^Unpacking' "$here/$suite.said") packages, $(($(date +%s) - start)) s"
check 'systemd starts it at once' "$(holds wait_for answers)"
check 'it is enabled' "$(holds within systemctl is-enabled --quiet forage)"
within sh -c 'curl -s -H "Content-Type: application/json" http://127.0.0.1:8080/ingest -d "{\"documents\":[{\"id\":\"pump\",\"text\":\"The north pump is serviced every 400 hours.\"}]}"' >/dev/null
ask() { within curl -s -H 'Content-Type: application/json' http://127.0.0.1:8080/query -d '{"query":"How often is the north pump serviced?"}' | grep -q '400 hours'; }
check 'it takes a document and answers from it' "$(holds ask)"
as_nobody() { [ "$(within stat -c %a /var/lib/private/forage/forage.db)" = 600 ] && ! within ps -o user= -C forage 2>/dev/null | grep -qw root; }
check 'its files are its own, and it does not run as root' "$(holds as_nobody)"
exposure=$(within systemd-analyze security forage 2>/dev/null | sed -n 's/.*Overall exposure level for forage.service: \([0-9.]*\).*/\1/p')
echo "# systemd-analyze security: ${exposure:-unknown}"
tells() { within journalctl --no-pager -u forage | grep -q 'sandbox.*files=on calls=on'; }
check 'it gives up files and calls under the unit too' "$(holds tells)"
check 'man pages, completions and doctor are there' "$(holds within sh -c 'test -f /usr/share/man/man1/forage.1.gz && test -f /usr/share/bash-completion/completions/forage && forage doctor --home /tmp/none | grep -q .')"
echo 'FORAGE_LOG_LEVEL=debug' | within tee -a /etc/default/forage >/dev/null
check 'SIGHUP by systemctl reload' "$(holds within systemctl reload forage)"

pid() { within systemctl show -p MainPID --value forage; }
old=$(pid)
start=$(date +%s)
check 'an upgrade asks nothing and keeps the changed conffile' "$(holds with_net sh -c 'dpkg -i /next.deb </dev/null && grep -q ^FORAGE_LOG_LEVEL=debug /etc/default/forage')"
restarted() { answers && [ "$(pid)" != "$old" ]; }
check 'and starts the new program' "$(holds wait_for restarted)"
echo "# $(($(date +%s) - start)) s"
check 'which has the documents' "$(holds ask)"
check 'removing keeps documents and conffile' "$(holds with_net sh -c 'apt-get -qq remove -y forage && test -f /var/lib/private/forage/forage.db && test -f /etc/default/forage && ! test -e /usr/bin/forage && ! systemctl is-active --quiet forage')"
check 'installed again, it answers as before' "$(holds with_net apt-get -qq install -y --no-install-recommends /next.deb)"
wait_for answers || :
check 'from the documents that stayed' "$(holds ask)"
check 'purging leaves nothing' "$(holds with_net sh -c 'apt-get -qq purge -y forage && ! test -e /var/lib/private/forage && ! test -e /var/lib/forage && ! test -e /etc/default/forage && ! systemctl is-active --quiet forage')"
left=$(within find / -xdev -path /proc -prune -o -path /sys -prune -o -path /run -prune -o -path /tmp -prune -o -name '*forage*' -print 2>/dev/null || :)
[ -z "$left" ] || echo "# left: $left"
check 'and no file of its name' "$(holds test -z "$left")"
echo "# a root of $((before / 1024)) MB before"
echo "1..$n"
exit $failed
