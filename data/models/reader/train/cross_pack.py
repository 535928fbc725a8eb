"""cross_pack.py CHANGES ENCODER OUT - changes of an encoder that is not inside Forage, as it ships them

CHANGES what cross_train.py or cross_mean.py wrote; their matrices become Q8_0
ENCODER the GGUF file that they were trained upon: two of its norms go along, by which Forage tells it from others of its shape
"""
import os
import sys

import gguf
import numpy as np

NORMS = "token_embd_norm.weight", "blk.{}.layer_output_norm.weight"


def floats(tensor):
    return gguf.quants.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)


def main(changes, encoder, out):
    file, of = gguf.GGUFReader(changes), {t.name: t for t in gguf.GGUFReader(encoder).tensors}
    w = gguf.GGUFWriter(out, "bert")
    for key, field in file.fields.items():
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        value = os.path.basename(out).removesuffix(".gguf") if key == "general.name" else field.contents()
        (w.add_string if isinstance(value, str) else w.add_float32)(key, value)
    layers = sum(name.endswith("attn_q.weight") for name in of)
    for norm in NORMS:
        name = norm.format(layers - 1)
        w.add_tensor("base." + name, floats(of[name]))
    for t in file.tensors:
        if ".lora_" in t.name:
            packed = gguf.quants.quantize(floats(t), gguf.GGMLQuantizationType.Q8_0)
            w.add_tensor(t.name, packed, raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        else:
            w.add_tensor(t.name, floats(t))
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
