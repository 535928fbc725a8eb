"""laid_out_measure.py FORAGE DOCUMENTS FOLDER - how Forage answers questions about laid-out documents, each asked of its own.

DOCUMENTS  questions/held_out_laid_out_documents.jsonl beside this folder, or another file like it
FOLDER     to work in; a home with a collection for each document is made there, and answers.jsonl is written

Right is an answer that holds one of the quoted pieces, or is most of one. A row may be said with the names of its columns between
its cells, so there a piece of three words or more need only stand in one line of the answer in its order."""
import collections
import json
import os
import re
import subprocess
import sys
import time
import urllib.request

from laid_out import main as write_files
from pairs import plain_words

ADDRESS = "127.0.0.1:8277"


def ask(question, collection):
    body = json.dumps({"query": question, "collection": collection, "cache": "bypass"}).encode()
    request = urllib.request.Request(f"http://{ADDRESS}/query", body, {"Content-Type": "application/json"})
    return json.load(urllib.request.urlopen(request))


def pieces_of(quote):
    """A row of a table is as good without its bars, and by its last cell."""
    cells = [c for c in quote.split("|") if c.strip()] if quote.strip().startswith("|") else []
    return [plain_words(quote)] + ([plain_words(cells[-1])] if len(cells) > 1 else [])


def is_said_in_order(piece, line):
    words, said = piece.split(), iter(line.split())
    return len(words) > 2 and all(w in said for w in words)


def judged(reply, quotes):
    if reply["status"] != "answered":
        return "refused"
    said = plain_words(" ".join(p for p in reply["answer"].split() if not p.startswith("[")))
    rows = [plain_words(line) for line in re.split(r"\n|\[\d+\]", reply["answer"]) if "; " in line]
    held = any(p and (p in said or any(is_said_in_order(p, r) for r in rows)) for q in quotes for p in pieces_of(q))
    return "right" if held or any(len(said) > 8 and said in plain_words(q) for q in quotes) else "wrong"


def main(forage, documents, folder):
    with open(documents, encoding="utf8") as f:
        known = [json.loads(line) for line in f]
    home = folder + "/home"
    if not os.path.exists(home):
        write_files(documents, folder + "/files")
        for d in known:
            subprocess.run([forage, "ingest", "--home", home, "--collection", d["name"].replace(".", "-"), "--base",
                            folder + "/files", f"{folder}/files/{d['name']}"], check=True, stdout=subprocess.DEVNULL)
    served = subprocess.Popen([forage, "serve", "--home", home, "--listen", ADDRESS, "--log-level", "error"])
    count = collections.Counter()
    try:
        time.sleep(2)
        with open(folder + "/answers.jsonl", "w", encoding="utf8") as out:
            for d in known:
                for question, quotes in d["questions"]:
                    reply = ask(question, d["name"].replace(".", "-"))
                    verdict = judged(reply, quotes)
                    count["answered by it" if quotes else "not", verdict] += 1
                    out.write(json.dumps({"document": d["name"], "question": question, "verdict": verdict, "quotes": quotes,
                                          "answer": reply["answer"], "support": reply.get("support")}) + "\n")
    finally:
        served.terminate()
    n = sum(v for (kind, _), v in count.items() if kind != "not")
    print(f"{n} that the document answers: right {count['answered by it', 'right'] / n:.3f}, "
          f"wrong {count['answered by it', 'wrong'] / n:.3f}, refused {count['answered by it', 'refused'] / n:.3f}; "
          f"of {sum(count.values()) - n} that it does not answer refused {count['not', 'refused'] / (sum(count.values()) - n):.3f}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
