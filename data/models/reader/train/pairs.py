"""pairs.py HOME TLDR SKIP SQUAD URL ENCODER OUT - questions with the units that answer them.

HOME   a home into which Forage has taken manual pages (files named .../share/man/...)
TLDR   a folder of tldr pages: common/*.md and linux/*.md
SKIP   a file of commands that are left out, one a line: tests/quality/manual_pages.txt
SQUAD  the folder of SQuAD 1.1 as tests/bench/quality.sh knows it (queries.jsonl, qrels.tsv)
URL    a running service that holds its corpus in the collection `squad` (http://127.0.0.1:8080)
ENCODER the folder of all-MiniLM-L6-v2, for vocab.txt
OUT    the file to write

Of every example of a tldr page, a task in somebody's words and a command line, the options of the
command line are looked for in the manual page: the units that describe them answer "How do I TASK
with COMMAND?". Examples without options, or with ones that the page does not describe, teach only
which page it is. SQuAD's questions are answered by the sentences of the gold paragraph that hold a
gold answer. A tenth of the commands and a third of SQuAD's articles are held out."""
import collections
import json
import os
import pickle
import random
import re
import sqlite3
import string
import sys
import urllib.request

from wordpiece import WordPiece

OPTION = re.compile(r"^-{1,2}[A-Za-z0-9?@]")
NAMED = re.compile(r"(?<![\w-])(--?[A-Za-z0-9][\w-]*)")
SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(\[])")


# ---- manual pages --------------------------------------------------------------------------

def is_option(line):
    return bool(OPTION.match(line.strip())) and len(line) < 100


def units_of(text):
    """[(start, end, options named)]: options with what is said of them, sentences of all else."""
    lines, at, out, i = [], 0, [], 0
    for line in text.split("\n"):
        lines.append((at, line))
        at += len(line) + 1

    def body(j):
        while j < len(lines) and lines[j][1].strip() and not is_option(lines[j][1]):
            j += 1
        return j

    while i < len(lines):
        start, line = lines[i]
        if not line.strip():
            i += 1
        elif is_option(line):
            tags = i + 1
            while tags < len(lines) and is_option(lines[tags][1]):
                tags += 1
            j = body(tags)
            if j == tags:  # what is said of it stands behind an empty line
                k = j
                while k < len(lines) and not lines[k][1].strip():
                    k += 1
                if k < len(lines) and not is_option(lines[k][1]) and len(lines[k][1]) > 20:
                    j = body(k)
            names = set(NAMED.findall(" ".join(l.strip() for _, l in lines[i:tags])))
            out.append((start, lines[j - 1][0] + len(lines[j - 1][1]), names))
            i = j
        else:
            j = body(i + 1)
            text_of = text[start:lines[j - 1][0] + len(lines[j - 1][1])]
            cuts = [0] + [m.end() for m in re.finditer(r"[.!?][\"')\]]*\s+(?=[A-Z`\"'(])", text_of)]
            for a, b in zip(cuts, cuts[1:] + [len(text_of)]):
                if b - a > 15:
                    out.append((start + a, start + b, set()))
            i = j
    return out


def read_home(home):
    """{file name: (title, [(text, heading)])}"""
    db = sqlite3.connect(f"file:{home}/forage.db?mode=ro", uri=True)
    texts, chunks = collections.defaultdict(bytes), collections.defaultdict(list)
    for i, data in db.execute("SELECT id, bytes FROM texts ORDER BY id"):
        texts[i // 65536] += bytes(data)
    spans = "SELECT document, start, stop, heading_start, heading_stop FROM chunks ORDER BY document, ordinal"
    for d, a, b, ha, hb in db.execute(spans):
        chunks[d].append((texts[d][a:b].decode("utf8", "replace"), texts[d][ha:hb].decode("utf8", "replace")))
    rows = db.execute("SELECT id, name, title FROM documents")
    return {name.split("share/man/")[-1]: (title or "", chunks[i]) for i, name, title in rows if chunks[i]}


def by_command(pages):
    """{command: name of its page}, of section 1 before 8, 6 and 5"""
    out = {}
    for name in sorted(pages, key=lambda n: "1865".find(n[3:4])):
        m = re.fullmatch(r"man([1568])/(.+)\.\1[a-z]*(\.gz)?", name)
        if m:
            out.setdefault(m[2], name)
    return out


# ---- tldr pages ----------------------------------------------------------------------------

def examples_of(path):
    task = None
    with open(path, encoding="utf8") as f:
        for line in map(str.strip, f):
            if line.startswith("- ") and line.endswith(":"):
                task = line[2:-1]
            elif line.startswith("`") and line.endswith("`") and task:
                yield task, line[1:-1]
                task = None


def options_in(command, line):
    line = re.sub(r"\{\{\[([^\]]*)\]\}\}", lambda m: " " + m[1].replace("|", " ") + " ", line)
    out = set(re.findall(r"(?<![\w/-])(--?[A-Za-z0-9][\w-]*)", line))
    for o in list(out):
        if re.fullmatch(r"-[A-Za-z]{2,4}", o):
            out |= {"-" + c for c in o[1:]}
    bundled = re.match(command + r"\s+([a-zA-Z]{1,5})\s", line + " ") if command in ("tar", "ar", "ps") else None
    return out | ({"-" + c for c in bundled[1]} if bundled else set())


def in_small(task):
    task = re.sub(r"\[(\w)\]", r"\1", task).replace("`", "")
    task = re.sub(r"\s*\(.*?(press|see also|note).*?\)", "", task, flags=re.I).strip().rstrip(".")
    return task[0].lower() + task[1:] if len(task) > 1 and not task[1].isupper() else task


def wordings(task, command):
    named = [f"How do I {task} with {command}?", f"How can I {task} using {command}?",
             f"Which {command} option is there to {task}?", f"{command} {task}", f"How do I make {command} {task}?"]
    return named, [f"How do I {task}?", f"how to {task}", f"How can I {task}?"]


# ---- both together -------------------------------------------------------------------------

class Pairs:
    def __init__(self, encoder):
        self.split = WordPiece(encoder + "/vocab.txt")
        self.passages, self.questions = [], []

    def add_passage(self, text, title, spans, document):
        ids, places = self.split(text)
        units = []
        for a, b in spans:
            tokens = [k for k, (x, _) in enumerate(places) if a <= x < b]
            units.append((tokens[0], tokens[-1] + 1) if tokens else (0, 0))
        self.passages.append({"ids": ids or [100], "title": self.split(title, 48)[0] if title else [],
                              "units": units or [(0, max(1, len(ids)))], "document": document})
        return len(self.passages) - 1

    def add_question(self, texts, gold, gold_passages, near, held_out, kind):
        gold = [(p, u) for p, u in gold if self.passages[p]["units"][u][1] > 0]
        self.questions.append({"ids": [self.split(t, 48)[0] for t in texts], "gold": gold, "kind": kind,
                               "gold_passages": gold_passages, "near": near, "held_out": held_out})

    def add_command(self, command, name, page, examples, held_out):
        title, chunks = page
        units = [units_of(text) for text, _ in chunks]
        at = [self.add_passage(text, f"{title} {heading}".strip(), [(a, b) for a, b, _ in u], name)
              for (text, heading), u in zip(chunks, units)]
        count = collections.Counter(o for _, line in examples for o in options_in(command, line))
        for task, line in examples:
            options = options_in(command, line)  # those of every example tell nothing of this one
            options = {o for o in options if count[o] <= max(2, len(examples) / 2)} or options
            gold = [(at[c], u) for c, us in enumerate(units) for u, (_, _, names) in enumerate(us) if names & options]
            named, plain = wordings(in_small(task), command)
            if gold and len(gold) <= 6:
                golden = sorted({p for p, _ in gold})
                self.add_question(named + plain[:2], gold, golden, [p for p in at if p not in golden], held_out, "option")
            else:
                self.add_question(2 * plain + named[:1], [], at[:1], [], held_out, "page")

    def add_manual(self, home, tldr, skip):
        pages = read_home(home)
        commands = {f[:-3]: f"{tldr}/{d}/{f}" for d in ("linux", "common") for f in sorted(os.listdir(f"{tldr}/{d}"))}
        page = by_command(pages)
        kept = [(c, page[c]) for c in sorted(commands) if c in page and c not in skip]
        held_out = set(random.sample([c for c, _ in kept], len(kept) // 10))
        for c, name in kept:
            self.add_command(c, name, pages[name], list(examples_of(commands[c])), c in held_out)

    def add_squad(self, folder, url):
        gold_of = {}
        with open(folder + "/qrels.tsv", encoding="utf8") as f:
            for fields in map(str.split, f):
                gold_of.setdefault(fields[0], fields[-2])
        with open(folder + "/queries.jsonl", encoding="utf8") as f:
            questions = [json.loads(line) for line in f]
        articles = sorted({g.split("#")[0] for g in gold_of.values()})
        trained = set(random.sample(articles, 2 * len(articles) // 3))
        known = {}
        for q in questions:
            body = json.dumps({"query": q["text"], "collection": "squad", "top_k": 12}).encode()
            ask = urllib.request.Request(url + "/search", body, {"Content-Type": "application/json"})
            found = json.load(urllib.request.urlopen(ask))["contexts"]
            gold, golden, near = [], [], []
            for r in found:
                cuts = [0] + [m.end() for m in SENTENCE.finditer(r["text"])]
                spans = list(zip(cuts, cuts[1:] + [len(r["text"])]))
                key = r["chunk_id"]
                if key not in known:
                    known[key] = self.add_passage(r["text"], r.get("title", ""), spans, r["document_id"].split("#")[0])
                if r["document_id"] != gold_of[q["id"]]:
                    near.append(known[key])
                    continue
                golden.append(known[key])
                for u, (a, b) in enumerate(spans):
                    said = f" {plain_words(r['text'][a:b])} "
                    if any(f" {plain_words(answer)} " in said for answer in q["answers"]):
                        gold.append((known[key], u))
            if gold:
                held_out = gold_of[q["id"]].split("#")[0] not in trained
                self.add_question([q["text"]], gold, golden, near, held_out, "squad")


def plain_words(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def main(home, tldr, skip, squad, url, encoder, out):
    random.seed(3)
    pairs = Pairs(encoder)
    with open(skip, encoding="utf8") as f:
        pairs.add_manual(home, tldr, set(map(str.strip, f)))
    pairs.add_squad(squad, url)
    count = collections.Counter((q["kind"], "held out" if q["held_out"] else "trained on") for q in pairs.questions)
    print(len(pairs.passages), "passages;", dict(count))
    with open(out, "wb") as f:
        pickle.dump({"passages": pairs.passages, "questions": pairs.questions}, f)


if __name__ == "__main__":
    if len(sys.argv) != 8:
        sys.exit(__doc__)
    main(*sys.argv[1:])
