"""Makes a checkpoint with weights between those of two, one of which was trained on from the other.

    python average.py before.ckpt after.ckpt run/last.ckpt --share 0.5

What a later run forgot is found again and most of what it learnt is kept: Wortsman et al. 2022, "Robust fine-tuning of zero-shot
models". `before` may have to be grown to the sizes of `after` first (grow.py). The optimisers go on from where `after` left them.
"""

import argparse
from pathlib import Path

import torch


def main():
    a = argparse.ArgumentParser()
    a.add_argument("before", type=Path)
    a.add_argument("after", type=Path)
    a.add_argument("checkpoint", type=Path)
    a.add_argument("--share", type=float, default=0.5, help="of the later weights, 0 … 1")
    a = a.parse_args()
    before, after = torch.load(a.before), torch.load(a.after)
    assert before["config"] == after["config"], f"{a.before} and {a.after} differ in size: {before['config']}, {after['config']}"
    model = {name: weights.lerp(after["model"][name], a.share) for name, weights in before["model"].items()}
    a.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    torch.save({**after, "model": model}, a.checkpoint)


if __name__ == "__main__":
    main()
