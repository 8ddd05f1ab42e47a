"""Makes a checkpoint with wider gated MLPs or more layers out of a smaller one; it computes the same, so that training goes on from there.

    python grow.py small/last.ckpt run/last.ckpt --hidden 1024 --layers 8
    python grow.py small/last.ckpt run/last.ckpt --anew 4 6 7 8           layers that hardly count begin anew (layers.py tells which)

The new units read what they like and write nothing yet: their columns of `down` are 0. A new layer is the twin of the one
before it, but for what it writes: its `o` and `down` are 0. One that begins anew reads at random and writes nothing;
what it computed is lost. The optimisers start afresh.
After Chen et al. 2016, "Net2Net: Accelerating Learning via Knowledge Transfer", with new units instead of copied ones.
"""

import argparse
from pathlib import Path

import torch

from model import Block, Model


@torch.no_grad()
def widened(state, config, hidden):
    """The model of weights `state` and sizes `config` with MLPs of `hidden` units, as many as before or more."""
    old = config["hidden"]
    assert hidden >= old, f"--hidden {hidden}: the MLPs have {old} units already"
    model = Model({**config, "hidden": hidden})
    for name, p in model.state_dict().items():
        kind = name.split(".")[-2] if name.endswith(".weight") else ""
        if kind == "down":
            p[:, :old], p[:, old:] = state[name], 0
        elif kind in ("gate", "up"):
            p[:old] = state[name]
        else:
            p.copy_(state[name])
    return model


@torch.no_grad()
def deepened(state, config, layers):
    """The model of weights `state` and sizes `config` with `layers` layers: the last ones but one have twins."""
    old = config["layers"]
    assert old <= layers < 2 * old, f"--layers {layers}: from {old} to {2 * old - 1} can be made of {old}"
    model = Model({**config, "layers": layers})
    origins = [i for i in range(old) for _ in range(2 if 2 * old - 1 - layers <= i < old - 1 else 1)]
    for name, p in model.state_dict().items():
        if not name.startswith("blocks."):
            p.copy_(state[name])
            continue
        _, index, part = name.split(".", 2)
        origin = origins[int(index)]
        is_twin = int(index) > 0 and origins[int(index) - 1] == origin
        p.copy_(state[f"blocks.{origin}.{part}"] * (0 if is_twin and part in ("o.weight", "down.weight") else 1))
    return model


@torch.no_grad()
def renewed(state, config, layers):
    """The model of weights `state` and sizes `config` with the layers `layers` as those of a new model, without the heads that copy."""
    assert all(0 <= i < config["layers"] for i in layers), f"--anew {layers}: layers 0 to {config['layers'] - 1} are there"
    model = Model(config)
    model.load_state_dict(state)
    for i in layers:
        model.blocks[i] = Block(config)
    return model


def main():
    a = argparse.ArgumentParser()
    a.add_argument("small", type=Path)
    a.add_argument("checkpoint", type=Path)
    a.add_argument("--hidden", type=int, help="units of each MLP")
    a.add_argument("--layers", type=int)
    a.add_argument("--anew", type=int, nargs="*", default=[], help="layers of the small model")
    a.add_argument("--seed", type=int, default=1)
    a = a.parse_args()
    torch.manual_seed(a.seed)
    found = torch.load(a.small)
    small = renewed(found["model"], found["config"], a.anew)
    model = widened(small.state_dict(), small.c, a.hidden or small.c["hidden"])
    model = deepened(model.state_dict(), model.c, a.layers or model.c["layers"])
    ids = torch.randint(model.c["vocab"], (1, 64))
    assert torch.allclose(small(ids), model(ids), atol=1e-3), "the larger model computes something else"
    a.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"model": model.state_dict(), "done": found["done"], "config": model.c}, a.checkpoint)


if __name__ == "__main__":
    main()
