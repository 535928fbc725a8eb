#!/usr/bin/env python3
"""sbom.py PROGRAM OUT [MAP LIBRARIES] - what PROGRAM is made of, as CycloneDX 1.5 in the file OUT.

Every library that its loader loads, in the version of the Debian package that it lies in, and which needs which; with
the linker's MAP of a program without a loader, the archives that it was linked with, and those of `make static` by the
file LIBRARIES/sources. The models that are within it. Bytes follow from the sources and the packages alone."""
import functools
import hashlib
import json
import os
import re
import subprocess
import sys
import time
import uuid

program, out, *linked = sys.argv[1:]
top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "LC_ALL": "C"}).stdout


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


@functools.cache
def package_of(path):
    """The Debian package of a file. Libraries may be known to dpkg below /lib or /usr/lib."""
    real = os.path.realpath(path)
    for at in (real, real.removeprefix("/usr"), "/usr" + real, path):
        owner = said("dpkg-query", "-S", at).split(": ")[0].split(",")[0]
        if owner:
            return owner
    sys.exit(f"sbom: {path} is of no package")


def licences(package):
    """Short names in the copyright file of a package, where that is made to be read by programs."""
    try:
        with open(f"/usr/share/doc/{package.split(':')[0]}/copyright", encoding="utf-8", errors="replace") as f:
            text = f.read()
    except OSError:
        return []
    if not text.lstrip().startswith("Format:"):
        return []
    names = {n.strip() for n in re.findall(r"(?m)^License:[ \t]*(\S.*)$", text)}
    return [{"license": {"name": n}} for n in sorted(names)]


distro = dict(re.findall(r'(?m)^(\w+)="?([^"\n]*)"?$', open("/etc/os-release", encoding="utf-8").read()))
components, needs, files = {}, {}, {}


def debian(name, version, arch, source, of, file):
    ref = f"pkg:deb/{distro['ID']}/{name}@{version.replace('+', '%2B').replace(':', '%3A').replace('~', '%7E')}" + \
        (f"?arch={arch}&distro={distro['ID']}-{distro['VERSION_ID']}" if arch else f"?distro={distro['ID']}-{distro['VERSION_ID']}")
    files.setdefault(ref, set()).add(file)
    components.setdefault(ref, {
        "type": "library", "bom-ref": ref, "name": name, "version": version, "purl": ref,
        **({"licenses": licences(of)} if licences(of) else {}),
        "properties": [{"name": "forage:source-package", "value": source}]})
    return ref


def library(path, file):
    package = package_of(path)
    name, version, arch, source = said("dpkg-query", "-W", "-f", "${Package}|${Version}|${Architecture}|${source:Package}", package).split("|")
    return debian(name, version, arch, source, package, file)


def loaded(path):
    """SONAME -> file of what the loader takes for a program or library, and what it asks for itself."""
    found = dict(re.findall(r"(?m)^\s+(\S+) => (/\S+)", said("ldd", path)))
    asked = re.findall(r"\(NEEDED\).*\[(.+)\]", said("readelf", "-dW", path))
    return found, asked


main = "forage"
version = said(program, "version").split()[1]
if linked:
    table, folder = linked
    with open(os.path.join(folder, "sources"), encoding="utf-8") as f:
        built = dict(line.split() for line in f)
    with open(table, encoding="utf-8", errors="replace") as f:
        members = f.read().split("\nDiscarded input sections")[0]
    refs = set()
    for archive in sorted(set(re.findall(r"(?m)^(\S+\.a)\(", members))):
        name = os.path.basename(archive)
        if not os.path.isabs(archive) and not archive.startswith(folder) and re.match("lib(kernels|data|index|engine|retrieval|server)[.]a", name):
            continue
        if os.path.realpath(archive).startswith(os.path.realpath(folder) + "/"):
            source = name.removeprefix("lib").removesuffix(".a")
            source = source if source in built else next(s for s in built if s in name)
            of = {"cjson": "libcjson-dev", "md4c": "libmd4c-dev", "libzip": "libzip-dev", "curl": "libcurl4-openssl-dev"}
            refs.add(debian(source, built[source], "", source, of.get(source, source), name))
        else:
            refs.add(library(archive, name))
    needs[main] = refs
else:
    found, asked = loaded(program)
    names = {n: library(p, n) for n, p in found.items()}
    needs[main] = {names[n] for n in asked if n in names}
    for name, path in found.items():
        for n in loaded(path)[1]:
            if n in names and names[n] != names[name]:
                needs.setdefault(names[name], set()).add(names[n])

for file, licence, text in (
        ("forage-embed-256.gguf", "CC-BY-SA-4.0", "The table of the built-in embedder"),
        ("forage-encoder.gguf", "CC-BY-SA-4.0", "What the built-in encoder has of its own beside the reader's weights"),
        ("forage-reader.gguf", "CC-BY-SA-4.0", "The encoder of the built-in reader"),
        ("forage-reader-cross.gguf", "CC-BY-SA-4.0", "What the reader adds where it reads question and passage together"),
        ("forage-reader-cross-e5.gguf", "CC-BY-SA-4.0", "What multilingual-e5-small adds where it does"),
        ("forage-reader-spans.gguf", "CC-BY-SA-4.0", "What the reader adds to tell which words answer")):
    path = os.path.join(top, "data/models", file)
    ref = f"model:{file}"
    components[ref] = {"type": "machine-learning-model", "bom-ref": ref, "name": file, "version": version, "description": text,
                       "hashes": [{"alg": "SHA-256", "content": sha256(path)}], "licenses": [{"license": {"id": licence}}]}
    needs[main].add(ref)

for ref, names in files.items():
    components[ref]["properties"] += [{"name": "forage:file", "value": n} for n in sorted(names)]
digest = sha256(program)
when = int(os.environ.get("SOURCE_DATE_EPOCH") or said("git", "-C", top, "log", "-1", "--format=%ct") or os.stat(program).st_mtime)
bom = {
    "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.5",
    "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest + ''.join(sorted(components)))}", "version": 1,
    "metadata": {
        "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when)),
        "component": {"type": "application", "bom-ref": main, "name": "forage", "version": version,
                      "purl": f"pkg:generic/forage@{version}", "hashes": [{"alg": "SHA-256", "content": digest}],
                      "licenses": [{"license": {"id": "Apache-2.0"}}]}},
    "components": [components[r] for r in sorted(components)],
    "dependencies": [{"ref": r, "dependsOn": sorted(needs.get(r, ()))} for r in [main, *sorted(components)]],
}
with open(out, "w", encoding="utf-8") as f:
    json.dump(bom, f, indent=1, ensure_ascii=False)
    f.write("\n")
print(f"{out}: {len(components)} components")
