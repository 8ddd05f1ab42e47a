"""Trains the model. Muon on the matrices, AdamW on the embedding and the gains; the rate falls linearly with time.

    python train.py --out run --minutes 60                    from nothing
    python train.py --out run --minutes 60 --resume           goes on from run/last.ckpt with a fresh schedule
    python train.py --out run --minutes 20 --resume --recruits 4 6 7 8 --alone --lift 100 --read 3     teaches layers that hardly count yet

Each of --workers processes draws batches of its own and steps the weights that all share, with one thread and without
waiting for the others (Niu et al. 2011, "Hogwild!"): on cores that others use too, nothing waits for the slowest.

A checkpoint is written every four minutes, on SIGTERM and at the end. With these two set, memory is not handed back and
forth to the system on every step: MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592
(a worker then grows by some 0.1 GB a minute).

Recruits: a layer that grow.py adds writes nothing at first, and a step of Muon has one length wherever it goes. Behind layers that have
learnt for long the stream is a hundred times as long as the embedding that a new model's layers write to (layers.py), so that at the
rate of the others the new ones hardly come to write. They get factors of the rate: --lift for what they write, --read for the rest.

Muon: Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks": the momentum of each matrix, made
orthogonal by a Newton-Schulz iteration, is the step. The iteration's polynomials: Amsel et al. 2025, "The Polar Express".
"""

import argparse
import signal
import time
from pathlib import Path

import torch
import torch.multiprocessing as mp
import torch.nn.functional as F

from batches import Batches
from model import Model

POLYNOMIALS = [(8.287212, -23.595887, 17.300387), (4.107059, -2.947850, 0.544843), (3.948691, -2.908902, 0.551819), (3.318420, -2.488488, 0.510049)]


def orthogonal(g):
    """Matrices [N, R, C] with all singular values brought near 1."""
    x = g.bfloat16()
    is_tall = x.shape[1] > x.shape[2]
    x = x.mT if is_tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) * 1.02 + 1e-7)
    for a, b, c in POLYNOMIALS:
        s = x @ x.mT
        x = a * x + (b * s + c * s @ s) @ x
    return (x.mT if is_tall else x).float()


class Muon:
    def __init__(self, params, factors, momentum=0.95):
        """`factors`: of the rate, one for each of the matrices `params`."""
        self.params, self.factors, self.momentum = list(params), list(factors), momentum
        self.buffers = [torch.zeros_like(p) for p in self.params]
        shapes = {p.shape for p in self.params}
        self.alike = [[i for i, p in enumerate(self.params) if p.shape == shape] for shape in shapes]

    @torch.no_grad()
    def step(self, rate):
        for p, buffer in zip(self.params, self.buffers):
            buffer.lerp_(p.grad, 1 - self.momentum)
        for group in self.alike:
            pushes = torch.stack([self.params[i].grad.lerp(self.buffers[i], self.momentum) for i in group])
            for i, update in zip(group, orthogonal(pushes)):
                p = self.params[i]
                p.add_(update, alpha=-rate * self.factors[i] * max(1, p.shape[0] / p.shape[1]) ** 0.5)


def objective(logits, targets, weights, keyed, rivals, rating):
    """
    The weighted mean to be made small, and its parts: the loss of each target [N], and scores of the tokens that begin what
    is left of a key, the right one first [K, R]. Logits [N, V]; `keyed` [K] says whose rivals [K, R], −1 for none, are whose.
    """
    scores = logits.float()
    losses = torch.logsumexp(scores, 1) - scores.gather(1, targets[:, None])[:, 0]
    among = scores[keyed[:, None], rivals.clamp(min=0)].masked_fill(rivals < 0, -1e9)
    key_losses = torch.logsumexp(among, 1) - among[:, 0]
    total = (losses * weights).sum() + (key_losses * rating).sum()
    return total / (weights.sum() + rating.sum()), losses, among


def work(rank, a, model, done, counts, stopped):
    """One worker. `counts` [workers, 3] (shared): steps, tokens and examples of each."""
    torch.set_num_threads(1)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    recruits = tuple(f"blocks.{i}." for i in a.recruits)
    if a.alone:
        for n, p in model.named_parameters():
            p.requires_grad_(n.startswith(recruits))
    trained = [(n, p) for n, p in model.named_parameters() if p.requires_grad]
    names = [n for n, _ in trained]
    matrices = [(n, p) for n, p in trained if p.dim() == 2 and not n.startswith("embed")]
    gains = [p for _, p in trained if p.dim() != 2]

    def factor(n):
        return 1.0 if not n.startswith(recruits) else a.lift if n.endswith(("o.weight", "down.weight")) else a.read

    muon = Muon([p for _, p in matrices], [factor(n) for n, _ in matrices])
    # A token that a batch lacks has a gradient of 1e-6, one that it holds 1e-4 to 1e-2. Made equal, as Adam would with its
    # usual epsilon, the rare ones drift until all of them are alike and none can be copied.
    groups = [{"params": gains}] if a.alone else [{"params": [model.embed.weight], "eps": 3e-5}, {"params": gains}]
    adam = torch.optim.AdamW(groups, lr=a.adam, betas=(0.9, 0.95), weight_decay=0.0)
    last = a.out / "last.ckpt"
    if a.resume:
        state = torch.load(last)
        if state.get("trained") == names:  # not after restore.py, nor where --alone changes them
            muon.buffers = state["muon"]
            if "adam" in state:  # nor this after spread.py
                adam.load_state_dict(state["adam"])
    batches = Batches(a.tokenizer, 7919 * rank + a.seed + done["steps"], a.tokens)
    hidden_of = torch.compile(model.hidden, dynamic=True) if a.compile else model.hidden
    objective_of = torch.compile(objective, dynamic=True) if a.compile else objective
    begin = saved = time.time()
    mean = right = keys_right = None

    def save():
        steps, tokens, examples = (int(n) for n in counts.sum(0))
        now = {"steps": done["steps"] + steps, "tokens": done["tokens"] + tokens, "examples": done["examples"] + examples,
               "seconds": done["seconds"] + time.time() - begin}
        torch.save({"model": model.state_dict(), "muon": muon.buffers, "adam": adam.state_dict(), "trained": names, "done": now,
                    "config": model.c}, a.out / "next.ckpt")
        (a.out / "next.ckpt").replace(last)

    step = 0
    while not stopped.is_set() and (progress := (time.time() - begin) / 60 / a.minutes) < 1:
        difficulty = a.start + (a.final - a.start) * min(1.0, progress / a.ramp)
        inputs, positions, seen, targets, weights, picked, keyed, rivals, rating = batches.next(difficulty)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = hidden_of(inputs, positions, seen).reshape(-1, model.c["width"])[picked]
            logits = F.linear(hidden, model.embed.weight)
        loss, losses, among = objective_of(logits, targets, weights, keyed, rivals, rating)
        loss.backward()
        rate = min(1.0, (step + 1) / 20) * max(0.02, 1 - progress)
        muon.step(a.muon * rate)
        for group in adam.param_groups:
            group["lr"] = a.adam * rate
        adam.step()
        model.zero_grad(set_to_none=True)
        step += 1
        counts[rank] = torch.tensor([step, batches.tokens, batches.examples])
        if step % 5:  # the figures cost a twentieth of a step
            continue
        answer = weights >= 1
        hit = (logits.argmax(-1) == targets)[answer].float().mean().item()
        value = losses.detach()[answer].mean().item()
        mean = value if mean is None else 0.9 * mean + 0.1 * value
        right = hit if right is None else 0.9 * right + 0.1 * hit
        chosen = (among.argmax(1) == 0).float().mean().item() if len(keyed) else 1.0
        keys_right = chosen if keys_right is None else 0.9 * keys_right + 0.1 * chosen
        if step % 20 == 0 and rank == 0:
            steps, tokens, examples = (int(n) for n in counts.sum(0))
            print(f"minute {(time.time() - begin) / 60:.1f} steps {steps} tokens {tokens} examples {examples} "
                  f"answer loss {mean:.3f} right {right:.3f} keys {keys_right:.3f} tokens/s {tokens / (time.time() - begin):.0f}", flush=True)
        if rank == 0 and time.time() - saved > 240:
            save()
            saved = time.time()
    if rank == 0:
        save()
        print("done", counts.sum(0).tolist(), f"{time.time() - begin:.0f} s", flush=True)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--out", type=Path, required=True)
    a.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "tokenizer.json")
    a.add_argument("--minutes", type=float, default=60)
    a.add_argument("--tokens", type=int, default=3000, help="tokens in a batch of one worker")
    a.add_argument("--muon", type=float, default=0.006)
    a.add_argument("--adam", type=float, default=0.003)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--recruits", type=int, nargs="*", default=[], help="layers that hardly count yet, see above")
    a.add_argument("--lift", type=float, default=40.0)
    a.add_argument("--read", type=float, default=1.6)
    a.add_argument("--alone", action="store_true", help="train nothing but the --recruits")
    a.add_argument("--workers", type=int, default=2)
    a.add_argument("--resume", action="store_true")
    a.add_argument("--compile", action="store_true", help="a quarter faster; needs a C++ compiler and minutes to begin")
    a.add_argument("--ramp", type=float, default=0.35, help="share of the run over which examples grow to full size")
    a.add_argument("--start", type=float, default=0.15, help="difficulty of the first examples, see corpus.Maker.example")
    a.add_argument("--final", type=float, default=1.0, help="difficulty of the examples after the ramp")
    a = a.parse_args()
    torch.manual_seed(a.seed)
    a.out.mkdir(parents=True, exist_ok=True)
    done = {"steps": 0, "tokens": 0, "examples": 0, "seconds": 0.0}
    if a.resume:
        state = torch.load(a.out / "last.ckpt")
        model, done = Model(state["config"]), state["done"]
        model.load_state_dict(state["model"])
    else:
        model = Model()
    assert a.recruits or not a.alone, "--alone: name the --recruits"
    assert all(0 <= i < model.c["layers"] for i in a.recruits), f"--recruits {a.recruits}: layers 0 to {model.c['layers'] - 1} are there"
    model.share_memory()
    context = mp.get_context("spawn")
    stopped, counts = context.Event(), torch.zeros(a.workers, 3, dtype=torch.long).share_memory_()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    workers = [context.Process(target=work, args=(rank, a, model, done, counts, stopped)) for rank in range(a.workers)]
    for w in workers:
        w.start()
    for w in workers:
        w.join()


if __name__ == "__main__":
    main()
