#!/bin/sh
# The bill of materials: it names every library that is loaded, in the version that is installed, and the models; its
# references meet, its bytes follow from what it tells of, and CycloneDX's own schema takes it. Speaks TAP.
# CLIENTS_CACHE=DIR keeps what was installed for the next run.
. "$(dirname "$0")/tap.sh"
for tool in python3 dpkg-query readelf ldd; do command -v $tool >/dev/null || skip_all sbom "no $tool"; done
case $(readelf -d "$forage" 2>/dev/null) in
*asan* | *tsan* | *ubsan*) skip_all sbom "a build with sanitizers" ;;
esac
cache=${CLIENTS_CACHE:-$work} make=server/package/sbom.py static=${BUILD:-build}/static
export SOURCE_DATE_EPOCH=1700000000
run 0 "$make" "$forage" "$work/a.json"; check "it is made" $?
run 0 "$make" "$forage" "$work/b.json" && run 0 cmp "$work/a.json" "$work/b.json"; check "twice the same bytes" $?
ldd "$forage" | sed -n 's/^[[:space:]]*\([^ ]*\) => .*/\1/p' >"$work/libraries"
while read -r soname; do grep -q "\"value\": \"$soname\"" "$work/a.json" || echo "$soname"; done <"$work/libraries" >"$work/out"
[ "$(wc -l <"$work/libraries")" -gt 15 ] && [ ! -s "$work/out" ]; check "every library that is loaded is named" $?
for m in data/models/*.gguf; do grep -q "\"name\": \"${m##*/}\"" "$work/a.json" || echo "$m"; done >"$work/out"
[ ! -s "$work/out" ]; check "and every model that is built in" $?
for m in data/models/*.gguf; do
    digest=$(sha256sum "$m") && grep -q "${digest%% *}" data/models/README.md data/models/reader/README.md || echo "$m"
done >"$work/out"
[ ! -s "$work/out" ]; check "how each was made is written down beside its digest" $?
version=$(dpkg-query -W -f '${Version}' libsqlite3-0)
run 0 python3 - "$work/a.json" "$version" <<'END'
import hashlib, json, sys
bom = json.load(open(sys.argv[1]))
by_ref = {c["bom-ref"]: c for c in bom["components"]}
assert len(by_ref) == len(bom["components"]), "a reference twice"
root = bom["metadata"]["component"]["bom-ref"]
edges = {d["ref"]: d["dependsOn"] for d in bom["dependencies"]}
assert set(edges) == {root, *by_ref}
reached, todo = set(), [root]
while todo:
    for ref in edges[todo.pop()]:
        assert ref in by_ref, ref
        if ref not in reached:
            reached.add(ref)
            todo.append(ref)
assert reached == set(by_ref), set(by_ref) - reached
names = {c["name"]: c for c in by_ref.values()}
assert names["libsqlite3-0"]["version"] == sys.argv[2]
assert names["libsqlite3-0"]["bom-ref"] in edges[root] and names["libcurl4"]["licenses"]
model = names["forage-reader.gguf"]
assert model["hashes"][0]["content"] == hashlib.sha256(open("data/models/forage-reader.gguf", "rb").read()).hexdigest()
END
check "versions are those installed, all is reached from the program, the models are there" $?
if [ -x "$static/forage" ] && [ -f "$static/forage.map" ]; then
    run 0 "$make" "$static/forage" "$work/static.json" "$static/forage.map" "$static/lib" &&
        for name in cjson curl libzip libc6-dev libsqlite3-dev libssl-dev libicu-dev libgnutls28-dev; do
            grep -q "\"name\": \"$name\"" "$work/static.json" || { echo "$name" >"$work/err" && false; }
        done
    check "that of the static program names what was linked" $?
else
    skip "that of the static program names what was linked" "it is not built (make static)"
fi
python=$cache/cyclonedx/bin/python
[ -x "$python" ] || {
    python3 -m venv "$cache/cyclonedx" && timeout 200 "$cache/cyclonedx/bin/pip" install -q --retries 1 'cyclonedx-python-lib[json-validation]>=8,<12'
} >/dev/null 2>&1 || python=
if [ -n "$python" ]; then
    cat >"$work/valid.py" <<'END'
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
for path in sys.argv[1:]:
    error = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(path).read())
    if error:
        sys.exit(f"{path}: {error}")
END
    run 0 "$python" "$work/valid.py" "$work"/[as]*.json; check "CycloneDX's schema takes it" $?
    sed 's/"type": "library"/"type": "book"/' "$work/a.json" >"$work/wrong.json"
    run 1 "$python" "$work/valid.py" "$work/wrong.json"; check "and would refuse what is wrong" $?
else
    skip "CycloneDX's schema takes it" "pip reaches no index"
fi
finish
