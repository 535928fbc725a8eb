"""Forage: documents in, answers with checked citations out.

    import forage

    with forage.open("home") as f:                       # a home in this process (libforage)
        f.ingest([{"id": "kb-1", "text": "The north pump is serviced every 400 hours."}])
        reply = f.query("How often is the north pump serviced?")
        print(reply["answer"], reply["citations"][0]["quote"])

    with forage.open("http://127.0.0.1:8080", key="...") as f:    # the same of a running service
        async for event in f.astream("How often is the north pump serviced?"):
            ...

Options are keywords with the names of the HTTP API, replies are its objects as dicts.
"""

from __future__ import annotations

from typing import Any, Union
import os
import re

from ._client import Client, Document, Event, ForageError, Stream

__all__ = ["Client", "Document", "Event", "ForageError", "Stream", "open"]


def open(place: Union[str, "os.PathLike[str]"], **options: Any) -> Client:
    """A service where place is a URL (options: key, timeout), else the home in that folder (options as the flags of
    `forage serve`: read_only, model, embed_model, threads, ...; on_notice is called with what was mended)."""
    name = os.fspath(place)
    if re.match(r"https?://", name, re.IGNORECASE):
        from ._service import Service

        return Service(name, **options)
    # Else a typing error would make a home of that name, without a document, which then answers.
    if re.match(r"[a-z][a-z0-9+.-]*://|https?:?/|(\[[0-9a-f:.]+\]|[a-z0-9.-]+):[0-9]+(/|$)", name, re.IGNORECASE) and not os.path.isdir(name):
        raise ForageError("bad_field", f"{name} looks like an address: that of a service begins with http:// or https://, "
                          "and a folder of such a name is written ./" + name, "place")
    from ._home import Home

    return Home(name, **options)


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version

        try:
            return version("forage")
        except PackageNotFoundError:  # it lies in a folder, and was not installed
            pass
    raise AttributeError(f"module 'forage' has no attribute '{name}'")
