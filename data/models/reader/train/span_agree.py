"""span_agree.py LABELLED VOCABULARY READER CROSS SPANS OUT MOST - labels of span_label.py that a reader of spans agrees with.

SPANS is what span_train.py learnt of SQuAD alone (its OUT.pt). A label is kept where its best span of the unit meets the
label; of those, MOST are drawn. What both say is seldom wrong; what the language model alone says is, as often as its
answers are that the reader is to judge."""
import json
import random
import sys

import torch

import cross_train
from cross_train import DEVICE
from span_train import SpanReader, best_span, lines, scores
from wordpiece import WordPiece


def agrees(model, words, d):
    begin = d["unit"].find(d["answer"])
    ids, spans = words(d["unit"], 220)
    head = [cross_train.CLS] + words(d["question"], 40)[0] + [cross_train.SEP] + words(d["title"], 16)[0] + [cross_train.SEP]
    with torch.no_grad():
        (b, e), = scores(model, [(head + ids + [cross_train.SEP], len(head), None)])
    b[0] = e[0] = -1e4
    first, last = (k - len(head) for k in best_span(b, e))
    return begin >= 0 and spans[first][0] < begin + len(d["answer"]) and spans[last][1] > begin


def main(labelled, vocabulary, reader, cross, trained, out, most):
    random.seed(4)
    words, model = WordPiece(vocabulary), SpanReader(reader, cross).to(DEVICE)
    model.load_state_dict(torch.load(trained, map_location=DEVICE))
    model.eval()
    all_of_them = lines(labelled)
    kept = [d for d in all_of_them if agrees(model, words, d)]
    with open(out, "w", encoding="utf8") as f:
        for d in random.sample(kept, min(most, len(kept))):
            f.write(json.dumps(d, ensure_ascii=False) + "\n")
    print(f"{len(all_of_them)} labels, {len(kept)} agreed with")


if __name__ == "__main__":
    if len(sys.argv) != 8:
        sys.exit(__doc__)
    main(*sys.argv[1:7], int(sys.argv[7]))
