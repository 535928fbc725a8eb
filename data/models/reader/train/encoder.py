"""all-MiniLM-L6-v2 in PyTorch, and its weights read from and written to model.safetensors."""
import json
import shutil
import struct

import torch
import torch.nn as nn
import torch.nn.functional as F

WIDTH, HEADS, LAYERS = 384, 12, 6
CLS, SEP = 101, 102
NAMES = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
         "o": "attention.output.dense", "n1": "attention.output.LayerNorm",
         "f1": "intermediate.dense", "f2": "output.dense", "n2": "output.LayerNorm"}


def read_tensors(path):
    """(header, bytes behind it, {name: float32 tensor})"""
    with open(path, "rb") as f:
        header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    tensors = {}
    for name, t in header.items():
        if name != "__metadata__" and t["dtype"] == "F32":
            a, b = t["data_offsets"]
            flat = torch.frombuffer(bytearray(data[a:b]), dtype=torch.float32)
            tensors[name.removeprefix("bert.")] = flat.reshape(t["shape"])
    return header, data, tensors


class Layer(nn.Module):
    def __init__(self, weights, i):
        super().__init__()
        for name, theirs in NAMES.items():
            w, b = (weights[f"encoder.layer.{i}.{theirs}.{x}"] for x in ("weight", "bias"))
            part = nn.LayerNorm(WIDTH, eps=1e-12) if w.dim() == 1 else nn.Linear(w.shape[1], w.shape[0])
            part.weight.data.copy_(w)
            part.bias.data.copy_(b)
            setattr(self, name, part)

    def forward(self, x, mask):
        n, length, _ = x.shape
        q, k, v = (p(x).view(n, length, HEADS, -1).transpose(1, 2) for p in (self.q, self.k, self.v))
        seen = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5 + mask, -1) @ v
        x = self.n1(x + self.o(seen.transpose(1, 2).reshape(n, length, WIDTH)))
        return self.n2(x + self.f2(F.gelu(self.f1(x))))


class Encoder(nn.Module):
    """Embeddings and the first `frozen` layers stay as they are."""

    def __init__(self, folder, frozen):
        super().__init__()
        _, _, w = read_tensors(folder + "/model.safetensors")
        self.frozen = frozen
        self.words = w["embeddings.word_embeddings.weight"]
        self.places = w["embeddings.position_embeddings.weight"]
        self.segment = w["embeddings.token_type_embeddings.weight"][0]
        self.norm = w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"]
        self.layers = nn.ModuleList([Layer(w, i) for i in range(LAYERS)])

    def trained(self):
        return [p for layer in self.layers[self.frozen:] for p in layer.parameters()]

    def forward(self, texts):
        """texts: lists of ids. A list of [tokens, WIDTH], each row of unit length."""
        length = max(map(len, texts)) + 2
        ids = torch.zeros(len(texts), length, dtype=torch.long)
        real = torch.zeros(len(texts), length, dtype=torch.bool)
        for i, t in enumerate(texts):
            ids[i, :len(t) + 2] = torch.tensor([CLS, *t, SEP])
            real[i, :len(t) + 2] = True
        x = self.words[ids] + self.places[:length] + self.segment
        x = F.layer_norm(x, (WIDTH,), *self.norm, 1e-12)
        with torch.autocast("cpu", torch.bfloat16):
            x = x.bfloat16()
            mask = torch.where(real[:, None, None, :], 0.0, -1e4).bfloat16()
            with torch.no_grad():
                for layer in self.layers[:self.frozen]:
                    x = layer(x, mask)
            for layer in self.layers[self.frozen:]:
                x = layer(x, mask)
        x = F.normalize(x.float(), dim=-1)
        return [v[1:len(t) + 1] for v, t in zip(x, texts)]

    def write(self, source, folder):
        """A copy of the folder `source` with these layers."""
        shutil.copytree(source, folder, dirs_exist_ok=True)
        header, data, _ = read_tensors(source + "/model.safetensors")
        data = bytearray(data)
        for key, value in self.layers.state_dict().items():
            i, name, kind = key.split(".")
            full = f"encoder.layer.{i}.{NAMES[name]}.{kind}"
            a, b = header[full if full in header else "bert." + full]["data_offsets"]
            data[a:b] = value.float().contiguous().numpy().tobytes()
        text = json.dumps(header).encode()
        with open(folder + "/model.safetensors", "wb") as f:
            f.write(struct.pack("<Q", len(text)) + text + bytes(data))
