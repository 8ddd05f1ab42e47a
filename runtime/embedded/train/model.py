"""The network: decoder-only, Llama-style. RMSNorm, rotary positions, grouped-query attention, gated MLP, tied embedding.

Sizes are those of ../config.json. Shapes: B batch, S sequence, W width, H query heads, K key/value heads, D head size.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = dict(vocab=4096, width=256, layers=6, heads=4, kv_heads=2, head_dim=64, hidden=640, context=2048, theta=10000.0, eps=1e-6)


def rotary(positions, c):
    """Positions [B, S] → cos, sin [B, 1, S, D/2]."""
    rates = c["theta"] ** (-torch.arange(0, c["head_dim"], 2, dtype=torch.float32) / c["head_dim"])
    angles = positions[:, None, :, None].float() * rates
    return angles.cos(), angles.sin()


def rotate(x, cos, sin):
    """Halves, not pairs: dimension i turns with dimension i + D/2."""
    a, b = x.chunk(2, dim=-1)
    return torch.cat([a * cos - b * sin, b * cos + a * sin], dim=-1)


def normalise(x, gain, eps):
    """RMSNorm; the root is taken in float32, the rest in the type of x."""
    root = (torch.linalg.vector_norm(x, dim=-1, keepdim=True, dtype=torch.float32) ** 2 / x.shape[-1] + eps).rsqrt()
    return x * root.to(x.dtype) * gain.to(x.dtype)


class Block(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        w, d = c["width"], c["head_dim"]
        self.norm1, self.norm2 = nn.Parameter(torch.ones(w)), nn.Parameter(torch.ones(w))
        self.q = nn.Linear(w, c["heads"] * d, bias=False)
        self.k = nn.Linear(w, c["kv_heads"] * d, bias=False)
        self.v = nn.Linear(w, c["kv_heads"] * d, bias=False)
        self.o = nn.Linear(c["heads"] * d, w, bias=False)
        self.gate, self.up = nn.Linear(w, c["hidden"], bias=False), nn.Linear(w, c["hidden"], bias=False)
        self.down = nn.Linear(c["hidden"], w, bias=False)

    def forward(self, x, cos, sin, later):
        c, (b, s, _) = self.c, x.shape
        h = normalise(x, self.norm1, c["eps"])
        q = self.q(h).view(b, s, c["heads"], -1).transpose(1, 2)
        k = self.k(h).view(b, s, c["kv_heads"], -1).transpose(1, 2)
        v = self.v(h).view(b, s, c["kv_heads"], -1).transpose(1, 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        group = c["heads"] // c["kv_heads"]
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        # Written out: on a CPU, backward through two products is twice as fast as the fused kernel's.
        scores = q @ k.transpose(2, 3) * c["head_dim"] ** -0.5
        a = (scores + later).softmax(-1).to(v.dtype) @ v
        x = x + self.o(a.transpose(1, 2).reshape(b, s, -1))
        h = normalise(x, self.norm2, c["eps"])
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Model(nn.Module):
    def __init__(self, c=CONFIG):
        super().__init__()
        self.c = c
        self.embed = nn.Embedding(c["vocab"], c["width"])
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["layers"]))
        self.norm = nn.Parameter(torch.ones(c["width"]))
        nn.init.normal_(self.embed.weight, std=0.04)
        for block in self.blocks:
            for name, p in block.named_parameters():
                if p.dim() == 2:
                    nn.init.normal_(p, std=0.0 if name.startswith(("o.", "down.")) else c["width"] ** -0.5)

    def hidden(self, ids, positions=None):
        """Last hidden states [B, S, W], after the final norm."""
        if positions is None:
            positions = torch.arange(ids.shape[1])[None]
        cos, sin = rotary(positions, self.c)
        later = torch.full((ids.shape[1],) * 2, -1e9).triu(1)
        x = self.embed(ids)
        if torch.is_autocast_enabled("cpu"):
            x, cos, sin, later = x.bfloat16(), cos.bfloat16(), sin.bfloat16(), later.bfloat16()
        for block in self.blocks:
            x = block(x, cos, sin, later)
        return normalise(x, self.norm, self.c["eps"])

    def forward(self, ids, positions=None):
        return F.linear(self.hidden(ids, positions), self.embed.weight)
