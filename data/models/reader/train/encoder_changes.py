"""encoder_changes.py ENCODER READER OUT [RANK] - the way back from the reader to the encoder that it was trained from.

ENCODER is all-MiniLM-L6-v2 as a GGUF file (make models), READER the reader's GGUF file, OUT the GGUF file to
write. Training changed the reader's upper layers by little, and by less in most directions than in a few. So the
binary need not hold both: OUT has, for each changed matrix, the RANK (64) largest directions of the difference as a
product of two narrow matrices in Q8_0, and each changed row of biases and scales whole. Forage adds them when it is
asked for vectors of whole texts (engine/embed/embed_builtin_encoder.c)."""
import sys

import gguf
import numpy as np


def read(path):
    return {t.name: gguf.quants.dequantize(t.data, t.tensor_type).astype(np.float32)
            for t in gguf.GGUFReader(path).tensors}


def main(encoder, reader, out, rank=64):
    to, at = read(encoder), read(reader)
    q8 = gguf.GGMLQuantizationType.Q8_0
    w = gguf.GGUFWriter(out, "bert")
    w.add_type("adapter")
    w.add_string("adapter.type", "lora")
    w.add_float32("adapter.lora.alpha", float(rank))
    w.add_name("forage-encoder-384")
    for name in sorted(at):
        if not name.startswith("blk."):
            continue
        difference = to[name] - at[name]
        share = np.linalg.norm(difference) / max(1e-12, np.linalg.norm(to[name]))
        if difference.ndim == 1:
            if share > 0:
                w.add_tensor(name, to[name])
            continue
        if share < .008:  # the rounding of 8 bits alone
            continue
        u, s, v = np.linalg.svd(difference.astype(np.float64), full_matrices=False)
        root = np.sqrt(s[:rank])
        a, b = (root[:, None] * v[:rank]).astype(np.float32), (u[:, :rank] * root).astype(np.float32)
        for part, x in (("a", a), ("b", b)):
            w.add_tensor(f"{name}.lora_{part}", gguf.quants.quantize(x, q8), raw_dtype=q8)
        left = np.linalg.norm(difference - b @ a) / np.linalg.norm(to[name])
        print(f"{name}: {share:.4f} of its norm away, {left:.4f} with the changes")
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:4], *map(int, sys.argv[4:]))
