"""tables.py OUT WIKITABLES FETAQA... - questions of people about tables of Wikipedia, whose answer is a row.

OUT        a file as questions/laid_out_documents.jsonl, which laid_out.py and cross_pairs.py read
WIKITABLES the folder of WikiTableQuestions (CC-BY-SA-4.0): data/training.tsv, csv/
FETAQA     files of FeTaQA (CC-BY-SA-4.0), .jsonl

Of WikiTableQuestions those are taken that one row answers by itself: a cell of it is the answer, another one stands in the
question, and the question counts and compares nothing; up to three more ask for a cell by the name of its row and its
column. For half of the questions the table is written a second time
without what answers: a row of a sibling's is no answer, however many words it shares."""
import csv
import json
import random
import re
import sys

ROWS, COLUMNS, QUESTIONS = 24, 9, 8  # of a document at most
COMPARES = re.compile(r"\b(next|previous(ly)?|after|before|first|last|most|least|more|less|fewer|fewest|total|average|differen\w+|"
                      r"only|other|same|consecutive|above|below|besides?|between|how many|top|latest|earliest|number of|follow\w*|"
                      r"not|never|except|both|each|all|every|another|than|\w+est)\b")

FORMS = ("What is the {what} of {name}?", "What was the {what} for {name}?", "{name} {what}", "{what} of {name}", "Tell me the {what} of {name}.",
         "Which {what} does {name} have?", "Is there a {what} given for {name}?", "What {what} is listed for {name}?")


def words(text):
    return " ".join(re.findall(r"\w+", text.lower()))


def cell(text):
    return " ".join(text.replace("|", "/").split())


def line(row):
    return "| " + " | ".join(row) + " |"


def document(name, title, section, header, rows, questions, of):
    text = f"# {title}\n\n" + (f"## {section}\n\n" if section else "")
    text += "".join(line(row) + "\n" for row in [header, ["---"] * len(header)] + rows)
    return {"name": name, "of": of, "text": text, "questions": [[q, [line(r) for r in gold]] for q, gold in questions]}


def documents(name, title, section, table, asked):
    """asked: [(question, rows that answer)]; the table as it is, and one that lacks what answers"""
    header, rows = table[0], table[1:]
    if not 2 <= len(header) <= COLUMNS or len(rows) < 3 or len({tuple(r) for r in rows}) < len(rows):
        return
    asked = random.sample(asked, min(QUESTIONS, len(asked)))
    needed = {i for _, gold in asked for i in gold}
    others = [i for i in range(len(rows)) if i not in needed]
    kept = sorted(needed | set(random.sample(others, min(len(others), max(0, random.randint(6, ROWS) - len(needed))))))
    yield document(name + ".md", title, section, header, [rows[i] for i in kept],
                   [(q, [rows[i] for i in gold]) for q, gold in asked], name)
    lacking = [a for a in asked if random.random() < .5]
    gone = {i for _, gold in lacking for i in gold}
    left = [rows[i] for i in kept if i not in gone]
    if lacking and len(left) >= 3:
        yield document(name + "-lacking.md", title, section, header, left, [(q, []) for q, _ in lacking], name)


def wiki_tables(folder):
    by_table = {}
    with open(folder + "/data/training.tsv", encoding="utf8") as f:
        next(f)
        for line in f:
            _, question, table, answer = line.rstrip("\n").split("\t")
            by_table.setdefault(table, []).append((question, answer))
    for n, (path, asked) in enumerate(sorted(by_table.items())):
        with open(f"{folder}/{path}", encoding="utf8", newline="") as f:
            table = [[cell(c) for c in row] for row in csv.reader(f, escapechar="\\", doublequote=False)]
        with open(f"{folder}/{path.replace('csv/', 'page/').replace('-csv', '-page')[:-4]}.json", encoding="utf8") as f:
            title = json.load(f)["title"]
        if not 4 <= len(table) <= 60 or len({len(r) for r in table}) > 1:
            continue
        kept = [(q, gold) for q, gold in ((q, rows_of(q, answer, table[1:])) for q, answer in asked) if gold]
        kept += looked_up(table)
        if kept:
            yield from documents(f"w-{n:05}", title, "", table, kept)


def rows_of(question, answer, rows):
    """The one row whose cell is the answer and that holds a word of the question which no other row holds"""
    if COMPARES.search(question.lower()) or "|" in answer:
        return []
    asked, said = set(words(question).split()), words(answer)
    if len(said) < 2 or set(said.split()) <= asked:
        return []
    held = [set(words(" ".join(row)).split()) for row in rows]
    out = [i for i, row in enumerate(rows) if said in map(words, row)]
    out = [i for i in out if any(len(w) > 3 and sum(w in h for h in held) == 1 for w in held[i] & asked)]
    return out if len(out) == 1 else []


def looked_up(table):
    """Questions by form about cells of a table whose first column of words names its rows: [(question, rows)]"""
    header, rows = table[0], table[1:]
    named = [c for c in range(min(3, len(header))) if len({words(r[c]) for r in rows}) == len(rows)
             and all(re.search("[A-Za-z]{3}", r[c]) and len(r[c]) < 40 for r in rows)]
    asked = [c for c in range(len(header)) if c not in named[:1] and re.search("[A-Za-z]{3}", header[c])]
    if not named or not asked:
        return []
    out = []
    for i in random.sample(range(len(rows)), min(3, len(rows))):
        c = random.choice(asked)
        name, what = rows[i][named[0]], header[c].lower()
        if len(rows[i][c]) > 1:
            out.append((random.choice(FORMS).format(name=name, what=what), [i]))
    return out


def fetaqa(path, n):
    tables = {}
    with open(path, encoding="utf8") as f:
        for d in map(json.loads, f):
            key = d["table_page_title"], d["table_section_title"], json.dumps(d["table_array"])
            rows = sorted({r - 1 for r, _ in d["highlighted_cell_ids"] if r > 0})
            if rows and len(rows) <= 3 and rows[-1] < len(d["table_array"]) - 1:
                tables.setdefault(key, []).append((d["question"], rows))
    for i, ((title, section, table), asked) in enumerate(tables.items()):
        table = [[cell(c) for c in row] for row in json.loads(table)]
        if len({len(r) for r in table}) == 1:
            yield from documents(f"f{n}-{i:05}", title, section, table, asked)


def main(out, wiki, *paths):
    random.seed(11)
    with open(out, "w", encoding="utf8") as f:
        for d in wiki_tables(wiki):
            f.write(json.dumps(d, ensure_ascii=False) + "\n")
        for n, path in enumerate(paths):
            for d in fetaqa(path, n):
                f.write(json.dumps(d, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
