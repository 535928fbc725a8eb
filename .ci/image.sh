#!/bin/sh
# .ci/image.sh [sources|made] - the container image, built by buildah and run by podman, both without a daemon and without
# a registry: the base is Debian's minimal root as mmdebstrap makes it. sources: all is compiled in the image's first stage;
# made: from build/forage_*.deb. Then it is run as compose.yaml says (no root, no capabilities, a root that is
# read-only, a volume), asked and stopped. Says a line for each step (TAP). As root; needs buildah, podman, crun and mmdebstrap of
# Debian; images lie in build-image.
set -eu
cd "$(dirname "$0")/.."
# In mounts of its own: crun takes control groups of version 2 alone, where the machine has the older ones; and it gives what a
# container's standard streams are to the container's user, which shall not be the machine's /dev/null.
if [ -z "${FORAGE_IMAGE_INSIDE-}" ]; then
    FORAGE_IMAGE_INSIDE=1 exec unshare --mount sh -c 'set -e; [ -f /sys/fs/cgroup/cgroup.controllers ] ||
        { umount -R /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup; }
        mkdir -p build-image/dev; rm -f build-image/dev/null; mknod -m 666 build-image/dev/null c 1 3
        mount --bind build-image/dev/null /dev/null; exec "$@"' sh ".ci/${0##*/}" "$@" <&-
fi
exec </dev/null # the one of these mounts
from=${1:-made}
here=$PWD/build-image suite=bookworm
mkdir -p "$here"
store="--root $here/images --runroot $here/run --storage-driver vfs"
mirror=$(apt-get indextargets --format '$(CREATED_BY) $(REPO_URI) $(RELEASE)' | awk '$1 == "Packages" && $2 !~ /security/ { print $2; exit }')
n=0 failed=0
check() { # check NAME STATUS
    n=$((n + 1))
    if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        failed=1
        tail -n 15 "$here/said" | sed 's/^/# /'
    fi
}
holds() { if "$@" >"$here/said" 2>&1; then echo 0; else echo 1; fi; }
# shellcheck disable=SC2086 # a list of words
b() { buildah $store "$@"; }
# shellcheck disable=SC2086
p() { podman $store --cgroup-manager cgroupfs --runtime crun "$@"; }

if ! b inspect --type image forage-base >/dev/null 2>&1; then
    [ -f "$here/base.tar" ] || mmdebstrap --quiet --variant=minbase "$suite" "$here/base.tar" "$mirror"
    c=$(b from scratch)
    b add --quiet "$c" "$here/base.tar" / >/dev/null
    b config --cmd /bin/bash "$c"
    b commit --quiet --rm "$c" forage-base >/dev/null
fi
start=$(date +%s)
check "the image is built from $from" "$(holds b bud --isolation chroot --network host --format docker --build-arg BASE=localhost/forage-base \
    --build-arg "PACKAGE=$from" --file server/package/Dockerfile --tag forage .)"
echo "# $(($(date +%s) - start)) s"
b images --format '# {{.Name}} {{.Size}}' | grep -E 'forage(-base)? ' || :
user() { [ "$(b inspect --type image --format '{{.Docker.Config.User}}' forage)" = 65532:65532 ] && b inspect --type image --format '{{.Docker.Config.Healthcheck}}' forage | grep -q 'bench http'; }
check 'it runs as nobody in particular, with a health check' "$(holds user)"
p volume rm -f forage-life >/dev/null 2>&1 || :
run() { p run --network host --no-healthcheck --ulimit nofile=16384:16384 --ulimit nproc=4096:4096 --cgroups=disabled --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges --volume forage-life:/var/lib/forage "$@"; }
key=$(run --rm forage keys create --name me --scope admin 2>"$here/said") || :
check 'a key is made in its volume' "$(holds test -n "$key")"
port=$((20000 + $$ % 20000))
check 'it starts, with nothing of its root to be written' "$(holds run -d --name forage-life --env FORAGE_LISTEN=127.0.0.1:$port --env FORAGE_ALLOW_HOST=localhost forage)"
url=http://127.0.0.1:$port
up() { for _ in $(seq 200); do curl -sf "$url/ready" && return 0; sleep 0.1; done; return 1; }
check 'it is ready' "$(holds up)"
ask() {
    curl -sf -H "Authorization: Bearer $key" -H 'Content-Type: application/json' "$url/ingest" -d '{"documents":[{"id":"pump","text":"The north pump is serviced every 400 hours."}]}' &&
        curl -sf -H "Authorization: Bearer $key" -H 'Content-Type: application/json' "$url/query" -d '{"query":"How often is the north pump serviced?"}' | grep '400 hours'
}
check 'it takes a document and answers from it' "$(holds ask)"
check 'PDF files are read' "$(holds p exec forage-life pdftotext -v)"
held() { p logs forage-life 2>&1 | grep -q '"event":"sandbox".*"files":"on","calls":"on"'; }
check 'it gives up files and calls within' "$(holds held)"
healthy() { p exec forage-life forage bench http --url "$url/health" --requests 1 --concurrency 1; }
check 'what the health check asks is answered' "$(holds healthy)"
stopped() { p stop -t 30 forage-life && [ "$(p inspect --format '{{.State.ExitCode}}' forage-life)" = 0 ]; }
check 'SIGTERM ends it in order' "$(holds stopped)"
p rm -f forage-life >/dev/null 2>&1 || :
p volume rm -f forage-life >/dev/null 2>&1 || :
echo "1..$n"
exit $failed
