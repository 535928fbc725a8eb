"""cross_train.py PAIRS READER OUT MINUTES RATE [FROM|RANK] - the cross-encoder: low-rank changes of the reader's matrices
and a head, so that it reads question and passage together (engine/embed/reader_cross.h).

PAIRS is what cross_pairs.py wrote, READER the reader's GGUF file, OUT the GGUF file to write (and OUT.pt, from which
to go on), RATE the learning rate at its highest, which falls to nothing over MINUTES. FROM is an OUT.pt, or the GGUF
file of a cross-encoder; a number is the rank of the changes where they begin at nothing (default 32). What is written is
the running mean of the weights. A GPU is used where there is one.

A passage is read below its title and the heading under which the window begins, as Forage reads it.

The loss is that of a choice among the units of a passage and "none of them": so a unit's logit is the
logarithm of how much likelier it answers than nothing in its passage does."""
import math
import multiprocessing
import os
import pickle
import random
import sys
import time

import gguf
import torch
import torch.nn as nn
import torch.nn.functional as F

from wordpiece import WordPiece

WIDTH, HEADS, RANK = 384, 12, 32
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
SAMPLERS = min(5, max(1, (os.cpu_count() or 1) // 3))  # processes that make batches
MEAN = .998  # of the running mean of the weights, what is kept at a step
BATCH, SORTED, WARM_UP = 32, 16, 60
ROUND = 16  # lengths are multiples of it: of few sizes, memory is used again instead of being had from the system anew
LENGTHS, ELSEWHERE = (48, 80, 112, 112, 160, 224), .2
LACKING = .15  # of windows with an answer, those out of which it is taken: what stands beside it does not answer
LIKEST, HEADED = .6, .9
MASKED = .05  # of tokens that are hidden, so that no single word decides
# Ids of the vocabulary, as PAIRS names them: before and behind a text, the hidden one, the last special one; below `common` are
# signs, pieces of single letters and the commonest words.
MARKS = dict(WordPiece.marks)
# How often a question of a kind is taken in a round; others once. What is new is taken often, what was learnt before seldom.
SHARES = {"own": .4, "documentation": 1, "manual_pages": .6, "commands": 2.5, "encyclopaedia": .4, "statements": .3, "laid_out": 2,
          "papers": .5, "prose": 1.5, "guides": 1.5, "tldr": .4, "translated": 1.5, "squad": .5, "passages": .8, "languages": 4, "facts": .1, "tables": .25, "readmes": 1}
NAMES = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "f1": "ffn_up", "f2": "ffn_down"}


class Changed(nn.Module):
    """x W + b + x A B: the reader's W, which stays, and two narrow matrices. Not x (W + A B) + b: that would have the gradient
    of the whole matrix computed, a sixth of a step."""

    def __init__(self, weight, bias, rank):
        super().__init__()
        self.register_buffer("w", weight.bfloat16(), persistent=False)
        self.register_buffer("b", bias.bfloat16(), persistent=False)
        self.A = nn.Parameter(torch.randn(rank, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.B = nn.Parameter(torch.zeros(weight.shape[0], rank))

    def forward(self, x):
        return F.linear(x, self.w, self.b) + F.linear(F.linear(x, self.A), self.B)


class CrossEncoder(nn.Module):
    def __init__(self, path, rank=RANK):
        super().__init__()
        t = {x.name: torch.tensor(gguf.quants.dequantize(x.data, x.tensor_type).copy()).float().to(DEVICE)
             for x in gguf.GGUFReader(path).tensors}
        self.words, self.places = t["token_embd.weight"], t["position_embd.weight"]
        self.segment = t["token_types.weight"][0]
        layers = sum(name.endswith("attn_q.weight") for name in t)
        self.norm = t["token_embd_norm.weight"], t["token_embd_norm.bias"]
        self.layers = nn.ModuleList(
            nn.ModuleDict({n: Changed(t[f"blk.{i}.{x}.weight"], t[f"blk.{i}.{x}.bias"], rank)
                           for n, x in NAMES.items()})
            for i in range(layers))
        self.norms = [[(t[f"blk.{i}.{x}.weight"], t[f"blk.{i}.{x}.bias"])
                       for x in ("attn_output_norm", "layer_output_norm")] for i in range(layers)]
        self.mean, self.most = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1, bias=False)
        self.scale = nn.Parameter(torch.tensor(12.0))
        nn.init.zeros_(self.mean.bias)
        for row in (self.mean, self.most):
            nn.init.normal_(row.weight, std=.5 / math.sqrt(WIDTH))

    def forward(self, sequences):
        """Token vectors of unit length, [sequences][longest][WIDTH]."""
        n, length = len(sequences), -(-max(map(len, sequences)) // ROUND) * ROUND
        ids, real = torch.zeros(n, length, dtype=torch.long), torch.zeros(n, length, dtype=torch.bool)
        for i, s in enumerate(sequences):
            ids[i, :len(s)] = torch.tensor(s)
            real[i, :len(s)] = True
        ids, real = ids.to(DEVICE), real.to(DEVICE)
        x = F.layer_norm(self.words[ids] + self.places[:length] + self.segment, (WIDTH,), *self.norm, 1e-12)
        mask = torch.where(real[:, None, None, :], 0.0, -1e4)
        for layer, (after_attention, after_all) in zip(self.layers, self.norms):
            q, k, v = (layer[c](x).view(n, length, HEADS, -1).transpose(1, 2) for c in "qkv")
            # Written out, it takes a third off a step on a CPU, whose fused attention is made for longer sequences.
            weights = torch.softmax((q @ k.transpose(2, 3)).float() / math.sqrt(WIDTH // HEADS) + mask, -1).to(v.dtype)
            x = x + layer["o"]((weights @ v).transpose(1, 2).reshape(n, length, WIDTH))
            x = F.layer_norm(x, (WIDTH,), *after_attention, 1e-12)
            x = F.layer_norm(x + layer["f2"](F.gelu(layer["f1"](x))), (WIDTH,), *after_all, 1e-12)
        return F.normalize(x.float(), dim=-1)

    def odds(self, x, spans):
        """[sequences][most units]: of the units that are tokens [a, b) of their sequence; -inf where there is none."""
        n, units = len(spans), max(map(len, spans))
        bounds = torch.zeros(n, units, 2, dtype=torch.long)
        for i, s in enumerate(spans):
            bounds[i, :len(s)] = torch.tensor(s)
        bounds = bounds.to(DEVICE)
        begin, end = bounds[..., 0], bounds[..., 1]
        at = torch.arange(x.shape[1], device=x.device)
        within = (at >= begin[..., None]) & (at < end[..., None])
        most = self.most(x).squeeze(2)[:, None].masked_fill(~within, -1e4).amax(2)
        mean = (self.mean(x).squeeze(2)[:, None] * within).sum(2) / (end - begin).clamp(min=1)
        return (self.scale * (mean + most)).masked_fill(end == 0, -math.inf)

    def read(self, path):
        """From an OUT.pt or what write() wrote."""
        if not path.endswith(".gguf"):
            self.load_state_dict(torch.load(path, map_location=DEVICE))
            return
        file = gguf.GGUFReader(path)
        t = {x.name: torch.tensor(x.data.copy()).float().to(DEVICE) for x in file.tensors}
        scale = float(self.scale.detach())
        with torch.no_grad():
            for i, layer in enumerate(self.layers):
                for n, matrix in NAMES.items():
                    layer[n].A.copy_(t[f"blk.{i}.{matrix}.weight.lora_a"])
                    layer[n].B.copy_(t[f"blk.{i}.{matrix}.weight.lora_b"])
            self.mean.weight.copy_(t["cross.mean.weight"][None] / scale)
            self.most.weight.copy_(t["cross.most.weight"][None] / scale)
            self.mean.bias.fill_(float(file.fields["forage.cross.bias"].parts[-1][0]) / scale)

    def write(self, path):
        scale = float(self.scale.detach())
        self.write_changes(path, "forage-reader-cross", {"forage.cross.bias": scale * float(self.mean.bias.detach())}, {
            "cross.mean.weight": scale * self.mean.weight[0].detach(),
            "cross.most.weight": scale * self.most.weight[0].detach()})

    def write_changes(self, path, name, numbers, rows):
        """The low-rank changes of the matrices and what else is given: {key: number}, {tensor: row}"""
        w = gguf.GGUFWriter(path, "bert")
        w.add_type("adapter")
        w.add_string("adapter.type", "lora")
        w.add_float32("adapter.lora.alpha", float(self.layers[0]["q"].A.shape[0]))
        w.add_name(name)
        for key, number in numbers.items():
            w.add_float32(key, number)
        for i, layer in enumerate(self.layers):
            for n, matrix in NAMES.items():
                w.add_tensor(f"blk.{i}.{matrix}.weight.lora_a", layer[n].A.detach().half().cpu().numpy())
                w.add_tensor(f"blk.{i}.{matrix}.weight.lora_b", layer[n].B.detach().half().cpu().numpy())
        for tensor, row in rows.items():
            w.add_tensor(tensor, row.cpu().numpy())
        w.write_header_to_file()
        w.write_kv_data_to_file()
        w.write_tensors_to_file()
        w.close()


def window(passage, around, longest):
    """(first, last) of the units with tokens that are read together: `around` and its neighbours, up to `longest`
    tokens, as many before it as chance will have. Forage reads such windows too (retrieval/answer/cross_reading.c)."""
    units = passage["units"]
    first = last = around

    def is_free(k):
        if not 0 <= k < len(units) or units[k][1] <= units[k][0]:
            return False
        return max(units[last][1], units[k][1]) - min(units[first][0], units[k][0]) <= longest

    while is_free(first - 1) or is_free(last + 1):
        if is_free(first - 1) and (not is_free(last + 1) or random.random() < .5):
            first -= 1
        else:
            last += 1
    return first, last


def most_shared(question, choices, ids_of):
    """The choice whose tokens are most of the question's: what may not answer though it sounds so."""
    asked = {t for t in question if t > MARKS["common"]}
    return max(choices, key=lambda c: len(asked & set(ids_of(c))) + random.random())


def likest(question, passage, units):
    return most_shared(question, units, lambda i: passage["ids"][slice(*passage["units"][i])])


def title_of(passage, begin):
    """Of the title and the last heading before token `begin`."""
    return [ids for at, ids in passage["headings"] if at <= begin][-1]


def sequence(question, passage, gold):
    """(ids, spans of the units in them, which of these answer); None where nothing is left of it"""
    full = [i for i, (a, b) in enumerate(passage["units"]) if b > a]
    around = [i for i in gold if i in full] if gold else full
    if not around:
        return None
    if gold and random.random() < ELSEWHERE:  # a part of the passage where the answer is not
        around = [i for i in full if i not in gold] or around
    middle = likest(question, passage, around) if not gold and random.random() < LIKEST else random.choice(around)
    first, last = window(passage, middle, random.choice(LENGTHS))
    begin = passage["units"][first][0]
    title = title_of(passage, begin) if random.random() < HEADED else passage["title"]
    sep = [MARKS["last"]]
    head = [MARKS["first"]] + question + sep + title + sep
    kept = [i for i in full if first <= i <= last]
    lacking = [i for i in kept if i not in gold]
    if 0 < len(lacking) < len(kept) and random.random() < LACKING:
        return without_answer(head, passage, lacking)
    spans = [(passage["units"][i][0] - begin + len(head), passage["units"][i][1] - begin + len(head)) for i in kept]
    ids = passage["ids"][begin:passage["units"][last][1]]
    return head + ids + sep, spans, [k for k, i in enumerate(kept) if i in gold]


def without_answer(head, passage, units):
    """The units alone, as if the others did not stand among them"""
    ids, spans = list(head), []
    for i in units:
        a, b = passage["units"][i]
        spans.append((len(ids), len(ids) + b - a))
        ids += passage["ids"][a:b]
    return ids + [MARKS["last"]], spans, []


def beside(q, passages):
    """One of the passages of the same document that do not answer: mostly the one that shares most tokens"""
    if random.random() > LIKEST:
        return random.choice(q["same"])
    return most_shared(q["ids"][0], q["same"], lambda p: passages[p]["ids"])


def sample(q, passages):
    """[(passage, its units that answer)]: gold, and mostly one that does not answer."""
    if not q["gold"]:
        out = [(beside(q, passages), [])] if q["same"] else []
        if q["near"] and random.random() < .25:
            out.append((random.choice(q["near"]), []))
        return out
    p, chance = random.choice(list(q["gold"])), random.random()
    out = [(p, q["gold"][p])]
    if q["same"] and chance < .35:
        out.append((beside(q, passages), []))
    elif q["near"] and chance < .9:
        out.append((random.choice(q["near"]), []))
    return out


def hide_some(ids):
    return [MARKS["mask"] if t > MARKS["special"] and random.random() < MASKED else t for t in ids]


def turns(share):
    """How often a question comes in this round: 2.5 is two or three times."""
    return int(share) + (random.random() < share % 1)


def batches(questions, passages):
    """For ever: batches of sequences of like length."""
    order, pool = [], []
    while True:
        while len(pool) < BATCH * SORTED:
            if not order:
                order = [q for q in questions for _ in range(turns(SHARES.get(q["kind"], 1)))]
                random.shuffle(order)
            q = order.pop()
            ids = random.choice(q["ids"])
            for p, units in sample(q, passages):
                example = sequence(ids, passages[p], units)
                if example:
                    pool.append(example)
        pool.sort(key=lambda e: len(e[0]))
        some = [pool[i:i + BATCH] for i in range(0, len(pool), BATCH)]
        random.shuffle(some)
        yield from some
        pool = []


def sampled(data, seed, queue):
    """A process of its own: batches for the queue. The order differs from OUT to OUT, so that runs can be averaged."""
    random.seed(seed)
    MARKS.update(data.get("marks", {}))
    for batch in batches([q for q in data["questions"] if not q["held_out"]], data["passages"]):
        queue.put([(hide_some(s), spans, gold) for s, spans, gold in batch])


def loss_of(model, batch):
    """(the mean loss, its odds, [sequences][most units]: does the unit answer?)"""
    with torch.autocast(DEVICE, torch.bfloat16):  # half the time where the processor multiplies such numbers
        x = model([s for s, _, _ in batch])
    odds = model.odds(x, [spans for _, spans, _ in batch])
    answers = torch.zeros(odds.shape, dtype=torch.bool)
    for i, (_, _, gold) in enumerate(batch):
        answers[i, gold] = True
    answers = answers.to(DEVICE)
    everything = torch.cat([odds.new_zeros(len(batch), 1), odds], 1)
    right = torch.cat([~answers.any(1, keepdim=True), answers], 1)
    loss = torch.logsumexp(everything, 1) - torch.logsumexp(everything.masked_fill(~right, -math.inf), 1)
    return loss.mean(), odds.detach(), answers


def said_of(odds, answers):
    """Sums: answered, their best unit right, thought answered; not answered, thought so."""
    there, says = answers.any(1), torch.logsumexp(odds, 1) > 0
    best = answers.gather(1, odds.argmax(1, keepdim=True)).squeeze(1)
    return torch.stack([there.sum(), (there & best).sum(), (there & says).sum(), (~there).sum(), (~there & ~says).sum()])


def held_out(model, data):
    """Over the questions that were not learnt from, by their kind"""
    random.seed(3)
    for kind in sorted({q["kind"] for q in data["questions"]}):
        examples = [(q["ids"][0], p, units) for q in data["questions"] if q["held_out"] and q["kind"] == kind
                    for p, units in sample(q, data["passages"])]
        examples = [e for e in (sequence(ids, data["passages"][p], units) for ids, p, units in examples) if e][:2000]
        sums, loss, best = torch.zeros(5), 0, []
        with torch.no_grad():
            for i in range(0, len(examples), 64):
                part, odds, answers = loss_of(model, examples[i:i + 64])
                sums += said_of(odds, answers).cpu()
                loss += float(part) * len(examples[i:i + 64])
                best += zip(torch.logsumexp(odds, 1).tolist(), answers.any(1).tolist())
        if not best or sums[0] == 0 or sums[3] == 0:
            continue
        order = sorted(best)
        ranks = sum(i for i, (_, there) in enumerate(order) if there)
        n, m = float(sums[0]), float(sums[3])
        print(f"held out, {kind}: {len(best)} windows, loss {loss / len(best):.3f}, best unit right {sums[1] / n:.3f}, "
              f"answered {sums[2] / n:.3f}, refused {sums[4] / m:.3f}, AUROC {(ranks - n * (n - 1) / 2) / (n * m):.3f}",
              flush=True)


def main(pairs, reader, out, minutes, highest, begin=None):
    random.seed(1)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    with open(pairs, "rb") as f:
        data = pickle.load(f)
    MARKS.update(data.get("marks", {}))
    queue = multiprocessing.Queue(8)
    samplers = [multiprocessing.Process(target=sampled, args=(data, f"{out} {i}", queue), daemon=True) for i in range(SAMPLERS)]
    for s in samplers:
        s.start()
    model = CrossEncoder(reader, int(begin) if begin and begin.isdigit() else RANK).to(DEVICE)
    if begin and not begin.isdigit():
        model.read(begin)
    groups = [{"params": [p for n, p in model.named_parameters() if n.endswith((".A", ".B")) == low], "times": times}
              for low, times in ((True, 1), (False, 2))]
    optimiser = torch.optim.AdamW(groups, lr=highest, weight_decay=.01)
    mean = {n: p.detach().clone() for n, p in model.named_parameters()}
    begun, sums, losses, step = time.time(), torch.zeros(5, device=DEVICE), torch.zeros((), device=DEVICE), 0
    while True:
        spent = (time.time() - begun) / (60 * minutes)
        if spent >= 1:
            break
        step += 1
        for g in optimiser.param_groups:
            g["lr"] = highest * g["times"] * min(1, step / WARM_UP) * max(.03, 1 - spent)
        loss, odds, answers = loss_of(model, queue.get())
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        with torch.no_grad():
            for n, p in model.named_parameters():
                mean[n].lerp_(p, 1 - min(MEAN, step / (step + 10)))
        sums += said_of(odds, answers)
        losses += loss.detach()
        if step % 100 == 0:
            n, best, answered, m, refused = sums.tolist()
            print(f"step {step}: loss {losses / 100:.3f}; of the answered the best unit right {best / n:.3f}, "
                  f"answered {answered / n:.3f}; of the others refused {refused / m:.3f}; "
                  f"{(time.time() - begun) / step:.3f} s a step", flush=True)
            sums.zero_()
            losses.zero_()
    for s in samplers:
        s.terminate()
    model.load_state_dict(mean)
    torch.save(model.state_dict(), out + ".pt")
    model.write(out)
    held_out(model, data)


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    main(*sys.argv[1:4], float(sys.argv[4]), float(sys.argv[5]), *sys.argv[6:])
