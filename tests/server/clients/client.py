"""The Python package against a place (a home's folder or a service's URL): calls, streams, errors, asyncio, threads."""

import asyncio
import json
import os
import sys
import tempfile
import threading

import forage
from forage._service import Service

PLACE, WITH_MODEL = sys.argv[1], len(sys.argv) > 2
QUESTION = "How often is the north pump serviced?"


def refused(call, code, param=None):
    try:
        call()
    except forage.ForageError as e:
        assert e.code == code and (param is None or e.param == param) and e.message, (e.code, e.param, e)
        return e
    raise AssertionError(f"{code} was expected")


def documents(f):
    given = [{"id": "kb-1", "text": "The north pump is serviced every 400 hours.", "title": "Pumps", "metadata": {"year": 2026}},
             {"path": "/none/such.txt"},
             {"bytes": b"<title>Boats</title><p>The Grebe carries four people.</p>", "id": "b\u00f6ats/1", "file_name": 'a"b.html',
              "metadata": {"kind": "boat"}},
             {"path": os.path.abspath(__file__), "id": "me", "uri": "here"},
             {"text": "Nothing else."}]
    reply = f.ingest(given, chunking={"max_tokens": 64, "overlap": 8})
    assert [r["status"] for r in reply["results"]] == ["created", "failed", "created", "created", "created"], reply
    assert f.ingest(given[:1], chunking={"max_tokens": 64, "overlap": 8})["results"][0]["status"] == "unchanged"
    assert f.get("b\u00f6ats/1")["title"] == "Boats"
    assert f.get("kb-1", text=False)["metadata"] == {"year": 2026} and "text" not in f.get("kb-1", text=False)
    assert {d["id"] for d in f.documents(limit=2)} >= {"kb-1", "b\u00f6ats/1", "me"} and len(list(f.documents(limit=1))) == 4
    assert len(f.page(filter={"type": "eq", "key": "kind", "value": "boat"})["data"]) == 1
    refused(lambda: f.ingest([{"text": "a", "path": "b"}]), "bad_field")
    refused(lambda: f.ingest([{"text": "a", "colour": "red"}]), "bad_field")
    refused(lambda: f.ingest([{"bytes": b"a"}], langage="german"), "bad_field", "langage")
    last_failed = f.ingest([given[4], {"path": "/none/such.txt"}])
    assert last_failed["epoch"] > 0 and last_failed["results"][1]["status"] == "failed", last_failed


def what_is_no_list_of_documents(f):
    for wrong in ("a.pdf", b"a.pdf", ["a.pdf"], {"text": "a"}, [{"text": "a"}, None]):
        assert "list of dicts" in refused(lambda: f.ingest(wrong), "bad_field", "documents").message


def places_that_look_like_addresses():
    """A typing error makes no home."""
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for wrong in ("127.0.0.1:9", "localhost:8080/", "[::1]:9", "http//127.0.0.1:9", "http:/127.0.0.1", "ftp://a"):
            assert "http://" in refused(lambda: forage.open(wrong), "bad_field", "place").message
        assert os.listdir() == []
        os.chdir(here)
    refused(lambda: forage.open("http://127.0.0.1:x"), "bad_field", "url")
    assert "127.0.0.1:9 " in refused(lambda: forage.open("HTTP://me:secret@127.0.0.1:9").query("x"), "io").message


def odd_documents(f):
    """What is wrong with one document is in its row, and the others go in; what is wrong with the call ends it."""
    def statuses(documents, **options):
        reply = f.ingest(documents, collection="odd", **options)
        assert all(r["status"] != "failed" or r["error"]["message"] for r in reply["results"]), reply
        return [r["status"] for r in reply["results"]]

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, os.fsdecode(b"caf\xe9.txt"))
        with open(path, "w") as file:
            file.write("Coffee is served at the weir.")
        given = [{"path": path}, {"path": path, "id": "latin", "uri": "latin"}, {"path": path[:-1]}, {"text": "a", "id": "a"}]
        assert statuses(given) == ["failed", "created", "failed", "created"]
        reply = f.ingest([{"path": path}], collection="odd")
        json.dumps(reply, ensure_ascii=False).encode()
        assert "UTF-8" in reply["results"][0]["error"]["message"], reply
        reply = f.ingest([{"path": path[:-1]}, {"path": path[:-1], "id": "gone"}], collection="odd")
        for row, name in zip(reply["results"], (path[:-1].encode("utf-8", "surrogateescape").decode("utf-8", "replace"), "gone")):
            assert row["id"] == name and row["chunks"] == 0 and row["content_sha256"] is None, row
    half = "half of a pair: \ud83d"
    given = [{"text": "p", "id": "p"}, {"text": "q", "title": half, "id": "q"}, {"text": "r", "id": "r"},
             {"bytes": b"s", "type": "text/plain; charset=\udc80", "id": "s"}, {"text": "u", "metadata": {"a": [half]}, "id": "u"},
             {"text": "w", "id": "w"}]
    assert statuses(given) == ["created", "failed", "created", "failed", "failed", "created"]
    if "://" in PLACE:
        reply = f.ingest([*given, {"bytes": b"v", "uri": half, "file_name": half}], collection="odd")
        json.dumps(reply, ensure_ascii=False).encode()
        failed = [(r["id"], r["chunks"], r["error"]["code"], r["error"]["param"]) for r in reply["results"] if r["status"] == "failed"]
        assert failed == [("q", 0, "bad_field", "title"), ("s", 0, "bad_field", "type"), ("u", 0, "bad_field", "metadata"),
                          ("half of a pair: \ufffd", 0, "bad_field", "uri")], failed
    wrong = {"metadata": {"n": 2 ** 60 + 1}}
    assert statuses([{"bytes": b"b", **wrong}, {"text": "c", **wrong}, {"text": "d", "title": "x" * 5000},
                     {"bytes": b"e", "id": "e", "file_name": "e.txt"}]) == ["failed", "failed", "failed", "created"]
    for wait in (False, True):
        refused(lambda: f.ingest([{"text": "f"}, {"bytes": b"g"}], wait=wait), "bad_field", "wait")
    refused(lambda: f.ingest([{"bytes": b"h"}], chunking={"max_tokens": 1}), "bad_field")
    refused(lambda: f.ingest([{"bytes": b"h"}], collection="a/b"), "bad_field", "collection")
    if "://" in PLACE:  # --max-body 2M
        far_too_large = {"bytes": b"<p>" + b"y" * (80 << 20), "id": "n", "file_name": "n.html"}  # it is not read to its end
        assert statuses([far_too_large, {"bytes": b"o", "id": "o", "file_name": "o.txt"}]) == ["failed", "created"]
        large = "y" * (3 << 20)
        assert statuses([{"text": "i", "id": "i"}, {"bytes": b"<p>" + large.encode(), "id": "j", "file_name": "j.html"},
                         {"text": "k", "id": "k"}, {"text": large, "id": "l"}, {"text": "m", "id": "m"}]) == ["created", "failed", "created", "failed", "created"]


def questions(f):
    reply = f.query(QUESTION, filter={"type": "gte", "key": "year", "value": 2024})
    assert reply["status"] == "answered" and "400 hours" in reply["answer"]
    c = reply["citations"][0]
    assert c["verified"] and c["source"]["document_id"] == "kb-1"
    assert f.get("kb-1")["text"][c["source"]["start"]:c["source"]["end"]] == c["quote"]
    turns = [{"role": "user", "content": QUESTION}]
    assert "400 hours" in f.query(messages=turns)["answer"]
    assert f.search("pump", top_k=1)["contexts"][0]["document_id"] == "kb-1"
    with f.stream(QUESTION) as stream:
        events = list(stream)
    assert [e.name for e in events][0] == "contexts" and events[-1].name == "done"
    assert "".join(e.data["text"] for e in events if e.name == "token") == events[-1].data["answer"]
    stream = f.stream(QUESTION, cache="bypass")
    next(stream)
    stream.close()
    list(stream)  # what was on its way comes still, and then the end
    assert "400" in f.query(QUESTION)["answer"]
    refused(lambda: f.query(QUESTION, top_q=1), "bad_field", "top_q")
    refused(lambda: f.query(QUESTION, collection="none"), "not_found", "collection")
    refused(lambda: f.get("none"), "not_found")
    if not WITH_MODEL:
        refused(lambda: f.generate("Tell a story."), "unsupported" if "://" not in PLACE else "model_not_found")
    a, b = f.embed(["a boat", "a weir"])
    assert len(a) == len(b) and abs(sum(x * x for x in a) - 1) < 1e-3 and f.embed([]) == []
    assert f.embed(["a boat"], query=True)[0] == a


async def asynchronous(f):
    names = [e.name async for e in f.astream(QUESTION)]
    assert names[-1] == "done" and "token" in names
    replies = await asyncio.gather(*(f.aquery(QUESTION) for _ in range(8)), f.asearch("pump"), f.aget("kb-1"))
    assert all("400 hours" in r["answer"] for r in replies[:8]) and replies[9]["title"] == "Pumps"
    ids = [d["id"] async for d in f.adocuments(collection="odd", limit=1)]
    assert ids == [d["id"] for d in f.documents(collection="odd")] and "latin" in ids, ids
    await f.adelete_collection("odd")
    assert [c["name"] for c in await f.acollections()] == ["default"]
    if "://" not in PLACE:
        assert (await f.ainfo())["version"] == f.info()["version"]
        with tempfile.TemporaryDirectory() as folder:
            assert (await f.async_sync("none", folder, dry_run=True))["created"] == 0
    async for _ in f.astream(QUESTION, cache="bypass"):
        break  # who stops listening ends the call
    try:
        await f.aquery(QUESTION, top_q=1)
        raise AssertionError("it was not refused")
    except forage.ForageError as e:
        assert e.param == "top_q"
    if WITH_MODEL:
        task = asyncio.ensure_future(f.agenerate("Tell a long story.", max_tokens=1000))
        await asyncio.sleep(1)
        task.cancel()
        try:
            await asyncio.wait_for(task, 30)
        except asyncio.CancelledError:
            pass
        text = [e.data["text"] async for e in f.astream_text("Say hello.", max_tokens=8) if e.name == "token"]
        assert text and "".join(text)


def crowd(f):
    right = []
    threads = [threading.Thread(target=lambda: right.append("400" in f.query(QUESTION, cache="bypass")["answer"])) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert right == [True] * 6


async def given_up(f, ended):
    """asyncio gives the waiting up, and its threads go on inside the library."""
    def kept(call):
        try:
            ended.append(call())
        except forage.ForageError as e:
            ended.append(e.code)

    many = [{"id": str(i), "text": "The north pump is serviced every 400 hours. " * 200} for i in range(2000)]
    calls = [lambda: len(f.embed(["The north pump is serviced every 400 hours. " * 20] * 20000)), lambda: f.ingest(many)]
    loop = asyncio.get_running_loop()
    threads = [loop.run_in_executor(None, kept, call) for call in calls]
    try:
        await asyncio.wait_for(asyncio.gather(*threads), 0.5)
        raise AssertionError("there was too little to do")
    except asyncio.TimeoutError:
        pass
    f.close()
    deadline = loop.time() + 30
    while len(ended) < 2 and loop.time() < deadline:
        await asyncio.sleep(0.01)


def closing_waits_for_calls():
    with tempfile.TemporaryDirectory() as folder:
        f, ended = forage.open(os.path.join(folder, "home")), []
        f.ingest([{"id": "kb-1", "text": "The north pump is serviced every 400 hours."}])
        stream = f.stream(QUESTION, cache="bypass")
        next(stream)
        asyncio.run(given_up(f, ended))
        assert set(ended) <= {20000, "cancelled", "bad_request"}, ended  # the last where a thread had yet to begin
        f.close()
        refused(f.info, "bad_request")
        refused(lambda: f.query(QUESTION), "bad_request")
        stream.close()
        with forage.open(os.path.join(folder, "home")) as again:
            assert again.get("kb-1")["id"] == "kb-1"


def requests_are_bounded():
    """Many texts, or long ones, go in several requests; one that is larger than all goes alone."""
    class Counted(Service):
        bodies = []

        def _call(self, method, path, arguments=None, body=None, type="application/json"):
            self.bodies.append(len(json.dumps(body)))
            return {"epoch": len(self.bodies), "results": [{"id": d["id"]} for d in body["documents"]]}

    for n, text, requests in ((1000, "x" * 70000, 9), (2001, "x", 3), (2, "\u20ac" * (2 << 20), 2)):
        Counted.bodies = []
        reply = Counted("http://127.0.0.1:9").ingest({"id": str(i), "text": text} for i in range(n))
        assert [r["id"] for r in reply["results"]] == [str(i) for i in range(n)] and reply["epoch"] == requests, reply["epoch"]
        assert len(Counted.bodies) == requests and max(Counted.bodies) < 16 << 20, Counted.bodies


requests_are_bounded()
places_that_look_like_addresses()
if "://" not in PLACE:
    closing_waits_for_calls()
with forage.open(PLACE, **({"model": sys.argv[2], "kv_ram": 64 << 20} if WITH_MODEL and "://" not in PLACE else {})) as f:
    documents(f)
    odd_documents(f)
    what_is_no_list_of_documents(f)
    questions(f)
    asyncio.run(asynchronous(f))
    crowd(f)
    if WITH_MODEL:
        reply = f.generate("Say hello.", max_tokens=6, schema={"enum": ["hello"]})
        assert reply["text"].strip() == '"hello"' and reply["usage"]["completion_tokens"] >= 1, reply
    assert f.delete(filter={"type": "eq", "key": "kind", "value": "boat"}, dry_run=True)["matched"] == 1
    assert f.delete("kb-1")["deleted"]
    refused(lambda: f.get("kb-1"), "not_found")
    f.delete_collection("default")
    assert f.collections() == []
    if "://" not in PLACE:
        refused(lambda: forage.open(PLACE), "busy")
        refused(lambda: f.query("a\0b"), "bad_field", "query")
        assert f.info()["version"]
refused(lambda: forage.open("http://127.0.0.1:9").query("x"), "io")
