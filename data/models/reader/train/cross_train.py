"""cross_train.py PAIRS READER OUT MINUTES RATE [FROM] - the cross-encoder: low-rank changes of the reader's matrices
and a head, so that it reads question and passage together (engine/embed/reader_cross.h).

PAIRS is what cross_pairs.py wrote, READER the reader's GGUF file, OUT the GGUF file to write (and OUT.pt, from which
to go on), RATE the learning rate at its highest, which falls to nothing over MINUTES. FROM is an OUT.pt, or the GGUF
file of a cross-encoder.

A passage is read below its title and the heading under which the window begins, as Forage reads it.

The loss is that of a choice among the units of a passage and "none of them": so a unit's logit is the
logarithm of how much likelier it answers than nothing in its passage does."""
import math
import pickle
import random
import sys
import time

import gguf
import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, HEADS, LAYERS, RANK = 384, 12, 6, 32
CLS, SEP = 101, 102
BATCH, SORTED, WARM_UP = 32, 16, 60
LENGTHS, ELSEWHERE = (48, 80, 112, 112, 160, 224), .2
LIKEST, HEADED = .6, .9
MASK, MASKED = 103, .05  # of tokens that are hidden, so that no single word decides
COMMON = 2100  # ids below it are marks, pieces of single letters and the commonest words
SHARES = {"tldr": .5, "laid_out": 4, "readmes": 3}  # how often a question of the kind is taken in a round; others once
NAMES = {"q": "attn_q", "k": "attn_k", "v": "attn_v", "o": "attn_output", "f1": "ffn_up", "f2": "ffn_down"}


class Changed(nn.Module):
    """x W' + b, where W' is the reader's W and a product of two narrow matrices."""

    def __init__(self, weight, bias):
        super().__init__()
        self.register_buffer("w", weight, persistent=False)
        self.register_buffer("b", bias, persistent=False)
        self.A = nn.Parameter(torch.randn(RANK, weight.shape[1]) / math.sqrt(weight.shape[1]))
        self.B = nn.Parameter(torch.zeros(weight.shape[0], RANK))

    def forward(self, x):
        return F.linear(x, self.w, self.b) + F.linear(F.linear(x, self.A), self.B)


class CrossEncoder(nn.Module):
    def __init__(self, path):
        super().__init__()
        t = {x.name: torch.tensor(gguf.quants.dequantize(x.data, x.tensor_type).copy()).float()
             for x in gguf.GGUFReader(path).tensors}
        self.words, self.places = t["token_embd.weight"], t["position_embd.weight"]
        self.segment = t["token_types.weight"][0]
        self.norm = t["token_embd_norm.weight"], t["token_embd_norm.bias"]
        self.layers = nn.ModuleList(
            nn.ModuleDict({n: Changed(t[f"blk.{i}.{x}.weight"], t[f"blk.{i}.{x}.bias"]) for n, x in NAMES.items()})
            for i in range(LAYERS))
        self.norms = [[(t[f"blk.{i}.{x}.weight"], t[f"blk.{i}.{x}.bias"])
                       for x in ("attn_output_norm", "layer_output_norm")] for i in range(LAYERS)]
        self.mean, self.most = nn.Linear(WIDTH, 1), nn.Linear(WIDTH, 1, bias=False)
        self.scale = nn.Parameter(torch.tensor(12.0))
        nn.init.zeros_(self.mean.bias)
        for row in (self.mean, self.most):
            nn.init.normal_(row.weight, std=.5 / math.sqrt(WIDTH))

    def forward(self, sequences):
        """Token vectors of unit length, [sequences][longest][WIDTH]."""
        n, length = len(sequences), max(map(len, sequences))
        ids = torch.zeros(n, length, dtype=torch.long)
        real = torch.zeros(n, length, dtype=torch.bool)
        for i, s in enumerate(sequences):
            ids[i, :len(s)] = torch.tensor(s)
            real[i, :len(s)] = True
        x = F.layer_norm(self.words[ids] + self.places[:length] + self.segment, (WIDTH,), *self.norm, 1e-12)
        mask = torch.where(real[:, None, None, :], 0.0, -1e4)
        for layer, (after_attention, after_all) in zip(self.layers, self.norms):
            q, k, v = (layer[c](x).view(n, length, HEADS, -1).transpose(1, 2) for c in "qkv")
            seen = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            x = x + layer["o"](seen.transpose(1, 2).reshape(n, length, WIDTH))
            x = F.layer_norm(x, (WIDTH,), *after_attention, 1e-12)
            x = F.layer_norm(x + layer["f2"](F.gelu(layer["f1"](x))), (WIDTH,), *after_all, 1e-12)
        return F.normalize(x, dim=-1)

    def odds(self, x, spans):
        """Of the units that are tokens [a, b) of x."""
        most = self.most(x).squeeze(1)
        mean = self.mean(torch.stack([x[a:b].mean(0) for a, b in spans])).squeeze(1)
        return self.scale * (mean + torch.stack([most[a:b].max() for a, b in spans]))

    def read(self, path):
        """From an OUT.pt or what write() wrote."""
        if not path.endswith(".gguf"):
            self.load_state_dict(torch.load(path))
            return
        file = gguf.GGUFReader(path)
        t = {x.name: torch.tensor(x.data.copy()).float() for x in file.tensors}
        scale = float(self.scale)
        with torch.no_grad():
            for i, layer in enumerate(self.layers):
                for n, matrix in NAMES.items():
                    layer[n].A.copy_(t[f"blk.{i}.{matrix}.weight.lora_a"])
                    layer[n].B.copy_(t[f"blk.{i}.{matrix}.weight.lora_b"])
            self.mean.weight.copy_(t["cross.mean.weight"][None] / scale)
            self.most.weight.copy_(t["cross.most.weight"][None] / scale)
            self.mean.bias.fill_(float(file.fields["forage.cross.bias"].parts[-1][0]) / scale)

    def write(self, path):
        scale = float(self.scale)
        self.write_changes(path, "forage-reader-cross", {"forage.cross.bias": scale * float(self.mean.bias)}, {
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
                w.add_tensor(f"blk.{i}.{matrix}.weight.lora_a", layer[n].A.detach().half().numpy())
                w.add_tensor(f"blk.{i}.{matrix}.weight.lora_b", layer[n].B.detach().half().numpy())
        for tensor, row in rows.items():
            w.add_tensor(tensor, row.numpy())
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


def likest(question, passage, units):
    """The unit that shares most tokens with the question: what does not answer though it sounds so."""
    asked = {t for t in question if t > COMMON}
    ids = passage["ids"]
    return max(units, key=lambda i: len(asked & set(ids[slice(*passage["units"][i])])) + random.random())


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
    head = [CLS] + question + [SEP] + title + [SEP]
    kept = [i for i in full if first <= i <= last]
    spans = [(passage["units"][i][0] - begin + len(head), passage["units"][i][1] - begin + len(head)) for i in kept]
    ids = passage["ids"][begin:passage["units"][last][1]]
    return head + ids + [SEP], spans, [k for k, i in enumerate(kept) if i in gold]


def sample(q):
    """[(passage, its units that answer)]: gold, and mostly one that does not answer."""
    if not q["gold"]:
        out = [(random.choice(q["same"]), [])] if q["same"] else []
        if q["near"] and random.random() < .25:
            out.append((random.choice(q["near"]), []))
        return out
    p, chance = random.choice(list(q["gold"])), random.random()
    out = [(p, q["gold"][p])]
    if q["same"] and chance < .35:
        out.append((random.choice(q["same"]), []))
    elif q["near"] and chance < .9:
        out.append((random.choice(q["near"]), []))
    return out


def hide_some(ids):
    return [MASK if t > SEP and random.random() < MASKED else t for t in ids]


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
            for p, units in sample(q):
                example = sequence(ids, passages[p], units)
                if example:
                    pool.append(example)
        pool.sort(key=lambda e: len(e[0]))
        some = [pool[i:i + BATCH] for i in range(0, len(pool), BATCH)]
        random.shuffle(some)
        yield from some
        pool = []


def main(pairs, reader, out, minutes, highest, begin=None):
    random.seed(1)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    with open(pairs, "rb") as f:
        data = pickle.load(f)
    model = CrossEncoder(reader)
    if begin:
        model.read(begin)
    groups = [{"params": [p for n, p in model.named_parameters() if n.endswith((".A", ".B")) == low], "times": times}
              for low, times in ((True, 1), (False, 2))]
    optimiser = torch.optim.AdamW(groups, lr=highest, weight_decay=.01)
    begun, sums = time.time(), [0.0, 0, 0, 0, 0]
    source = batches([q for q in data["questions"] if not q["held_out"]], data["passages"])
    for step, batch in enumerate(source, 1):
        spent = (time.time() - begun) / (60 * minutes)
        if spent >= 1:
            break
        for g in optimiser.param_groups:
            g["lr"] = highest * g["times"] * min(1, step / WARM_UP) * max(.03, 1 - spent)
        loss = 0
        with torch.autocast("cpu", torch.bfloat16):  # half the time where the processor multiplies such numbers
            rows = model([hide_some(s) for s, _, _ in batch])
        for x, (_, spans, gold) in zip(rows, batch):
            odds = model.odds(x.float(), spans)
            everything = torch.logsumexp(torch.cat([odds.new_zeros(1), odds]), 0)
            loss = loss + everything - (torch.logsumexp(odds[gold], 0) if gold else 0)
            says = float(torch.logsumexp(odds.detach(), 0)) > 0
            sums[1] += bool(gold)
            sums[2] += bool(gold) and int(odds.argmax()) in gold
            sums[3] += bool(gold) and says
            sums[4] += not gold and not says
        loss = loss / len(batch)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        sums[0] += float(loss.detach())
        if step % 50 == 0:
            print(f"step {step}: loss {sums[0] / 50:.3f}; of the answered the best unit right {sums[2] / sums[1]:.3f}, "
                  f"answered {sums[3] / sums[1]:.3f}; of the others refused {sums[4] / (50 * BATCH - sums[1]):.3f}; "
                  f"{(time.time() - begun) / step:.2f} s a step", flush=True)
            sums = [0.0, 0, 0, 0, 0]
            torch.save(model.state_dict(), out + ".pt")
    torch.save(model.state_dict(), out + ".pt")
    model.write(out)


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    main(*sys.argv[1:4], float(sys.argv[4]), float(sys.argv[5]), *sys.argv[6:])
