"""span_train.py SQUAD VOCABULARY READER CROSS OUT MINUTES RATE [FROM.gguf] [LABELLED...] - which words of a passage are the answer:
low-rank changes beside those of the cross-encoder, and two rows that score where an answer begins and where it ends
(engine/embed/reader_spans.h).

SQUAD is a folder with corpus.jsonl, queries.jsonl and qrels.tsv; VOCABULARY the tokens a line each; READER and CROSS the
shipped GGUF files; LABELLED are files of JSON lines (question, title, text, answer) besides. OUT is the GGUF file to write,
FROM one that it wrote before, where the changes begin: how one is trained on when the cross-encoder below it has changed.
A third of SQuAD's articles is held out, the one that cross_train.py left out too, and a tenth of the other texts.

Only stretches of some hundred tokens are read, as in the product; a stretch that does not hold the answer says so by the
place of [CLS]."""
import collections
import json
import math
import random
import re
import sys
import time

import gguf
import torch
import torch.nn as nn
import torch.nn.functional as F

import cross_train
from cross_train import DEVICE
from cross_pairs import is_held_out
from wordpiece import WordPiece

RANK, BATCH, WARM_UP, LONGEST_SPAN = 8, 24, 60, 30
LENGTHS, ELSEWHERE = (48, 80, 112, 160), .15
MASK, MASKED, DROPPED = 103, .05, .1  # of tokens that are hidden, and of what the head is given


class SpanReader(cross_train.CrossEncoder):
    """The cross-encoder as it is, and smaller changes that learn."""

    def __init__(self, reader, cross):
        super().__init__(reader)
        t = {x.name: torch.tensor(x.data.copy()).float().to(DEVICE) for x in gguf.GGUFReader(cross).tensors}
        for i, layer in enumerate(self.layers):
            for n, name in cross_train.NAMES.items():
                low = layer[n]
                low.w = low.w + t[f"blk.{i}.{name}.weight.lora_b"] @ t[f"blk.{i}.{name}.weight.lora_a"]
                low.A = nn.Parameter(torch.randn(RANK, low.w.shape[1]) / math.sqrt(low.w.shape[1]))
                low.B = nn.Parameter(torch.zeros(low.w.shape[0], RANK))
        self.ends = nn.Linear(cross_train.WIDTH, 2, bias=False)
        nn.init.normal_(self.ends.weight, std=.5)
        for unused in (*self.mean.parameters(), *self.most.parameters(), self.scale):
            unused.requires_grad = False

    def read(self, path):
        """From what write() wrote."""
        t = {x.name: torch.tensor(x.data.copy()).float() for x in gguf.GGUFReader(path).tensors}
        with torch.no_grad():
            for i, layer in enumerate(self.layers):
                for n, name in cross_train.NAMES.items():
                    layer[n].A.copy_(t[f"blk.{i}.{name}.weight.lora_a"])
                    layer[n].B.copy_(t[f"blk.{i}.{name}.weight.lora_b"])
            self.ends.weight.copy_(torch.stack([t["span.begin.weight"], t["span.end.weight"]]))

    def write(self, path):
        begin, end = self.ends.weight.detach()
        self.write_changes(path, "forage-reader-spans", {}, {"span.begin.weight": begin, "span.end.weight": end})


def lines(path):
    with open(path, encoding="utf8") as f:
        return [json.loads(line) for line in f]


def squad(folder):
    """(question, title, text, answer, held out)"""
    text = {d["id"]: d for d in lines(folder + "/corpus.jsonl")}
    gold = dict(line.split()[:2] for line in open(folder + "/qrels.tsv", encoding="utf8"))
    for q in lines(folder + "/queries.jsonl"):
        d = text[gold[q["id"]]]
        yield q["text"], d["title"], d["text"], q["answers"][0], is_held_out(gold[q["id"]].split("#")[0], 3)


class Example:
    def __init__(self, words, question, title, text, answer):
        self.question = words(question, 40)[0]
        self.title = words(title, 16)[0]
        self.ids, self.spans = words(text, 400)
        self.text, self.answer = text, answer
        self.places = []
        for m in re.finditer(re.escape(answer), text):
            at = [k for k, (a, b) in enumerate(self.spans) if a < m.end() and b > m.start()]
            if at:
                self.places.append((at[0], at[-1]))

    def window(self):
        """(ids, [(first, last)]) of a stretch with or without the answer; the answer at 0, 0 where it is not there"""
        n, longest = len(self.ids), random.choice(LENGTHS)
        if random.random() < ELSEWHERE or not self.places:
            begin = random.randrange(max(1, n - longest + 1))
        else:
            a, b = random.choice(self.places)
            begin = random.randint(max(0, b - longest + 1), max(0, min(a, n - longest)))
        end = min(n, begin + longest)
        head = [cross_train.CLS] + self.question + [cross_train.SEP] + self.title + [cross_train.SEP]
        there = [(a - begin + len(head), b - begin + len(head)) for a, b in self.places if a >= begin and b < end]
        return head + self.ids[begin:end] + [cross_train.SEP], len(head), there or [(0, 0)]


def hide_some(ids):
    return [MASK if i not in (cross_train.CLS, cross_train.SEP) and random.random() < MASKED else i for i in ids]


def scores(model, batch):
    """[(begin logits, end logits)] with what is question or title out of reach"""
    with torch.autocast(DEVICE, torch.bfloat16):
        x = model([hide_some(e[0]) if model.training else e[0] for e in batch]).float()
    ends = model.ends(F.dropout(x, DROPPED, model.training)) * 4
    for row, (ids, head, _) in enumerate(batch):
        allowed = torch.zeros(len(ids), device=DEVICE)
        allowed[1:head] = -1e4
        allowed[-1] = -1e4
        yield ends[row, :len(ids), 0] + allowed, ends[row, :len(ids), 1] + allowed


def best_span(begin, end):
    n = len(begin)
    both = begin[:, None] + end[None, :]
    near = torch.ones(n, n, device=DEVICE).triu().tril(LONGEST_SPAN - 1)
    both = both.masked_fill(near == 0, -1e9)
    both[0, 1:] = -1e9
    at = int(both.argmax())
    return at // n, at % n


def f1(a, b):
    a, b = (re.findall(r"\w+", re.sub(r"\b(a|an|the)\b", " ", s.lower())) for s in (a, b))
    same = sum((collections.Counter(a) & collections.Counter(b)).values())
    return 2 * same / (len(a) + len(b)) if a and b else float(a == b)


def measure(model, held):
    random.seed(5)
    model.eval()
    whole = exact = said = 0
    with torch.no_grad():
        for e in held:
            ids, head, there = e.window()
            if there == [(0, 0)]:
                continue
            (begin, end), = scores(model, [(ids, head, there)])
            begin[0] = end[0] = -1e4
            a, b = best_span(begin, end)
            offset = next(p[0] for p in e.places) - there[0][0] if len(e.places) == 1 else None
            if offset is None:
                continue
            s = e.text[e.spans[a + offset][0]:e.spans[b + offset][1]]
            whole += f1(s, e.answer)
            exact += (a, b) in there
            said += 1
    model.train()
    return f"held out {said}: span exact {exact / said:.3f}, F1 {whole / said:.3f}"


def main(folder, vocabulary, reader, cross, out, minutes, highest, *more):
    random.seed(1)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    words = WordPiece(vocabulary)
    train, held = [], []
    for *parts, aside in squad(folder):
        e = Example(words, *parts)
        if e.places:
            (held if aside else train).append(e)
    n_squad = len(train)
    held, others = held[:400], []
    for d in (d for path in more if not path.endswith(".gguf") for d in lines(path)):
        e = Example(words, d["question"], d["title"], d["text"], d["answer"])
        if e.places:
            (others if is_held_out(d["title"], 10) else train).append(e)
    print(f"{n_squad} of SQuAD, {len(train) - n_squad} labelled; {len(held)}, {len(others)} held out", flush=True)

    def report():
        return "SQuAD, " + measure(model, held) + ("; others, " + measure(model, others) if others else "")

    model = SpanReader(reader, cross).to(DEVICE)
    for path in more:
        if path.endswith(".gguf"):
            model.read(path)
            print("before: " + report(), flush=True)
    groups = [{"params": [p for n, p in model.named_parameters() if p.requires_grad and n.endswith((".A", ".B")) == low],
               "times": times} for low, times in ((True, 1), (False, 4))]
    optimiser = torch.optim.AdamW(groups, lr=highest, weight_decay=.01)
    begun, total, step, order = time.time(), 0.0, 0, []
    while (spent := (time.time() - begun) / (60 * minutes)) < 1:
        step += 1
        if len(order) < BATCH:
            order = random.sample(train, len(train))
        batch, order = [e.window() for e in order[:BATCH]], order[BATCH:]
        for g in optimiser.param_groups:
            g["lr"] = highest * g["times"] * min(1, step / WARM_UP) * max(.03, 1 - spent)
        loss = 0
        for (begin, end), (_, _, there) in zip(scores(model, batch), batch):
            loss = loss - torch.logsumexp(F.log_softmax(begin, 0)[[a for a, _ in there]], 0) \
                - torch.logsumexp(F.log_softmax(end, 0)[[b for _, b in there]], 0)
        loss = loss / len(batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        total += float(loss.detach())
        if step % 50 == 0:
            print(f"step {step}: loss {total / 50:.3f}; {(time.time() - begun) / step:.2f} s a step"
                  + ("; " + report() if step % 200 == 0 else ""), flush=True)
            total = 0.0
    print(report())
    torch.save(model.state_dict(), out + ".pt")
    model.write(out)


if __name__ == "__main__":
    if len(sys.argv) < 8:
        sys.exit(__doc__)
    main(*sys.argv[1:6], float(sys.argv[6]), float(sys.argv[7]), *sys.argv[8:])
