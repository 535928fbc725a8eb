"""A running service, by the standard library's HTTP client."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import socket
import ssl
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import quote, urlencode, urlsplit

from ._client import Client, Document, Event, ForageError, Reply, Stream, dicts

_LINE_MAX = 64 << 20  # bytes of one line of an event
_TEXTS_MAX, _TEXTS_MAX_BYTES = 1000, 8 << 20  # of one request of ingest: --max-body bounds it
_FILE_OPTIONS = {"collection", "language", "chunking", "ocr", "ocr_language"}  # of ingest, where a file goes in


_OF_DOCUMENT = (400, 413, 415)  # statuses of an upload that say something of the file


def _given(options: Mapping[str, Any]) -> Dict[str, Any]:
    return {k: v for k, v in options.items() if v is not None}


class _Cut(ForageError):
    """The service ended the connection before all of a body was sent: of one that is far too large it reads no more."""


def _failed(id: Optional[str], code: str, message: str, param: Optional[str] = None) -> Reply:
    """The row of one that fails alone; nothing was stored, so it has no epoch."""
    row = {"id": _readable(id) if isinstance(id, str) else id, "status": "failed", "content_sha256": None, "chunks": 0,
           "error": {"code": code, "message": message, "param": param}}
    return {"epoch": 0, "results": [row]}


def _readable(path: str) -> str:
    """A file's name may be any bytes: what of it is no UTF-8 is shown as U+FFFD; so is half of a pair."""
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return path.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _has_half_pair(value: Any) -> bool:
    """No UTF-8 says it: the service would refuse all of the request for one."""
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16")  # whole pairs may stand apart
        return False
    except UnicodeDecodeError:
        return True


class Service(Client):
    """Calls over HTTP; a connection each, so that threads do not wait for each other."""

    def __init__(self, url: str, *, key: Optional[str] = None, timeout: Optional[float] = 120,
                 context: Optional[ssl.SSLContext] = None) -> None:
        at = urlsplit(url)
        try:
            port = at.port
        except ValueError:
            raise ForageError("bad_field", f"{url} names no port: digits stand behind the colon", "url") from None
        if not at.hostname:
            raise ForageError("bad_field", f"{url} names no host", "url")
        self._tls, self._host, self._port, self._base = at.scheme == "https", at.hostname, port, at.path.rstrip("/")
        self._key, self._timeout, self._context = key, timeout, context
        host = f"[{at.hostname}]" if ":" in at.hostname else at.hostname
        self._shown = host if port is None else f"{host}:{port}"  # in errors: without a name and a password

    def close(self) -> None:
        """There is nothing to let go."""

    def _connect(self) -> http.client.HTTPConnection:
        if self._tls:
            return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._context)
        return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)

    def _send(self, method: str, path: str, arguments: Optional[Mapping[str, Any]] = None, body: Any = None,
              type: str = "application/json") -> Tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        given = {k: json.dumps(v) if isinstance(v, (dict, list, bool)) else v for k, v in _given(arguments or {}).items()}
        headers = {"Authorization": "Bearer " + self._key} if self._key else {}
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = type
        connection, cut = self._connect(), False
        try:
            try:
                connection.request(method, self._base + path + ("?" + urlencode(given) if given else ""), data, headers)
            except (BrokenPipeError, ConnectionResetError):
                if data is None:
                    raise
                cut = True  # there may be a reply all the same
            reply = connection.getresponse()
        except (OSError, http.client.HTTPException) as e:
            connection.close()
            if cut:
                raise _Cut("io", f"{self._shown} ended the connection before all {len(data or b'')} bytes were sent: "
                           "they may be more than its --max-body") from e
            raise ForageError("io", f"{self._shown} cannot be asked: {e}") from e
        if reply.status >= 400:
            body_of_error = reply.read(1 << 20)
            connection.close()
            raise self._error(body_of_error, reply.status)
        return connection, reply

    @staticmethod
    def _error(body: bytes, status: Optional[int]) -> ForageError:
        try:
            e = json.loads(body)["error"]
            return ForageError(str(e["code"]), str(e["message"]), e.get("param"), status)
        except (ValueError, KeyError, TypeError, AttributeError):
            return ForageError("error", f"the service answered {status}", None, status)

    def _call(self, method: str, path: str, arguments: Optional[Mapping[str, Any]] = None, body: Any = None,
              type: str = "application/json") -> Any:
        connection, reply = self._send(method, path, arguments, body, type)
        try:
            return json.loads(reply.read() or b"null")
        except (OSError, http.client.HTTPException, ValueError) as e:
            raise ForageError("io", f"{self._shown} broke off: {e}") from e
        finally:
            connection.close()

    # ---- questions

    def _body(self, query: Optional[str], options: Mapping[str, Any]) -> Dict[str, Any]:
        return {**_given(options), **({"query": query} if query is not None else {})}

    def search(self, query: str, **options: Any) -> Reply:
        return self._call("POST", "/search", body=self._body(query, options))  # type: ignore[no-any-return]

    def _stream(self, path: str, body: Mapping[str, Any], read: Any) -> Stream:
        connection, reply = self._send("POST", path, body={**body, "stream": True})
        wire = connection.sock
        state = {"ended": False}

        def end() -> None:
            state["ended"] = True
            try:  # whoever waits for a line wakes
                if wire is not None:
                    wire.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            connection.close()

        events = read(_sse(reply))

        def take() -> Optional[Event]:
            try:
                return next(events, None)
            except (OSError, http.client.HTTPException, ValueError, AttributeError) as e:
                if state["ended"]:
                    return None
                raise ForageError("io", f"{self._shown} broke off: {e}") from e

        return Stream(take, end)

    def stream(self, query: Optional[str] = None, **options: Any) -> Stream:
        return self._stream("/query", self._body(query, options), self._answers)

    def _answers(self, events: Iterable[Tuple[str, str]]) -> Iterable[Event]:
        for name, data in events:
            if name == "error":
                raise self._error(data.encode(), None)
            yield Event(name, json.loads(data))
            if name == "done":
                return
        raise http.client.HTTPException("the answer ended before its end")

    def stream_text(self, prompt: Optional[str] = None, **options: Any) -> Stream:
        """POST /v1/chat/completions of the model that is loaded; schema= becomes its response_format."""
        body: Dict[str, Any] = {"max_tokens": 256, "temperature": 0, **_given(options)}
        body["messages"] = [*body.get("messages", []), *([{"role": "user", "content": prompt}] if prompt is not None else [])]
        if "schema" in body:
            schema = {"name": "answer", "schema": body.pop("schema")}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        body["stream_options"] = {"include_usage": True}
        return self._stream("/v1/chat/completions", body, self._texts)

    def _texts(self, events: Iterable[Tuple[str, str]]) -> Iterable[Event]:
        reply: Reply = {"text": "", "finish_reason": None, "model": None, "usage": None}
        for _, data in events:
            if data == "[DONE]":
                yield Event("done", reply)
                return
            chunk = json.loads(data)
            if "error" in chunk:
                raise self._error(data.encode(), None)
            reply["model"], reply["usage"] = chunk.get("model"), chunk.get("usage") or reply["usage"]
            for choice in chunk.get("choices", []):
                reply["finish_reason"] = choice.get("finish_reason") or reply["finish_reason"]
                text = choice.get("delta", {}).get("content")
                if text:
                    reply["text"] += text
                    yield Event("token", {"text": text})
        raise http.client.HTTPException("the answer ended before its end")

    # ---- documents

    def ingest(self, documents: Iterable[Document], **options: Any) -> Reply:
        """Texts go together, a thousand or 8 MiB to a request; files one by one: in the order in which they came."""
        if options.get("wait") is not None:
            raise ForageError("bad_field", "ingest always waits: wait is no option of it", "wait")
        whole: Reply = {"collection": options.get("collection") or "default", "epoch": 0, "results": []}
        texts: List[Dict[str, Any]] = []
        n_bytes = 0

        def add(reply: Reply) -> None:
            whole["epoch"] = max(whole["epoch"], reply["epoch"])  # what failed here has none
            whole["results"] += reply["results"]

        def flush() -> None:
            if texts:
                add(self._ingest_texts(texts, options))
                texts.clear()

        for d in dicts(documents):
            unknown = set(d) - set(Document.__annotations__)
            if unknown or sum(name in d for name in ("text", "bytes", "path")) != 1:
                raise ForageError("bad_field", "a document has exactly one of text, bytes and path, and no fields but "
                                  + ", ".join(Document.__annotations__), "documents")
            if "text" in d:
                text = {("content_type" if k == "type" else k): v for k, v in d.items()}
                if _has_half_pair(text):
                    flush()
                    n_bytes = 0
                    wrong = next(k for k, v in d.items() if _has_half_pair(v))
                    add(_failed(d.get("id"), "bad_field", f"{wrong} is not UTF-8", wrong))
                    continue
                size = len(json.dumps(text))
                if len(texts) == _TEXTS_MAX or n_bytes + size > _TEXTS_MAX_BYTES:
                    flush()
                    n_bytes = 0
                texts.append(text)
                n_bytes += size
            else:
                flush()
                n_bytes = 0
                add(self._ingest_file(d, options))
        flush()
        return whole

    def _ingest_texts(self, texts: List[Dict[str, Any]], options: Mapping[str, Any]) -> Reply:
        """One that is larger than the service takes fails alone: the others go again without it."""
        try:
            return self._call("POST", "/ingest", body={**_given(options), "documents": texts})  # type: ignore[no-any-return]
        except ForageError as e:
            if e.status != 413 and not isinstance(e, _Cut):
                raise
            if len(texts) == 1:
                return _failed(texts[0].get("id"), e.code, e.message, e.param)
        parts = [self._ingest_texts(part, options) for part in (texts[:len(texts) // 2], texts[len(texts) // 2:])]
        return {"epoch": max(r["epoch"] for r in parts), "results": [row for r in parts for row in r["results"]]}

    def _ingest_file(self, d: Document, options: Mapping[str, Any]) -> Reply:
        for unknown in set(_given(options)) - _FILE_OPTIONS:
            raise ForageError("bad_field", f"unknown field '{unknown}'", unknown)
        path = os.fspath(d["path"]) if "path" in d else None
        shown = None if path is None else _readable(path)
        called = d.get("id", shown or d.get("file_name"))
        name = _readable(os.path.basename(path) if path else d.get("file_name") or "document")
        try:
            data = open(path, "rb").read() if path else d["bytes"]
        except (OSError, ValueError) as e:
            return _failed(called, "io", f"cannot open {shown}: {getattr(e, 'strerror', None) or e}")
        chunking = options.get("chunking") or {}
        of_call = {**{k: options.get(k) for k in ("collection", "language", "ocr", "ocr_language")}, **chunking}
        fields = {**of_call,
                  "acl": ",".join(d["acl"]) if "acl" in d else None, "id": d.get("id", path), "title": d.get("title"),
                  "uri": d.get("uri", path), "metadata": json.dumps(d["metadata"]) if "metadata" in d else None}
        edge = "forage-" + secrets.token_hex(16)
        body = b""
        plain = name.replace("\\", "\\\\").replace('"', '\\"').replace("\r", "_").replace("\n", "_")
        heads = {key: f'--{edge}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
                 for key, value in _given(fields).items()}
        heads["type"] = (f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{plain}"\r\n'
                         f'Content-Type: {d.get("type", "application/octet-stream")}\r\n\r\n')
        for key, head in heads.items():  # "type", the file's, is the last
            try:
                body += head.encode()
            except UnicodeEncodeError:
                return _failed(called, "bad_field", f"{key} is not UTF-8", key)
        body += data + f"\r\n--{edge}--\r\n".encode()
        try:
            return self._call("POST", "/ingest", body=body, type="multipart/form-data; boundary=" + edge)  # type: ignore[no-any-return]
        except ForageError as e:
            if not isinstance(e, _Cut) and e.status not in _OF_DOCUMENT or (e.param or "").split(".")[-1] in of_call:
                raise
            return _failed(called, e.code, e.message, e.param)

    def get(self, id: str, **options: Any) -> Reply:
        return self._call("GET", "/documents/" + quote(id, safe=""), options)  # type: ignore[no-any-return]

    def page(self, **options: Any) -> Reply:
        return self._call("GET", "/documents", options)  # type: ignore[no-any-return]

    def delete(self, id: Optional[str] = None, **options: Any) -> Reply:
        path = "/documents" if id is None else "/documents/" + quote(id, safe="")
        return self._call("DELETE", path, options)  # type: ignore[no-any-return]

    def collections(self) -> List[Reply]:
        return self._call("GET", "/collections")["data"]  # type: ignore[no-any-return]

    def delete_collection(self, name: str) -> None:
        self._call("DELETE", "/collections/" + quote(name, safe=""))

    def embed(self, texts: Sequence[str], query: bool = False) -> List[List[float]]:
        if not texts:
            return []
        body = {"input": list(texts), "input_type": "query" if query else "document"}
        return [row["embedding"] for row in self._call("POST", "/v1/embeddings", body=body)["data"]]


def _sse(reply: http.client.HTTPResponse) -> Iterable[Tuple[str, str]]:
    """Server-sent events: (name, data)."""
    name, data = "", ""
    while True:
        line = reply.readline(_LINE_MAX).decode("utf-8", "replace")
        if not line:
            return
        line = line.rstrip("\r\n")
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if not line and data:
            yield name, data
            name, data = "", ""
        elif field == "event":
            name = value
        elif field == "data":
            data = data + "\n" + value if data else value
