"""The network: decoder-only, Llama-style. RMSNorm, rotary positions, grouped-query attention, gated MLP, tied embedding.

CONFIG holds the sizes of a new model; those of the shipped one are in ../config.json. Shapes: B batch, S sequence, W width, H query heads, K key/value heads, D head size.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = dict(vocab=8000, width=256, layers=10, heads=4, kv_heads=2, head_dim=64, hidden=1024, context=2048, theta=100000.0, eps=1e-6)


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
        for name, p in self.named_parameters():
            if p.dim() == 2:  # reads at random and writes nothing
                nn.init.normal_(p, std=0.0 if name.startswith(("o.", "down.")) else w**-0.5)

    def forward(self, x, cos, sin, later):
        c, (b, s, _) = self.c, x.shape
        h = normalise(x, self.norm1, c["eps"])
        joined = F.linear(h, torch.cat([self.q.weight, self.k.weight, self.v.weight]))
        joined = joined.view(b, s, c["heads"] + 2 * c["kv_heads"], -1).transpose(1, 2)
        q, k, v = joined.split([c["heads"], c["kv_heads"], c["kv_heads"]], 1)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        group = c["heads"] // c["kv_heads"]
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        # Written out: on a CPU, backward through two products is twice as fast as the fused kernel's.
        scores = q @ k.transpose(2, 3) * c["head_dim"] ** -0.5
        a = (scores + later).softmax(-1).to(v.dtype) @ v
        x = x + self.o(a.transpose(1, 2).reshape(b, s, -1))
        h = normalise(x, self.norm2, c["eps"])
        gate, up = F.linear(h, torch.cat([self.gate.weight, self.up.weight])).chunk(2, -1)
        return x + self.down(F.silu(gate) * up)


class Model(nn.Module):
    def __init__(self, c=CONFIG):
        super().__init__()
        self.c = c
        self.embed = nn.Embedding(c["vocab"], c["width"])
        self.blocks = nn.ModuleList(Block(c) for _ in range(c["layers"]))
        self.norm = nn.Parameter(torch.ones(c["width"]))
        if "meanings" in c:  # their size: of each token a fixed vector, read beside its embedding (meanings.py)
            self.register_buffer("meanings", torch.zeros(c["vocab"], c["meanings"]))
            self.sense = nn.Linear(c["meanings"], c["width"], bias=False)
        self.begin_copying()

    @torch.no_grad()
    def begin_copying(self):
        """
        Weights to start from that copy already: what follows an earlier occurrence of the last tokens is likely next.

        The embedding has a constant dimension 0, its identity mostly in the subspace own[0]. Block 0 has heads that look one, two
        and three tokens back, whatever the tokens are (a constant query and key whose rotary angles meet at that distance),
        and write what they see into own[1 … 3]. The heads of some later blocks look where own[1], own[2] and own[3] are what own[0],
        own[1] and own[2] are here, on the dimensions that rotate slowly, and add the identity that they find.
        """
        c, d = self.c, self.c["head_dim"]
        basis = torch.linalg.qr(torch.randn(c["width"] - 1, c["width"] - 1))[0]
        own = torch.cat([torch.zeros(c["width"] - 1, 1), basis], 1)[: 4 * d - 1].split(d)
        strong, weak, constant = 0.07, 0.025, 0.25
        self.embed.weight.copy_(torch.randn(c["vocab"], c["width"] - 1) @ torch.cat([o * weak for o in own]))
        self.embed.weight.add_(torch.randn(c["vocab"], d) @ own[0] * (strong**2 - weak**2) ** 0.5)
        self.embed.weight[:, 0] = constant
        root = self.embed.weight.square().mean().sqrt().item()

        first, half = self.blocks[0], d // 2
        rates = c["theta"] ** (-torch.arange(0, 8) * 2 / d)
        for w in (first.q.weight, first.k.weight):
            w.mul_(0.1)
        for kv in range(c["kv_heads"]):
            first.k.weight[kv * d : kv * d + 8] = 0
            first.k.weight[kv * d : kv * d + 8, 0] = 1.4
            first.v.weight[kv * d : (kv + 1) * d] = own[0]
        for head, back in enumerate((1, 2, 3)):
            q, at = first.q.weight, head * d
            q[at : at + d] = 0
            q[at : at + 8, 0], q[at + half : at + half + 8, 0] = 1.4 * (rates * back).cos(), -1.4 * (rates * back).sin()
            seen = own[back]
            first.o.weight[:, at : at + len(seen)] = seen.T * root
        slow = [i for i in range(half) if c["theta"] ** (-2 * i / d) < 0.002]
        slow += [i + half for i in slow]
        group = c["heads"] // c["kv_heads"]
        for index, heads in ((1, range(c["heads"])), (2, range(group)), (4, range(group))):
            block = self.blocks[index]
            for kv in {head // group for head in heads}:
                share = torch.randn(len(slow), d) * 2 * d**-0.5
                # How many of the slow dimensions compare the last token, the one before, and the one before that.
                counts = (len(slow) // 2, len(slow) - len(slow) // 2, 0) if kv == 0 else (len(slow) // 3, len(slow) // 3, len(slow) - 2 * (len(slow) // 3))
                back = [b for b, n in enumerate(counts) for _ in range(n)]
                for row, (dim, b) in enumerate(zip(slow, back)):
                    mix = share[row]
                    block.k.weight[kv * d + dim] = mix[: len(own[b + 1])] @ own[b + 1]
                    for head in heads:
                        if head // group == kv:
                            block.q.weight[head * d + dim] = mix[: len(own[b])] @ own[b]
                block.v.weight[kv * d : (kv + 1) * d] = own[0]
            for head in heads:
                block.o.weight[:, head * d : (head + 1) * d] = own[0].T * 0.1

    def hidden(self, ids, positions=None, seen=None):
        """Last hidden states [B, S, W], after the final norm. `seen` [B, 1, S, S] is added to the scores; without it, causal."""
        if positions is None:
            positions = torch.arange(ids.shape[1])[None]
        cos, sin = rotary(positions, self.c)
        later = torch.full((ids.shape[1],) * 2, -1e9).triu(1) if seen is None else seen
        x = self.embed(ids)
        if "meanings" in self.c:
            x = x + self.sense(F.embedding(ids, self.meanings))
        if torch.is_autocast_enabled("cpu"):
            x, cos, sin, later = x.bfloat16(), cos.bfloat16(), sin.bfloat16(), later.bfloat16()
        for block in self.blocks:
            x = block(x, cos, sin, later)
        return normalise(x, self.norm, self.c["eps"])

    def forward(self, ids, positions=None):
        return F.linear(self.hidden(ids, positions), self.embed.weight)
