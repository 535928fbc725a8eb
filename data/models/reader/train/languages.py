"""languages.py OUT LANGUAGE:FILE... [-OTHERS...] - people's questions in other languages than English, from files in SQuAD's form (.json or
.json.gz): PIAF 1.0 (French), CMRC 2018's dev set (Chinese), ARCD (Arabic). Nothing that is made of SQuAD's dev set, which others measure by.

A paragraph of at most QUESTIONS questions a line. Those whose text stands in one of OTHERS (corpus.jsonl: {"text"}) are left out, so
that a measure over these is of text that was not learnt from; a tenth is held out besides, by the SHA-256 of its text."""
import gzip
import hashlib
import json
import random
import sys

QUESTIONS = 6


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return json.load(f)["data"]


def spans_of(text, q):
    """Where an answer stands, told by the text where the offset is wrong"""
    out = []
    for a in q.get("answers", []):
        words, at = a["text"].strip(), int(a["answer_start"])
        if words and text[at:at + len(words)] != words:
            at = text.find(words)
        if words and at >= 0:
            out.append([at, at + len(words)])
    return out


def main(out, *files):
    random.seed(5)
    left_out = set()
    for path in (f[1:] for f in files if f.startswith("-")):
        with open(path, encoding="utf8") as f:
            left_out |= {json.loads(line)["text"] for line in f}
    with open(out, "w", encoding="utf8") as f:
        for language, path in (x.split(":", 1) for x in files if not x.startswith("-")):
            for article in load(path):
                for p in article["paragraphs"]:
                    text, asked = p["context"], []
                    for q in random.sample(p["qas"], min(QUESTIONS, len(p["qas"]))):
                        spans = spans_of(text, q)
                        if spans or q.get("is_impossible"):
                            asked.append([q["question"].strip(), spans])
                    if asked and text not in left_out:
                        held_out = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 10 == 0
                        f.write(json.dumps({"language": language, "title": article.get("title", "").replace("_", " "), "text": text,
                                            "held_out": held_out, "questions": asked}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
