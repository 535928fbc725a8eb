"""small_bert.py DIR [scores] - a BERT of one layer with weights that mean nothing, as Hugging Face publishes one, or with
`scores` a cross-encoder: for `forage convert`."""
import json
import pathlib
import struct
import sys

WIDTH, INNER, TEXT = 64, 128, 32
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##b", "heron", "pump"]

folder = pathlib.Path(sys.argv[1])
config = {"model_type": "bert", "num_hidden_layers": 1, "hidden_size": WIDTH, "intermediate_size": INNER,
          "num_attention_heads": 4, "max_position_embeddings": TEXT, "type_vocab_size": 2,
          "vocab_size": len(words), "layer_norm_eps": 1e-12, "hidden_act": "gelu"}
(folder / "config.json").write_text(json.dumps(config))
(folder / "vocab.txt").write_text("".join(w + "\n" for w in words))

shapes = {"embeddings.word_embeddings.weight": [len(words), WIDTH],
          "embeddings.position_embeddings.weight": [TEXT, WIDTH],
          "embeddings.token_type_embeddings.weight": [2, WIDTH]}
layer = "encoder.layer.0."
for name, rows, columns in (("attention.self.query", WIDTH, WIDTH), ("attention.self.key", WIDTH, WIDTH),
                            ("attention.self.value", WIDTH, WIDTH), ("attention.output.dense", WIDTH, WIDTH),
                            ("intermediate.dense", INNER, WIDTH), ("output.dense", WIDTH, INNER)):
    shapes[layer + name + ".weight"] = [rows, columns]
    shapes[layer + name + ".bias"] = [rows]
for name in ("embeddings.LayerNorm", layer + "attention.output.LayerNorm", layer + "output.LayerNorm"):
    shapes[name + ".weight"] = shapes[name + ".bias"] = [WIDTH]
if sys.argv[2:] == ["scores"]:
    shapes.update({"pooler.dense.weight": [WIDTH, WIDTH], "pooler.dense.bias": [WIDTH],
                   "classifier.weight": [1, WIDTH], "classifier.bias": [1]})

header, data = {}, b""
for name, shape in shapes.items():
    n = shape[0] * (shape[1] if len(shape) == 2 else 1)
    begin = len(data)
    data += struct.pack("<%df" % n, *((i % 7 - 3) / 16 for i in range(n)))
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, len(data)]}
head = json.dumps(header).encode()
(folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
