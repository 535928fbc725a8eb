"""span_label.py QUESTIONS URL MODEL SECONDS OUT - the few words that answer, for questions of which we know the unit that does.

QUESTIONS is own_documents.jsonl, URL a service (http://127.0.0.1:8080) that has MODEL loaded, an instruct model. It is shown
the answering unit and the question, and what it says is kept where it stands in that unit to the letter and is no more than
two thirds of it. OUT: JSON lines for span_train.py. Stops after SECONDS."""
import concurrent.futures
import json
import random
import re
import sys
import time
import urllib.request

ASKED = "Copy from the text the few words that answer the question. Say nothing else."
AT_ONCE = 8


def examples(path):
    with open(path, encoding="utf8") as f:
        for line in f:
            d = json.loads(line)
            text = d["separator"].join(d["units"])
            for question, *rest in d["questions"]:
                gold = rest[-1]
                if len(gold) == 1:
                    yield question, d["title"], text, d["units"][gold[0]]


def answer(url, model, unit, title, question):
    body = {"model": model, "temperature": 0, "max_tokens": 24, "messages": [
        {"role": "system", "content": ASKED},
        {"role": "user", "content": f"Text ({title}): {unit}\n\nQuestion: {question}"}]}
    request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=120) as f:
        choice = json.load(f)["choices"][0]
    return choice["message"]["content"].strip().strip('"').rstrip(".") if choice["finish_reason"] == "stop" else ""


def main(questions, url, model, seconds, out):
    random.seed(3)
    todo = list(examples(questions))
    random.shuffle(todo)
    ends = time.time() + seconds

    def one(e):
        return answer(url, model, e[3], e[1], e[0]) if time.time() < ends else None

    asked = kept = 0
    with open(out, "w", encoding="utf8") as f, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        for (question, title, text, unit), said in zip(todo, pool.map(one, todo)):
            asked += said is not None
            at = re.search(r"(?<!\w)" + re.escape(said) + r"(?!\w)", unit, re.I) if said else None
            if not at or len(said) > len(unit) * 2 / 3 or said.lower() in ("yes", "no", "not"):
                continue
            kept += 1
            f.write(json.dumps({"question": question, "title": title, "text": text, "unit": unit, "answer": at.group()},
                               ensure_ascii=False) + "\n")
            f.flush()
    print(f"{asked} asked, {kept} kept")


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    main(*sys.argv[1:4], float(sys.argv[4]), sys.argv[5])
