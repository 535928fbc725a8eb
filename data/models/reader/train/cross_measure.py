"""cross_measure.py FORAGE ANSWER_FEATURES DOCUMENTS FOLDER [QUESTIONS] - how Forage answers the written questions.

DOCUMENTS  questions/held_out_documents.jsonl beside this folder, or another file like it
FOLDER     to work in; a home with all documents is made there
QUESTIONS  how many of them, drawn by chance (default 400)

Every question is asked of the dozen documents that its own is one of. ANSWER_FEATURES is tests/bench/answer_features."""
import json
import os
import random
import re
import subprocess
import sys

TOGETHER, THRESHOLD = 12, .45


def plain(s):
    return re.sub(r"\W+", " ", s.lower()).strip()


def answers(unit, gold):
    """Is the unit one of those that answer, or most of one, or more than one?"""
    unit = plain(unit)
    return any(plain(g) in unit or (unit and unit in plain(g) and len(unit) >= .6 * len(plain(g))) for g in gold)


def prepare(path, folder, most):
    with open(path, encoding="utf8") as f:
        documents = [json.loads(line) for line in f if line.strip()]
    random.seed(11)
    random.shuffle(documents)
    questions = {}
    with open(folder + "/corpus.jsonl", "w", encoding="utf8") as f:
        for n, d in enumerate(documents):
            group = str(n // TOGETHER)
            f.write(json.dumps({"id": f"d{n}", "title": d["title"], "text": d["separator"].join(d["units"]),
                                "metadata": {"group": group}}) + "\n")
            for i, (text, units) in enumerate(d["questions"]):
                questions[f"d{n}:{i}"] = {"text": text, "group": group, "gold": [d["units"][k] for k in units]}
    asked = random.sample(sorted(questions), min(most, len(questions)))
    with open(folder + "/questions.jsonl", "w", encoding="utf8") as f:
        for k in asked:
            f.write(json.dumps({"id": k, "text": questions[k]["text"], "group": questions[k]["group"]}) + "\n")
    return questions


def share(values):
    values = list(values)
    return f"{sum(values) / max(1, len(values)):.3f} of {len(values)}"


def main(forage, features, documents, folder, most=400):
    os.makedirs(folder, exist_ok=True)
    questions = prepare(documents, folder, int(most))
    home = folder + "/home"
    subprocess.run([forage, "ingest", "--home", home, folder + "/corpus.jsonl"], check=True, stdout=subprocess.DEVNULL)
    run = subprocess.run([features, home, folder + "/questions.jsonl", "=group"], check=True, capture_output=True)
    first, three, right, wrong, other = [], [], [], [], []
    for line in run.stdout.decode().splitlines():
        r = json.loads(line)
        gold, units = questions[r["id"]]["gold"], [u[2] for u in r.get("units", [])]
        support = r.get("support", 0)
        if not gold:
            other.append(support)
            continue
        hits = [answers(u, gold) for u in units[:3]]
        first.append(bool(hits[:1] and hits[0]))
        three.append(any(hits))
        (right if first[-1] else wrong).append(support)
    answered = right + wrong
    above = sum((a > b) + .5 * (a == b) for a in answered for b in other) / max(1, len(answered) * len(other))
    print(f"an answering unit first {share(first)}, among three {share(three)}")
    print(f"AUROC of support, answered against not answered: {above:.3f}")
    print("kept:", share(s >= THRESHOLD for s in answered), "; of those whose first unit is right",
          share(s >= THRESHOLD for s in right), "; whose first unit is wrong", share(s >= THRESHOLD for s in wrong))
    print("refused of the not answered:", share(s < THRESHOLD for s in other))


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    main(*sys.argv[1:])
