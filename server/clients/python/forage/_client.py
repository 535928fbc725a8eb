"""What a home and a service have in common: the calls, their asynchronous twins, events, errors."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, AsyncIterator, Callable, Dict, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Sequence
from typing import Type, TypedDict, TypeVar, Union

T = TypeVar("T")
C = TypeVar("C", bound="Client")
Reply = Dict[str, Any]


class ForageError(Exception):
    """What was refused: code ("not_found", "bad_field", ...), the field at fault (or None) and a sentence."""

    def __init__(self, code: str, message: str, param: Optional[str] = None, status: Optional[int] = None) -> None:
        super().__init__(message)
        self.code, self.message, self.param, self.status = code, message, param, status


class Event(NamedTuple):
    """Of a stream: "contexts", "draft", "token" {"text"}, "citation"; the last one is "done" with the whole reply."""

    name: str
    data: Reply


class Document(TypedDict, total=False):
    """Exactly one of text, bytes and path."""

    text: str
    bytes: bytes
    path: str
    id: str
    title: str
    uri: str
    type: str
    file_name: str
    metadata: Mapping[str, Any]
    acl: Sequence[str]


def dicts(documents: Iterable[Document]) -> Iterator[Document]:
    """The documents of an ingest one by one. A single one, or a list of paths, is what people write first."""
    alone = isinstance(documents, (str, bytes, Mapping))
    for d in (None,) if alone else documents:
        if not isinstance(d, Mapping):
            raise ForageError("bad_field", "documents are a list of dicts, such as [{'path': 'a.pdf'}, {'text': 'Herons eat fish.'}]",
                              "documents")
        yield d


class Stream(Iterator[Event]):
    """Events as they come. close() ends the call, from any thread; so does leaving a `with`, or the garbage's
    collection."""

    def __init__(self, take: Callable[[], Optional[Event]], stop: Callable[[], None],
                 join: Optional[Callable[[], None]] = None) -> None:
        self._take, self._stop, self._join = take, stop, join

    def __next__(self) -> Event:
        event = self._take()
        if event is None:
            raise StopIteration
        return event

    def close(self) -> None:
        self._stop()
        if self._join:
            self._join()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self._stop()  # the collector may come while this thread holds a lock that the call waits for: not joined


class Client(ABC):
    """Any thread may call it, also at the same time. Each call has a twin for asyncio, named with an a before it:
    `await f.aquery(...)`; that of a home's sync is async_sync. Where a task that asks or generates is cancelled, so is
    the call."""

    # ---- what a home and a service do each in their way

    @abstractmethod
    def search(self, query: str, **options: Any) -> Reply:
        """Passages for a query: POST /search."""

    @abstractmethod
    def stream(self, query: Optional[str] = None, **options: Any) -> Stream:
        """As query, event by event."""

    @abstractmethod
    def stream_text(self, prompt: Optional[str] = None, **options: Any) -> Stream:
        """As generate, event by event."""

    @abstractmethod
    def ingest(self, documents: Iterable[Document], **options: Any) -> Reply:
        """Durable and findable when it returns; one bad document fails alone, and its row of "results" says why."""

    @abstractmethod
    def get(self, id: str, **options: Any) -> Reply:
        """A document."""

    @abstractmethod
    def page(self, **options: Any) -> Reply:
        """A page of documents: {"data", "has_more", "last_id"}."""

    @abstractmethod
    def delete(self, id: Optional[str] = None, **options: Any) -> Reply:
        """One document, or all that filter= or q= matches."""

    @abstractmethod
    def collections(self) -> List[Reply]:
        """All collections."""

    @abstractmethod
    def delete_collection(self, name: str) -> None:
        """A collection and all of its documents."""

    @abstractmethod
    def embed(self, texts: Sequence[str], query: bool = False) -> List[List[float]]:
        """Vectors of unit length, of passages or of questions."""

    @abstractmethod
    def close(self) -> None:
        """Lets the home go; nothing else may be called then."""

    # ---- what follows from it

    def query(self, query: Optional[str] = None, **options: Any) -> Reply:
        """A verified answer with citations: POST /query. messages= are the turns before."""
        return _last(self.stream(query, **options))

    def generate(self, prompt: Optional[str] = None, **options: Any) -> Reply:
        """Text of the language model alone: nothing of it is verified."""
        return _last(self.stream_text(prompt, **options))

    def documents(self, **options: Any) -> Iterator[Reply]:
        """All documents, page by page."""
        after = options.pop("after", None)
        while True:
            page = self.page(**options, **({"after": after} if after else {}))
            yield from page["data"]
            after = page["last_id"]
            if not page["has_more"]:
                return

    def __enter__(self: C) -> C:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()

    # ---- asyncio

    def astream(self, query: Optional[str] = None, **options: Any) -> AsyncIterator[Event]:
        return _events(lambda: self.stream(query, **options))

    def astream_text(self, prompt: Optional[str] = None, **options: Any) -> AsyncIterator[Event]:
        return _events(lambda: self.stream_text(prompt, **options))

    async def aquery(self, query: Optional[str] = None, **options: Any) -> Reply:
        return await _alast(self.astream(query, **options))

    async def agenerate(self, prompt: Optional[str] = None, **options: Any) -> Reply:
        return await _alast(self.astream_text(prompt, **options))

    async def asearch(self, query: str, **options: Any) -> Reply:
        return await _in_thread(lambda: self.search(query, **options))

    async def aingest(self, documents: Iterable[Document], **options: Any) -> Reply:
        return await _in_thread(lambda: self.ingest(documents, **options))

    async def aget(self, id: str, **options: Any) -> Reply:
        return await _in_thread(lambda: self.get(id, **options))

    async def apage(self, **options: Any) -> Reply:
        return await _in_thread(lambda: self.page(**options))

    async def adelete(self, id: Optional[str] = None, **options: Any) -> Reply:
        return await _in_thread(lambda: self.delete(id, **options))

    async def acollections(self) -> List[Reply]:
        return await _in_thread(self.collections)

    async def adelete_collection(self, name: str) -> None:
        await _in_thread(lambda: self.delete_collection(name))

    async def adocuments(self, **options: Any) -> AsyncIterator[Reply]:
        after = options.pop("after", None)
        while True:
            page = await self.apage(**options, **({"after": after} if after else {}))
            for d in page["data"]:
                yield d
            after = page["last_id"]
            if not page["has_more"]:
                return

    async def aembed(self, texts: Sequence[str], query: bool = False) -> List[List[float]]:
        return await _in_thread(lambda: self.embed(texts, query))


def _last(stream: Stream) -> Reply:
    reply: Reply = {}
    with stream:
        for event in stream:
            reply = event.data
    return reply


async def _alast(events: AsyncIterator[Event]) -> Reply:
    reply: Reply = {}
    async for event in events:
        reply = event.data
    return reply


async def _in_thread(call: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(None, call)


async def _events(begin: Callable[[], Stream]) -> AsyncIterator[Event]:
    """A thread waits for the events; whoever stops listening ends the call."""
    loop = asyncio.get_running_loop()
    queue: "asyncio.Queue[Union[Event, BaseException, None]]" = asyncio.Queue()
    stream = await _in_thread(begin)

    def hand_over(item: Union[Event, BaseException, None]) -> None:
        try:
            loop.call_soon_threadsafe(queue.put_nowait, item)
        except RuntimeError:  # the loop is closed: nobody listens
            stream.close()

    def pump() -> None:
        try:
            for event in stream:
                hand_over(event)
            hand_over(None)
        except BaseException as e:  # goes to who listens
            hand_over(e)

    done = loop.run_in_executor(None, pump)
    try:
        while True:
            item = await queue.get()
            if item is None:
                break
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        stream.close()
        await asyncio.shield(done)
