"""cross_pairs.py QUESTIONS SQUAD TLDR SKIP VOCABULARY UNIT_SPANS OUT PASSAGES KIND:FILE:HOME,... HOME... [LANGUAGES] - questions with passages, and
which units of them answer.

QUESTIONS  the folder of questions beside this one (its README says how they were made)
SQUAD      the folder of SQuAD 1.1 as tests/bench/quality.sh knows it
TLDR, SKIP as pairs.py
VOCABULARY vocab.txt of all-MiniLM-L6-v2, or the GGUF file of multilingual-e5-small
UNIT_SPANS build/tests/bench/unit_spans
OUT        the file to write
PASSAGES   the file that passages.py wrote
KIND       laid_out, papers, prose, guides, facts or tables; FILE laid_out_documents.jsonl, papers.jsonl, prose.jsonl or guides.jsonl of
           QUESTIONS, or what facts.py or tables.py wrote; HOME one into which Forage has taken the files that laid_out.py made of it
LANGUAGES  the file that languages.py wrote, if its name ends so
HOME...    homes into which Forage has taken manual pages and documentation: the questions name their
           passages by SHA-256

Held out, by the SHA-256 of their names: a tenth of the documents, a third of SQuAD's articles."""
import collections
import hashlib
import json
import os
import pickle
import random
import re
import subprocess
import sys

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer

import pairs
from unigram import Unigram
from wordpiece import WordPiece

PASSAGE, QUESTION, TITLE = 224, 48, 32  # tokens: engine/embed/reader_cross.h
CHUNKS = (90, 130, 180, 220, 220)       # tokens that documents of our own are cut to
NEAR, AMONG = 6, 30
HEADING, HEADER, STEPS = 1, 5, 6        # kinds of units: retrieval/units/units.h
NO_ANSWER = HEADING, HEADER


def is_held_out(name, one_of):
    return int(hashlib.sha256(name.encode()).hexdigest(), 16) % one_of == 0


def lines(path):
    with open(path, encoding="utf8") as f:
        return [json.loads(line) for line in f if line.strip()]


def units_by_forage(texts, unit_spans):
    """Of each text its units: (start, end, kind), in characters"""
    given = "".join(json.dumps({"text": t}) + "\n" for t in texts).encode()
    told = subprocess.run([unit_spans], input=given, capture_output=True, check=True).stdout.decode().splitlines()
    out = []
    for text, line in zip(texts, told, strict=True):
        data = text.encode()
        out.append([(len(data[:a].decode("utf8", "ignore")), len(data[:b].decode("utf8", "ignore")), kind)
                    for a, b, kind, *_ in json.loads(line)["units"]])
    return out


class Examples:
    def __init__(self, vocabulary, unit_spans):
        self.split = Unigram(vocabulary) if vocabulary.endswith(".gguf") else WordPiece(vocabulary)
        self.unit_spans = unit_spans
        self.passages, self.questions, self.texts = [], [], []

    def passage(self, title, text, spans, document, kind, heading="", lines=()):
        """lines: (start, end) of the headings in the text; heading: what it stands below at its start"""
        ids, places = self.split(text, PASSAGE)

        def token(at):
            return sum(x < at for x, _ in places)

        units = []
        for a, b in spans:
            tokens = [k for k, (x, _) in enumerate(places) if a <= x < b]
            units.append((tokens[0], tokens[-1] + 1) if tokens else (0, 0))
        headings = [(0, heading)] + [(token(b), text[a:b]) for a, b in lines]
        self.passages.append({"ids": ids, "title": self.split(title, TITLE)[0], "units": units,
                              "headings": [(at, self.split(title if h == title else f"{title} {h}", TITLE)[0])
                                           for at, h in headings],
                              "document": document, "kind": kind})
        self.texts.append(f"{title} {heading} {text}")
        return len(self.passages) - 1

    def question(self, wordings, gold, same, kind, held_out):
        """gold: {passage: units}; same: passages of the same document that do not answer."""
        gold = {p: [u for u in us if self.passages[p]["units"][u][1]] for p, us in gold.items()}
        gold = {p: us for p, us in gold.items() if us}
        self.questions.append({"ids": [self.split(t, QUESTION)[0] for t in wordings], "text": wordings[0],
                               "gold": gold, "same": same, "kind": kind, "held_out": held_out})

    # ---- documents of our own -----------------------------------------------------------------
    def chunks(self, document):
        """Lists of units, each as long as a chunk may be."""
        most, out, size = random.choice(CHUNKS), [[]], 0
        for i, unit in enumerate(document["units"]):
            n = len(self.split(unit, 400)[0])
            if out[-1] and size + n > most:
                out.append([])
                size = 0
            out[-1].append(i)
            size += n
        return out

    def own_document(self, d, kind="own"):
        name, at, mine = f"{kind}:{d.get('name', d['title'])}", {}, []
        for chunk in self.chunks(d):
            text, spans = "", []
            for i in chunk:
                spans.append((len(text), len(text) + len(d["units"][i])))
                text += d["units"][i] + d["separator"]
            mine.append(self.passage(d["title"], text, spans, name, kind))
            at.update((i, (mine[-1], k)) for k, i in enumerate(chunk))
        for text, units in d["questions"]:
            gold = collections.defaultdict(list)
            for p, u in (at[i] for i in units):
                gold[p].append(u)
            self.question(wordings(text), dict(gold), [p for p in mine if p not in gold], kind,
                          is_held_out(name, 10))

    # ---- passages of others -------------------------------------------------------------------
    def other_passages(self, path, known):
        kind, named = os.path.basename(path).split(".")[0], lines(path)
        there = [p for p in named if p["sha256"] in known]
        if len(there) < len(named):
            print(len(named) - len(there), "of", kind, "left out, since no home has them")
        told = units_by_forage([known[p["sha256"]][2] for p in there], self.unit_spans)
        for p, units in zip(there, told):
            title, heading, text = known[p["sha256"]]
            document = p["document"].split("#")[0]
            at = self.passage(title, text, p["units"], document, kind, heading,
                              [(a, b) for a, b, k in units if k == HEADING])
            for question, units in p["questions"]:
                self.question(wordings(question), {at: units} if units else {}, [] if units else [at], kind,
                              is_held_out(document, 10))

    def pages(self, path, known):
        """Questions of whole manual pages: what answers is named by the passage's number and its bytes there."""
        for d in lines(path):
            if not all(sha in known for sha in d["passages"]):
                print(d["document"], "left out, since no home has it as it was")
                continue
            there = [known[sha] for sha in d["passages"]]
            told = units_by_forage([text for _, _, text in there], self.unit_spans)
            mine = [self.passage(title, text, [(a, b) for a, b, _ in us], "laid out:" + d["document"], "commands", heading,
                                 [(a, b) for a, b, k in us if k == HEADING])
                    for (title, heading, text), us in zip(there, told)]
            for question, spans in d["questions"]:
                gold = collections.defaultdict(list)
                for i, a, b in spans:
                    gold[mine[i]] += [k for k, (x, y, kind) in enumerate(told[i])
                                      if min(b, y) - max(a, x) > (y - x) / 2 and kind not in NO_ANSWER]
                gold = {p: us for p, us in gold.items() if us}
                if not spans or gold:
                    self.question(wordings(question), gold, [p for p in mine if p not in gold], "commands",
                                  is_held_out("laid out:" + d["document"], 10))

    # ---- documents with headings, tables, lists and options --------------------------------------
    def laid_out(self, path, pages, kind):
        """The pieces that answer are quoted from the file; the units that hold them are looked for in what Forage
        made of it."""
        for d in lines(path):
            title, chunks = pages[d["name"]]
            name, mine = "laid out:" + d.get("of", d["name"]), []
            units = units_by_forage([text for text, _ in chunks], self.unit_spans)
            for (text, heading), us in zip(chunks, units):
                mine.append(self.passage(title, text, [(a, b) for a, b, _ in us], name, kind, heading,
                                         [(a, b) for a, b, k in us if k == HEADING]))
            for text, quotes in d["questions"]:
                gold = {p: us for p, us in ((p, holders(chunks[i][0], units[i], quotes)) for i, p in enumerate(mine)) if us}
                if quotes and not gold:
                    continue
                self.question(wordings(text), gold, [p for p in mine if p not in gold], kind, is_held_out(name, 10))

    # ---- in other languages ----------------------------------------------------------------------
    def languages(self, path):
        """Paragraphs with people's questions and the characters that answer, none where nothing does"""
        of = collections.defaultdict(list)
        given = lines(path)
        for d, units in zip(given, units_by_forage([d["text"] for d in given], self.unit_spans)):
            at = self.passage(d["title"], d["text"], [(a, b) for a, b, _ in units], f"{d['language']}:{d['title']}", "languages")
            of[d["language"], d["title"]].append(at)
            for text, spans in d["questions"]:
                gold = sorted({k for a, b in spans for k, (x, y, kind) in enumerate(units) if x <= a < y and kind not in NO_ANSWER})
                if gold or not spans:
                    self.question([text], {at: gold} if gold else {}, [] if gold else [at], "languages", d["held_out"])
        for q in self.questions:
            if q["kind"] == "languages" and q["gold"]:
                mine = next(iter(q["gold"]))
                q["same"] = [p for p in of[tuple(self.passages[mine]["document"].split(":", 1))] if p != mine][:12]

    def squad(self, folder):
        at, gold = {}, {}
        for d in lines(folder + "/corpus.jsonl"):
            cuts = [0] + [m.end() for m in pairs.SENTENCE.finditer(d["text"])]
            spans = list(zip(cuts, cuts[1:] + [len(d["text"])]))
            p = self.passage(d["title"], d["text"], spans, "squad:" + d["id"].split("#")[0], "squad")
            at[d["id"]] = p, d["text"], spans
        with open(folder + "/qrels.tsv", encoding="utf8") as f:
            for fields in map(str.split, f):
                gold.setdefault(fields[0], fields[-2])
        for q in lines(folder + "/queries.jsonl"):
            p, text, spans = at[gold[q["id"]]]
            answers = [f" {pairs.plain_words(a)} " for a in q["answers"]]
            units = [u for u, (a, b) in enumerate(spans)
                     if any(x in f" {pairs.plain_words(text[a:b])} " for x in answers)]
            if units:
                self.question(wordings(q["text"]), {p: units}, [], "squad",
                              is_held_out(gold[q["id"]].split("#")[0], 3))

    def tldr(self, pages, folder, skip):
        commands = {f[:-3]: f"{folder}/{d}/{f}" for d in ("linux", "common") for f in sorted(os.listdir(f"{folder}/{d}"))}
        page = pairs.by_command(pages)
        for c in sorted(commands):
            if c in page and c not in skip and len(pages[page[c]][1]) <= 120:
                self.command(c, *pages[page[c]], list(pairs.examples_of(commands[c])), folder)

    def command(self, command, title, chunks, examples, folder):
        count = collections.Counter(o for _, line in examples for o in pairs.options_in(command, line))
        units, known = [pairs.units_of(t) for t, _ in chunks], {}

        def put(i):
            if i not in known:
                known[i] = self.passage(title, chunks[i][0], [(a, b) for a, b, _ in units[i]], "man:" + command, "tldr",
                                        chunks[i][1])
            return known[i]

        english = {plain_line(line): task for task, line in examples}
        # the same in other languages than that of the page, where a reader of many languages is trained
        translated = translated_examples(folder, command, english) if isinstance(self.split, Unigram) else []
        for task, line, is_translated in [(*e, False) for e in examples] + [(*e, True) for e in translated]:
            options = pairs.options_in(command, line)
            options = {o for o in options if count[o] <= max(2, len(examples) / 2)} or options
            gold = collections.defaultdict(list)
            for i, us in enumerate(units):
                for u, (_, _, names) in enumerate(us):
                    if names & options:
                        gold[i].append(u)
            if gold and sum(map(len, gold.values())) <= 4:
                named, plain = pairs.wordings(pairs.in_small(task), command)
                if is_translated:  # what is near is told by words, which only the English task shares
                    self.question([english[plain_line(line)], f"{task} ({command})", task, f"{command}: {task}"], {put(i): us for i, us in gold.items()},
                                  [i for i in map(put, random.sample([i for i in range(len(chunks)) if i not in gold][:6], 1))]
                                  if len(gold) < len(chunks) else [], "translated", is_held_out("man:" + command, 10))
                    del self.questions[-1]["ids"][0]
                    continue
                other = [i for i in range(len(chunks)) if i not in gold]
                same = [put(i) for i in random.sample(other, min(2, len(other)))]
                self.question(named + plain[:1], {put(i): us for i, us in gold.items()}, same, "tldr",
                              is_held_out("man:" + command, 10))

    # ---- what shares the words and does not answer ----------------------------------------------
    def find_near(self):
        words = TfidfVectorizer(sublinear_tf=True, stop_words="english", max_df=.2, token_pattern=r"\w\w+")
        passages = words.fit_transform(self.texts).T.tocsc()
        asked = words.transform([q["text"] for q in self.questions])
        for first in range(0, len(self.questions), 256):
            scores = (asked[first:first + 256] @ passages).toarray()
            for q, s in zip(self.questions[first:first + 256], scores):
                best = np.argpartition(-s, AMONG)[:AMONG]
                mine = {self.passages[p]["document"] for p in list(q["gold"]) + q["same"]}
                near = [int(p) for p in best[np.argsort(-s[best])] if self.passages[p]["document"] not in mine]
                # "What is the default port?" is answered by many a manual, "show the size of a folder" by many a command
                if q["kind"] in ("laid_out", "papers", "prose", "guides", "readmes", "facts") or (
                        q["kind"] == "commands" and not names_its_command(q["text"], mine)):
                    near = [p for p in near if self.passages[p]["kind"] in ("own", "squad", "encyclopaedia")]
                elif q["kind"] == "languages":
                    near = [p for p in near if self.passages[p]["kind"] == "languages"]
                elif q["kind"] == "own":  # another document of the kind may well answer
                    other = [p for p in near if self.passages[p]["kind"] != "own"]
                    near = other[:NEAR // 2] + [p for p in near if self.passages[p]["kind"] == "own"][:NEAR // 2]
                q["near"] = near[:NEAR]


TRANSLATED = "de", "es", "fr", "it", "pt_BR", "ru", "zh", "ja", "ar", "hi", "ko", "nl", "pl", "tr"
TRANSLATIONS = 4  # of an example


def plain_line(line):
    """Without what stands for files and names, which is translated; choices of options, {{[-v|--verbose]}}, stay."""
    return re.sub(r"\{\{(?!\[)[^}]*\}\}", "{{}}", line)


def translated_examples(folder, command, english):
    """[(task, command line)] of pages.LANGUAGE beside `folder`, where the line is one of the English page"""
    out = collections.defaultdict(list)
    for language in TRANSLATED:
        for d in ("linux", "common"):
            path = f"{folder}.{language}/{d}/{command}.md"
            for task, line in pairs.examples_of(path) if os.path.exists(path) else ():
                if plain_line(line) in english:
                    out[plain_line(line)].append((task, line))
    return [e for line in sorted(out) for e in random.sample(out[line], min(TRANSLATIONS, len(out[line])))]


def names_its_command(question, documents):
    """Is one of the documents the page of a command that the question names: man1/du.1.gz?"""
    names = {d.split("/")[-1].split(".")[0] for d in documents}
    return bool(names & set(re.findall(r"[\w+.-]+", question.lower())))


def holders(text, units, quotes):
    """The units that hold one of the quotes or are most of one; the questions of an FAQ and headings answer nothing."""
    words = [f" {pairs.plain_words(text[a:b])} " for a, b, _ in units]
    kept = [q for q in quotes if not q.rstrip("* ").endswith("?")] or quotes
    held = [{k for k, w in enumerate(words) if f" {pairs.plain_words(q)} " in w} for q in kept]
    out = set()
    for q, whole in zip(kept, held):
        quote = f" {pairs.plain_words(q)} "
        parts = {k for k, w in enumerate(words) if len(w) > 8 and w in quote and units[k][2] not in NO_ANSWER}
        steps = {k for k in whole if units[k][2] == STEPS}
        for k in whole - steps:
            if units[k][2] not in NO_ANSWER:
                out.add(k)
        if not whole - steps:
            out |= parts or steps
        out |= {k for k in steps if sum(k in h for h in held) > 1}
    return sorted(out)


def wordings(q):
    out = [q, q]
    if random.random() < .5:
        out.append(q.lower())
    if q.endswith("?"):
        out.append(q[:-1])
    return out


def main(questions, squad, tldr, skip, vocabulary, unit_spans, out, passages, laid_out, *homes):
    random.seed(7)
    examples, pages, known = Examples(vocabulary, unit_spans), {}, {}
    for d in lines(squad + "/corpus.jsonl"):
        known[hashlib.sha256(d["text"].encode()).hexdigest()] = d["title"], "", d["text"]
    strange = [h for h in homes if h.endswith("languages.jsonl")]
    for home in homes:
        if home in strange:
            continue
        for name, (title, chunks) in pairs.read_home(home).items():
            pages[name] = title, chunks
            for text, heading in chunks:
                known[hashlib.sha256(text.encode()).hexdigest()] = title, heading, text
    for d in lines(questions + "/own_documents.jsonl"):
        examples.own_document(d)
    of_squad = {d["title"] for d in lines(squad + "/corpus.jsonl")}
    for d in lines(passages):
        if d["title"] not in of_squad:
            examples.own_document(d, "passages")
    for kind in ("documentation", "manual_pages", "readmes", "encyclopaedia", "statements"):
        examples.other_passages(f"{questions}/{kind}.jsonl", known)
    examples.pages(f"{questions}/commands.jsonl", known)
    for kind, path, home in (x.split(":") for x in laid_out.split(",")):
        examples.laid_out(path, pairs.read_home(home), kind)
    examples.squad(squad)
    with open(skip, encoding="utf8") as f:
        examples.tldr(pages, tldr, set(map(str.strip, f)) | {"awk", "rsync"})
    for path in strange:
        examples.languages(path)
    examples.find_near()
    count = collections.Counter((q["kind"], "held out" if q["held_out"] else "trained on",
                                 "answered" if q["gold"] else "not answered") for q in examples.questions)
    print(len(examples.passages), "passages;", dict(count))
    with open(out, "wb") as f:
        pickle.dump({"passages": examples.passages, "questions": examples.questions, "marks": examples.split.marks}, f)


if __name__ == "__main__":
    if len(sys.argv) < 11:
        sys.exit(__doc__)
    main(*sys.argv[1:])
