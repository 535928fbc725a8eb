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

from ._client import Client, Document, Event, ForageError, Stream

__all__ = ["Client", "Document", "Event", "ForageError", "Stream", "open"]


def open(place: Union[str, "os.PathLike[str]"], **options: Any) -> Client:
    """A service where place is a URL (options: key, timeout), else the home in that folder (options as the flags of
    `forage serve`: read_only, model, embed_model, threads, ...; on_notice is called with what was mended)."""
    name = os.fspath(place)
    if name.startswith(("http://", "https://")):
        from ._service import Service

        return Service(name, **options)
    from ._home import Home

    return Home(name, **options)
