"""A home in this process: libforage by ctypes, nothing else."""

from __future__ import annotations

import ctypes
import json
import os
import queue
import threading
from contextlib import contextmanager
from ctypes import POINTER, Structure, byref, c_char, c_char_p, c_float, c_int, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Callable, Dict, Iterable, Iterator, List, Mapping, Optional, Sequence, Union

from ._client import Client, Document, Event, ForageError, Reply, Stream, _in_thread, dicts

# By forage.h's enum forage_code, as the service calls them.
_CODES = {-1: "bad_request", -2: "io", -3: "corrupt", -4: "no_memory", -5: "not_found", -6: "conflict", -7: "unsupported",
          -8: "too_large", -9: "cancelled", -10: "timeout", -11: "busy", -12: "disk_low", -13: "mismatch", -14: "forbidden"}


class _Error(Structure):
    _fields_ = [("code", c_int), ("field", c_char * 64), ("message", c_char * 512)]


class _Document(Structure):
    _fields_ = [("text", c_char_p), ("bytes", c_char_p), ("n_bytes", c_size_t), ("path", c_char_p), ("id", c_char_p),
                ("title", c_char_p), ("uri", c_char_p), ("type", c_char_p), ("file_name", c_char_p),
                ("metadata", c_char_p), ("acl", c_char_p), ("reserved", c_void_p * 4)]


_EVENT = ctypes.CFUNCTYPE(c_int, c_void_p, c_char_p, c_void_p)


class _Listener(Structure):
    _fields_ = [("event", _EVENT), ("ctx", c_void_p), ("stop", c_void_p)]


def _load() -> ctypes.CDLL:
    """The library of this package, of LIBFORAGE, or the system's."""
    beside = Path(__file__).with_name("lib") / "libforage.so.0"
    name = os.environ.get("LIBFORAGE") or (str(beside) if beside.exists() else "libforage.so.0")
    try:
        lib = ctypes.CDLL(name)
    except OSError as e:
        raise ForageError("unsupported", f"libforage cannot be loaded ({e}): a home needs it, a URL does not") from None
    reply, error, listener = POINTER(c_void_p), POINTER(_Error), POINTER(_Listener)
    returns_reply = [reply, error]
    for name, kind, arguments in [
        ("open", c_int, [POINTER(c_void_p), c_char_p, c_char_p, listener, error]),
        ("close", None, [c_void_p]),
        ("info", c_int, [c_void_p, *returns_reply]),
        ("ingest", c_int, [c_void_p, POINTER(_Document), c_size_t, c_char_p, listener, *returns_reply]),
        ("sync", c_int, [c_void_p, c_char_p, c_char_p, c_char_p, listener, *returns_reply]),
        ("get", c_int, [c_void_p, c_char_p, c_char_p, *returns_reply]),
        ("list", c_int, [c_void_p, c_char_p, *returns_reply]),
        ("delete", c_int, [c_void_p, c_char_p, c_char_p, *returns_reply]),
        ("collections", c_int, [c_void_p, *returns_reply]),
        ("delete_collection", c_int, [c_void_p, c_char_p, error]),
        ("search", c_int, [c_void_p, c_char_p, c_char_p, listener, *returns_reply]),
        ("query", c_int, [c_void_p, c_char_p, c_char_p, listener, *returns_reply]),
        ("generate", c_int, [c_void_p, c_char_p, c_char_p, listener, *returns_reply]),
        ("embed_dim", c_size_t, [c_void_p]),
        ("embed", c_int, [c_void_p, POINTER(c_char_p), c_size_t, c_int, POINTER(c_float), error]),
        ("reply_json", c_void_p, [c_void_p, POINTER(c_size_t)]),
        ("reply_free", None, [c_void_p]),
        ("stop_create", c_void_p, []),
        ("stop_now", None, [c_void_p]),
        ("stop_free", None, [c_void_p]),
    ]:
        f = getattr(lib, "forage_" + name)
        f.restype, f.argtypes = kind, arguments
    return lib


def _text(value: Optional[Union[str, "os.PathLike[str]"]], name: str) -> Optional[bytes]:
    if value is None:
        return None
    text = os.fspath(value)
    try:  # a file's name may be any bytes
        encoded = os.fsencode(text) if name in ("path", "home") else text.encode()
    except UnicodeEncodeError:  # half of a pair: libforage says where what is no UTF-8 stands
        encoded = text.encode("utf-8", "surrogatepass")
    if b"\0" in encoded:
        raise ForageError("bad_field", f"{name} holds a NUL", name)
    return encoded


def _options(options: Mapping[str, Any]) -> Optional[bytes]:
    given = {k: v for k, v in options.items() if v is not None}
    return json.dumps(given).encode() if given else None


class Home(Client):
    """A home folder, opened here."""

    def __init__(self, home: str, *, on_notice: Optional[Callable[[str, str], None]] = None, **options: Any) -> None:
        self._lib = _load()
        self._handle = c_void_p()
        self._idle = threading.Condition()  # guards what follows
        self._n_running = 0  # calls inside the library, which close waits for
        self._stops: Dict[int, c_void_p] = {}  # of those that it ends; by id(), for an address is used again
        self._closing = False

        def noticed(_ctx: Any, _name: bytes, data: int) -> int:
            try:
                if on_notice:
                    notice = self._read(c_void_p(data))
                    on_notice(notice["kind"], notice["text"])
            except Exception:  # whoever listens must not hurt the home
                pass
            return 0

        self._listener = _Listener(event=_EVENT(noticed))  # lives as long as the home
        error = _Error()
        self._check(self._lib.forage_open(byref(self._handle), _text(home, "home"), _options(options),
                                          byref(self._listener), byref(error)), error)

    def close(self) -> None:
        """Streams, ingest, sync and search that still run are ended, other calls waited for (asyncio leaves a thread of
        a call that it gave up inside the library); what begins then is refused. Not from on_notice."""
        with self._idle:
            self._closing = True
            for stop in self._stops.values():
                self._lib.forage_stop_now(stop)
            self._idle.wait_for(lambda: not self._n_running)
            handle, self._handle = self._handle, c_void_p()
        self._lib.forage_close(handle)

    @contextmanager
    def _running(self) -> Iterator[c_void_p]:
        """The handle, which stays open meanwhile."""
        with self._idle:
            if self._closing:
                raise ForageError("bad_request", "the home is closed")
            self._n_running += 1
        try:
            yield self._handle
        finally:
            with self._idle:
                self._n_running -= 1
                self._idle.notify_all()

    def _new_stop(self) -> c_void_p:
        stop = c_void_p(self._lib.forage_stop_create())
        with self._idle:
            self._stops[id(stop)] = stop
        return stop

    def _free_stop(self, stop: c_void_p) -> None:
        """Nobody stops by it then."""
        with self._idle:
            del self._stops[id(stop)]
        self._lib.forage_stop_free(stop)

    @staticmethod
    def _check(rc: int, error: _Error) -> None:
        if rc:
            field = error.field.decode(errors="replace") or None
            code = "bad_field" if rc == -1 and field else _CODES.get(rc, "error")
            raise ForageError(code, error.message.decode(errors="replace"), field)

    def _read(self, reply: c_void_p) -> Any:
        n = c_size_t()
        text = self._lib.forage_reply_json(reply, byref(n))
        return json.loads(ctypes.string_at(text, n.value))

    def _call(self, name: str, *arguments: Any) -> Any:
        reply, error = c_void_p(), _Error()
        with self._running() as handle:
            self._check(getattr(self._lib, "forage_" + name)(handle, *arguments, byref(reply), byref(error)), error)
        try:
            return self._read(reply)
        finally:
            self._lib.forage_reply_free(reply)

    def _stoppable(self, name: str, *arguments: Any) -> Any:
        """A call that close ends."""
        stop = self._new_stop()
        try:
            return self._call(name, *arguments, byref(_Listener(stop=stop)))
        finally:
            self._free_stop(stop)

    def _listen(self, name: str, question: Optional[str], options: Mapping[str, Any]) -> Stream:
        """The call runs on a thread of its own, which ends with it."""
        events: "queue.Queue[Union[Event, Exception, None]]" = queue.Queue()
        asked, given = _text(question, "query"), _options(options)
        stop = self._new_stop()

        def heard(_ctx: Any, event: bytes, data: int) -> int:
            try:
                events.put(Event(event.decode(), self._read(c_void_p(data))))
                return 0
            except Exception:
                return 1

        state = {"over": False, "ended": False}

        def run() -> None:
            listener = _Listener(event=_EVENT(heard), stop=stop)
            try:
                events.put(Event("done", self._call(name, asked, given, byref(listener))))
                events.put(None)
            except Exception as e:
                events.put(e)
            finally:
                self._free_stop(stop)

        thread = threading.Thread(target=run, name="forage-" + name, daemon=True)

        def take() -> Optional[Event]:
            if state["over"]:
                return None
            item = events.get()
            if isinstance(item, Event):
                return item
            state["over"] = True
            if item is None or state["ended"]:
                return None
            raise item

        def end() -> None:
            state["ended"] = True
            with self._idle:
                if id(stop) in self._stops:
                    self._lib.forage_stop_now(stop)

        def join() -> None:
            if threading.current_thread() is not thread:
                thread.join()

        thread.start()
        return Stream(take, end, join)

    def info(self) -> Reply:
        """Version, models, counts."""
        return self._call("info")  # type: ignore[no-any-return]

    def search(self, query: str, **options: Any) -> Reply:
        return self._stoppable("search", _text(query, "query"), _options(options))  # type: ignore[no-any-return]

    def stream(self, query: Optional[str] = None, **options: Any) -> Stream:
        return self._listen("query", query, options)

    def stream_text(self, prompt: Optional[str] = None, **options: Any) -> Stream:
        return self._listen("generate", prompt, options)

    def ingest(self, documents: Iterable[Document], **options: Any) -> Reply:
        given = list(dicts(documents))
        array = (_Document * len(given))()
        for to, d in zip(array, given):
            for name, value in d.items():
                if name == "bytes":
                    to.bytes, to.n_bytes = bytes(value), len(value)  # type: ignore[call-overload, arg-type]
                elif name in ("metadata", "acl"):
                    setattr(to, name, json.dumps(value).encode())
                elif name in Document.__annotations__:
                    setattr(to, name, _text(value, name))  # type: ignore[arg-type]
                else:
                    raise ForageError("bad_field", f"a document has no field '{name}'", name)
        return self._stoppable("ingest", array, len(given), _options(options))  # type: ignore[no-any-return]

    def sync(self, name: str, path: Union[str, "os.PathLike[str]"], **options: Any) -> Reply:
        """Keeps a folder's documents in step with the folder. Options: collection, language, chunking, dry_run, max_deletes,
        max_file (bytes; larger ones are left out, 0: any size; 64 MiB), relocate."""
        return self._stoppable("sync", _text(name, "name"), _text(path, "path"), _options(options))  # type: ignore[no-any-return]

    def get(self, id: str, **options: Any) -> Reply:
        return self._call("get", _text(id, "id"), _options(options))  # type: ignore[no-any-return]

    def page(self, **options: Any) -> Reply:
        return self._call("list", _options(options))  # type: ignore[no-any-return]

    def delete(self, id: Optional[str] = None, **options: Any) -> Reply:
        return self._call("delete", _text(id, "id"), _options(options))  # type: ignore[no-any-return]

    def collections(self) -> List[Reply]:
        return self._call("collections")["data"]  # type: ignore[no-any-return]

    def delete_collection(self, name: str) -> None:
        error = _Error()
        with self._running() as handle:
            self._check(self._lib.forage_delete_collection(handle, _text(name, "name"), byref(error)), error)

    def embed(self, texts: Sequence[str], query: bool = False) -> List[List[float]]:
        error = _Error()
        array = (c_char_p * len(texts))(*(_text(t, "texts") for t in texts))
        with self._running() as handle:
            dim = self._lib.forage_embed_dim(handle)
            vectors = (c_float * max(1, dim * len(texts)))()
            self._check(self._lib.forage_embed(handle, array, len(texts), int(query), vectors, byref(error)), error)
        return [list(vectors[i * dim:(i + 1) * dim]) for i in range(len(texts))]

    async def ainfo(self) -> Reply:
        return await _in_thread(self.info)

    async def async_sync(self, name: str, path: Union[str, "os.PathLike[str]"], **options: Any) -> Reply:
        """sync's twin: what the others are called by, async, is a word of the language."""
        return await _in_thread(lambda: self.sync(name, path, **options))
