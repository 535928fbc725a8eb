"""The vocabulary of multilingual-e5-small as `forage convert` writes it: ids, and which characters each stands for. Needs the
package tokenizers; its NFKC differs from the model's own table in a few signs, which Forage follows (engine/tokenizer)."""
import gguf
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers


class Unigram:
    def __init__(self, path):
        fields = gguf.GGUFReader(path).fields
        pieces = fields["tokenizer.ggml.tokens"].contents()
        scores = fields["tokenizer.ggml.scores"].contents()

        def number(name):
            return int(fields[f"tokenizer.ggml.{name}_token_id"].contents())

        self.marks = {"first": number("cls"), "last": number("seperator"), "mask": number("mask"), "special": 3, "common": 1000}
        self.split = Tokenizer(models.Unigram(list(zip(pieces, map(float, scores))), number("unknown"), False))
        self.split.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("\n", " "), normalizers.Replace("\t", " ")])
        self.split.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")

    def __call__(self, text, most=256):
        """(ids without special tokens, [(first character, one behind the last)]), `most` at most."""
        done, ids, spans = self.split.encode(text), [], []
        for i, (a, b) in zip(done.ids, done.offsets):
            while a + 1 < b and text[a].isspace():
                a += 1  # the space before a word is no part of it
            if text[a:b].isspace() and text[a:b]:
                continue
            ids.append(i)
            spans.append((a, b))
            if len(ids) == most:
                break
        return ids, spans
