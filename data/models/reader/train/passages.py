"""passages.py OUT XQUAD CLAPNQ... - people's questions about passages of Wikipedia, in the form of questions/own_documents.jsonl.

XQUAD  xquad.en.json (CC-BY-SA-4.0): paragraphs with questions and the words that answer
CLAPNQ files of CLAPNQ (Apache-2.0): questions that people gave a search engine, with the sentences that answer, or none"""
import json
import re
import sys

from pairs import SENTENCE

JOINED = (r" ([,.;:?!%)\]])", r"\1"), (r"([(\[]) ", r"\1"), (r"`` | ''|''", '"'), (r" ('s|'re|n't)\b", r"\1"), (r" - ", "-"), (r" -- ", " – ")


def plain(text):
    """As it was before it was cut into tokens"""
    for form, by in JOINED:
        text = re.sub(form, by, text)
    return text.strip()


def xquad(path):
    with open(path, encoding="utf8") as f:
        articles = json.load(f)["data"]
    for article in articles:
        for n, p in enumerate(article["paragraphs"]):
            text = p["context"]
            cuts = [0] + [m.end() for m in SENTENCE.finditer(text)] + [len(text)]
            units = [text[a:b].strip() for a, b in zip(cuts, cuts[1:])]
            asked = [[q["question"].strip(), [next(k for k, end in enumerate(cuts[1:]) if q["answers"][0]["answer_start"] < end)]]
                     for q in p["qas"]]
            yield {"title": article["title"].replace("_", " "), "name": f"{article['title']} {n}", "units": units, "questions": asked}


def clapnq(path):
    with open(path, encoding="utf8") as f:
        for d in map(json.loads, f):
            p = d["passages"][0]
            units = [plain(s) for s in p["sentences"] if s.strip()]
            chosen = {plain(s) for o in d["output"] for s in o.get("selected_sentences") or []}
            gold = [k for k, u in enumerate(units) if u in chosen]
            if (len(gold) > 0) == any(o.get("answer") for o in d["output"]) and len(gold) <= 5:
                yield {"title": plain(p["title"]), "name": d["id"], "units": units, "questions": [[d["input"], gold]]}


def main(out, paragraphs, *files):
    with open(out, "w", encoding="utf8") as f:
        for d in [*xquad(paragraphs), *(d for path in files for d in clapnq(path))]:
            f.write(json.dumps({**d, "separator": " "}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
