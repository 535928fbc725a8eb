#!/usr/bin/env python3
"""wheel.py BUILD OUT - the Python package as two wheels in the folder OUT, of nothing but the standard library: one for
this machine with libforage in it, and one for any that asks services alone. The same sources give the same bytes."""

import base64
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUMMARY = "Answers from your own documents, with citations that were checked"


def version() -> str:
    return re.search(r"^VERSION := (\S+)", (HERE / "../../../Makefile").read_text(), re.M)[1]


def stripped(path: Path) -> bytes:
    with tempfile.TemporaryDirectory() as work:
        to = Path(work) / path.name
        subprocess.run(["strip", "--strip-unneeded", "-o", to, path], check=True)
        return to.read_bytes()


def write(out: Path, tag: str, more: dict[str, bytes]) -> None:
    name = f"forage-{version()}"
    info = f"{name}.dist-info/"
    files = {f"forage/{p.name}": p.read_bytes() for p in sorted((HERE / "forage").iterdir()) if p.is_file()}
    files.update(more)
    licence = "Apache-2.0 AND CC-BY-SA-4.0" if more else "Apache-2.0"  # the library holds models (data/models/README.md)
    files[info + "METADATA"] = (
        f"Metadata-Version: 2.1\nName: forage\nVersion: {version()}\nSummary: {SUMMARY}\nLicense: {licence}\n"
        "Requires-Python: >=3.9\nProvides-Extra: langchain\nRequires-Dist: langchain-core; extra == 'langchain'\n"
        "Provides-Extra: llamaindex\nRequires-Dist: llama-index-core; extra == 'llamaindex'\n").encode()
    pure = str(tag.endswith("any")).lower()
    files[info + "WHEEL"] = f"Wheel-Version: 1.0\nGenerator: forage\nRoot-Is-Purelib: {pure}\nTag: {tag}\n".encode()
    record = ""
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{path},sha256={digest},{len(data)}\n"
    files[info + "RECORD"] = f"{record}{info}RECORD,,\n".encode()
    path = out / f"{name}-{tag}.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=int(os.environ.get("WHEEL_LEVEL", "6"))) as wheel:
        for member, data in files.items():
            entry = zipfile.ZipInfo(member)
            entry.compress_type = zipfile.ZIP_DEFLATED
            # With S_IFREG: of what is not said to be a file pip takes no x bit.
            entry.external_attr = (0o100755 if member.endswith("forage-extract") else 0o100644) << 16
            wheel.writestr(entry, data)
    print(path)


def main() -> None:
    build, out = Path(sys.argv[1]), Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    library = {f"forage/lib/{name}": stripped(build / name) for name in ("libforage.so.0", "forage-extract")}
    write(out, f"py3-none-linux_{platform.machine()}", library)
    write(out, "py3-none-any", {})


main()
