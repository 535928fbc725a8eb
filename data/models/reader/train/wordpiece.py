"""WordPiece as BERT's uncased models have it: ids, and which characters each stands for."""
import functools
import unicodedata


def is_punctuation(ch):
    cp = ord(ch)
    if 33 <= cp <= 47 or 58 <= cp <= 64 or 91 <= cp <= 96 or 123 <= cp <= 126:
        return True
    return unicodedata.category(ch).startswith("P")


class WordPiece:
    marks = {"first": 101, "last": 102, "mask": 103, "special": 102, "common": 2100}

    def __init__(self, vocabulary):
        with open(vocabulary, encoding="utf8") as f:
            self.ids = {line.rstrip("\n"): i for i, line in enumerate(f)}
        self.unknown = self.ids["[UNK]"]
        self.pieces = functools.lru_cache(200000)(self._pieces)

    def _pieces(self, word):
        out, lengths, start = [], [], 0
        while start < len(word):
            end = len(word)
            while end > start and ("##" if start else "") + word[start:end] not in self.ids:
                end -= 1
            if end == start or len(word) > 100:
                return (self.unknown,), (len(word),)
            out.append(self.ids[("##" if start else "") + word[start:end]])
            lengths.append(end - start)
            start = end
        return tuple(out), tuple(lengths)

    def __call__(self, text, most=256):
        """(ids without special tokens, [(first character, one behind the last)]), `most` at most."""
        ids, spans, i = [], [], 0
        while i < len(text) and len(ids) < most:
            ch = text[i]
            if ch.isspace() or unicodedata.category(ch) in ("Cc", "Cf"):
                i += 1
                continue
            j = i + 1
            if not is_punctuation(ch):
                while j < len(text) and not text[j].isspace() and not is_punctuation(text[j]):
                    j += 1
            word = unicodedata.normalize("NFD", text[i:j].lower())
            pieces, lengths = self.pieces("".join(c for c in word if unicodedata.category(c) != "Mn"))
            at = i
            for piece, length in zip(pieces, lengths):
                ids.append(piece)
                spans.append((at, min(j, at + length)))
                at = min(j, at + length)
            i = j
        return ids[:most], spans[:most]
