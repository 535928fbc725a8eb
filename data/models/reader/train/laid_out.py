"""laid_out.py DOCUMENTS FOLDER - writes the files that DOCUMENTS, questions/laid_out_documents.jsonl, holds.

Forage takes them in as it does anybody's (forage ingest --home HOME --base FOLDER FOLDER), and cross_pairs.py reads what
it made of them: so headings, options, rows and lists are learnt in the form in which they are read later."""
import json
import os
import sys


def main(documents, folder):
    os.makedirs(folder, exist_ok=True)
    with open(documents, encoding="utf8") as f:
        for d in map(json.loads, f):
            with open(os.path.join(folder, d["name"]), "w", encoding="utf8") as out:
                out.write(d["text"])


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
