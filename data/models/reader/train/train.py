"""train.py PAIRS ENCODER OUT STEPS FROZEN RATE - token vectors that align questions with the units
that answer.

PAIRS is what pairs.py wrote, ENCODER the folder of all-MiniLM-L6-v2 (model.safetensors), OUT the
folder to write the trained one to, FROZEN the number of lower layers that stay as they are, RATE the
learning rate at its highest. The score that is trained is the product's own (retrieval/answer/
reading.c): the mean over the question's tokens, weighted by idf among the units that compete, of the
best cosine among the unit's tokens, or .9 times that among its title's."""
import pickle
import random
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from encoder import Encoder

TITLE_WEIGHT = 0.9
BATCH, WARM_UP = 16, 30


def scores(ids, vectors, passages, of_passage, of_title):
    """Unit scores, passage scores and each unit's (passage, index)."""
    asked = torch.tensor(ids)
    best, held, whole, owner = [], [], [], []
    for p in passages:
        near = vectors @ of_passage[p["at"]].T
        same = asked[:, None] == torch.tensor(p["ids"])[None]
        spans = torch.tensor(p["units"]).reshape(-1, 2)
        place = torch.arange(len(p["ids"]))
        inside = (place >= spans[:, :1]) & (place < spans[:, 1:])
        b = torch.where(inside[:, None], near[None], torch.tensor(-1.0)).amax(2)
        h = (inside[:, None] & same[None]).any(2)
        w = near.amax(1)
        if p["title"]:
            title = TITLE_WEIGHT * (vectors @ of_title[tuple(p["title"])].T).amax(1)
            b, w = torch.maximum(b, title[None]), torch.maximum(w, title)
            h = h | (asked[:, None] == torch.tensor(p["title"])[None]).any(1)
        best.append(b)
        held.append(h)
        whole.append(w.clamp_min(0))
        owner += [(p["at"], i) for i in range(len(spans))]
    best, df = torch.cat(best).clamp_min(0), torch.cat(held).sum(0).float()
    weight = torch.log(1 + (len(best) - df + 0.5) / (df + 0.5))
    weight = weight / weight.sum()
    return (best * weight).sum(1), torch.stack([(w * weight).sum() for w in whole]), owner


def encode(encoder, passages, questions, lists):
    used = sorted({p for l in lists for p in l}, key=lambda p: len(passages[p]["ids"]))
    titles = sorted({tuple(passages[p]["title"]) for p in used if passages[p]["title"]})
    short = encoder(questions + [list(t) for t in titles])
    of_passage = {}
    for i in range(0, len(used), 16):
        part = used[i:i + 16]
        of_passage.update(zip(part, encoder([passages[p]["ids"] for p in part])))
    return short[:len(questions)], dict(zip(titles, short[len(questions):])), of_passage


def pick(chosen, target, scale):
    """Cross-entropy of the target set, all of them together."""
    return torch.logsumexp(chosen * scale, 0) - torch.logsumexp(chosen[target] * scale, 0)


def loss_of(encoder, passages, batch, scale, middle):
    asked = [random.choice(q["ids"]) for q in batch]
    lists = []
    for q in batch:
        gold = random.choice(q["gold"])[0] if q["gold"] else random.choice(q["gold_passages"])
        lists.append(list(dict.fromkeys([gold] + random.sample(q["near"], min(1, len(q["near"]))))))
    vectors, of_title, of_passage = encode(encoder, passages, asked, lists)
    everything = sorted({p for l in lists for p in l})
    total, right, n = 0, 0, 0
    for q, ids, v, mine in zip(batch, asked, vectors, lists):
        others = [p for p in random.sample(everything, min(8, len(everything)))
                  if passages[p]["document"] != passages[mine[0]]["document"]]
        compete = mine + others
        unit, whole, owner = scores(ids, v, [passages[p] for p in compete], of_passage, of_title)
        gold = torch.tensor([o in q["gold_set"] for o in owner])
        gold_passage = torch.tensor([p in q["gold_passages"] for p in compete])
        if gold.any():
            total = total + pick(unit, gold, scale.exp())
            right, n = right + int(gold[unit.argmax()]), n + 1
        if gold_passage.any() and not gold_passage.all():
            total = total + 0.5 * pick(whole, gold_passage, scale.exp())
            foreign = torch.tensor([p in others for p, _ in owner])
            if foreign.any() and gold.any():  # one threshold for all questions
                total = total + 0.3 * (F.softplus(-(middle[0] * unit[gold].max() + middle[1]))
                                       + F.softplus(middle[0] * unit[foreign].max() + middle[1]))
    return total / len(batch), right, n


def main(pairs, folder, out, steps, frozen, highest):
    random.seed(1)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    with open(pairs, "rb") as f:
        data = pickle.load(f)
    passages = data["passages"]
    for i, p in enumerate(passages):
        p["at"] = i
    questions = [q for q in data["questions"] if not q["held_out"]]
    for q in questions:
        q["gold_set"] = set(map(tuple, q["gold"]))
    encoder = Encoder(folder, frozen)
    scale, middle = nn.Parameter(torch.tensor(3.3)), nn.Parameter(torch.tensor([10.0, -6.0]))
    optimiser = torch.optim.AdamW([{"params": encoder.trained(), "lr": highest, "weight_decay": 0.01},
                                   {"params": [scale, middle], "lr": 2e-2}])
    begun, at, sums = time.time(), len(questions), [0.0, 0, 0]
    for step in range(steps):
        if at + BATCH > len(questions):
            random.shuffle(questions)
            at = 0
        rate = highest * min(1, (step + 1) / WARM_UP) * max(0.02, 1 - step / steps)
        optimiser.param_groups[0]["lr"] = rate
        loss, right, n = loss_of(encoder, passages, questions[at:at + BATCH], scale, middle)
        at += BATCH
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(encoder.trained(), 1.0)
        optimiser.step()
        sums = [sums[0] + float(loss.detach()), sums[1] + right, sums[2] + n]
        if step % 25 == 24 or step + 1 == steps:
            print(f"step {step + 1} of {steps}: loss {sums[0] / (step % 25 + 1):.3f}, best unit right "
                  f"{sums[1] / max(1, sums[2]):.3f}, {(time.time() - begun) / (step + 1):.2f} s a step",
                  flush=True)
            sums = [0.0, 0, 0]
    encoder.write(folder, out)


if __name__ == "__main__":
    if len(sys.argv) != 7:
        sys.exit(__doc__)
    main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]), float(sys.argv[6]))
