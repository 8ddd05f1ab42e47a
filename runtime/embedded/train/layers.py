"""How much each layer counts: what it writes beside what it reads, and the loss on answers without it.

    python layers.py run/last.ckpt --batches 12

Training examples of a seed of its own, full difficulty. A layer that hardly counts writes little beside the others, and without it
the loss is nearly the same: within what one draw of examples differs from another, so take as many batches as time allows.
"""

import argparse
from pathlib import Path

import torch
import torch.nn.functional as F

from batches import Batches
from export import load
from train import objective

SEED = 12345


@torch.no_grad()
def measured(model, batches, without=None):
    """Mean loss of the answers' tokens, and of each layer the mean lengths of what it writes and of what it reads."""
    losses, lengths = [], [[] for _ in model.blocks]

    def watch(i):
        def hook(_, inputs, output):
            x = inputs[0]
            lengths[i].append([(output - x).float().norm(dim=-1).mean(), x.float().norm(dim=-1).mean()])
            return x if i == without else output
        return hook

    hooks = [block.register_forward_hook(watch(i)) for i, block in enumerate(model.blocks)]
    for inputs, positions, seen, targets, weights, picked, keyed, rivals, rating in batches:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = model.hidden(inputs, positions, seen).reshape(-1, model.c["width"])[picked]
            logits = F.linear(hidden, model.embed.weight)
        losses.append(objective(logits, targets, weights, keyed, rivals, rating)[1][weights >= 1])
    for hook in hooks:
        hook.remove()
    return torch.cat(losses).mean().item(), torch.tensor(lengths).mean(1).tolist()


def main():
    a = argparse.ArgumentParser()
    a.add_argument("checkpoint", type=Path)
    a.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "tokenizer.json")
    a.add_argument("--batches", type=int, default=12)
    a = a.parse_args()
    model, _ = load(a.checkpoint)
    source = Batches(a.tokenizer, SEED, 4500)
    batches = [source.next(1.0) for _ in range(a.batches)]
    loss, lengths = measured(model, batches)
    print(f"loss {loss:.4f}")
    for i, (writes, reads) in enumerate(lengths):
        print(f"layer {i}: writes {writes:.1f} to {reads:.1f}, loss without it {measured(model, batches, i)[0]:.4f}", flush=True)


if __name__ == "__main__":
    main()
