"""span_follow.py PAIRS READER BEFORE CROSS SPANS OUT MINUTES RATE - the words that answer, told as before on a cross-encoder that
has changed below them.

BEFORE is the cross-encoder on which SPANS was trained, CROSS the one in its place; PAIRS is what cross_pairs.py wrote. Where an
answer begins and ends in the windows that the cross-encoder reads is told by SPANS on BEFORE, and learnt by the same changes and
rows on CROSS, from SPANS on: so it needs no text with marked answers, and nothing is forgotten that SQuAD alone does not hold."""
import pickle
import random
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

import cross_train
import span_train

BATCH = 32


def windows(data):
    """For ever: batches of (ids, length of question and title)"""
    for batch in cross_train.batches([q for q in data["questions"] if not q["held_out"]], data["passages"]):
        yield [(ids, spans[0][0], None) for ids, spans, _ in batch]


def distance(model, teacher, batch):
    """Mean over the sequences: how far beginnings and ends are from the teacher's (Kullback-Leibler, nats), the share of those whose
    best place is the teacher's"""
    with torch.no_grad():
        told = list(span_train.scores(teacher, batch))
    far, same = 0, 0
    for mine, theirs in zip(span_train.scores(model, batch), told):
        for a, b in zip(mine, theirs):
            far = far + F.kl_div(F.log_softmax(a, 0), F.log_softmax(b, 0), reduction="sum", log_target=True)
            same += int(a.argmax() == b.argmax())
    return far / len(batch), same / (2 * len(batch))


def main(pairs, reader, before, cross, spans, out, minutes, highest):
    random.seed(1)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    with open(pairs, "rb") as f:
        batches = windows(pickle.load(f))
    teacher, model = (span_train.SpanReader(reader, path).to(cross_train.DEVICE) for path in (before, cross))
    for m in (teacher, model):
        m.read(spans)
        m.eval()  # nothing is hidden: both read the same
    groups = [{"params": [p for n, p in model.named_parameters() if p.requires_grad and n.endswith((".A", ".B")) == low],
               "times": times} for low, times in ((True, 1), (False, 4))]
    optimiser = torch.optim.AdamW(groups, lr=highest, weight_decay=.01)
    begun, total, alike, step = time.time(), 0.0, 0.0, 0
    while (spent := (time.time() - begun) / (60 * minutes)) < 1:
        step += 1
        for g in optimiser.param_groups:
            g["lr"] = highest * g["times"] * min(1, step / 30) * max(.03, 1 - spent)
        loss, same = distance(model, teacher, next(batches))
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], 1.0)
        optimiser.step()
        total, alike = total + float(loss.detach()), alike + same
        if step in (1, 10) or step % 50 == 0:
            n = {1: 1, 10: 9}.get(step, 40 if step == 50 else 50)
            print(f"step {step}: {total / n:.3f} nats, {alike / n:.3f} alike; {(time.time() - begun) / step:.2f} s a step", flush=True)
            total = alike = 0.0
    model.write(out)


if __name__ == "__main__":
    if len(sys.argv) != 9:
        sys.exit(__doc__)
    main(*sys.argv[1:7], float(sys.argv[7]), float(sys.argv[8]))
