"""Trains the model. Muon on the matrices, AdamW on the embedding and the gains; the rate falls linearly with time.

    python train.py --out run --minutes 60                    from nothing
    python train.py --out run --minutes 60 --resume           goes on from run/last.ckpt with a fresh schedule

A checkpoint is written every four minutes, on SIGTERM and at the end. With these two set, memory is not handed back and
forth to the system on every step: MALLOC_MMAP_THRESHOLD_=4294967296 MALLOC_TRIM_THRESHOLD_=8589934592

Muon: Jordan et al. 2024, "Muon: an optimizer for hidden layers in neural networks": the momentum of each matrix, made
orthogonal by a Newton-Schulz iteration, is the step.
"""

import argparse
import signal
import time
from pathlib import Path

import torch
import torch.nn.functional as F

from batches import Batches
from model import CONFIG, Model


def orthogonal(g, steps=5):
    a, b, c = 3.4445, -4.775, 2.0315
    x = g.bfloat16()
    is_tall = x.shape[0] > x.shape[1]
    x = x.T if is_tall else x
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return (x.T if is_tall else x).float()


class Muon:
    def __init__(self, params, momentum=0.95):
        self.params, self.momentum = list(params), momentum
        self.buffers = [torch.zeros_like(p) for p in self.params]

    @torch.no_grad()
    def step(self, rate):
        for p, buffer in zip(self.params, self.buffers):
            buffer.lerp_(p.grad, 1 - self.momentum)
            update = orthogonal(p.grad.lerp(buffer, self.momentum))
            p.add_(update, alpha=-rate * max(1, p.shape[0] / p.shape[1]) ** 0.5)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--out", type=Path, required=True)
    a.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "tokenizer.json")
    a.add_argument("--minutes", type=float, default=60)
    a.add_argument("--tokens", type=int, default=3000, help="tokens in a batch")
    a.add_argument("--muon", type=float, default=0.008)
    a.add_argument("--adam", type=float, default=0.003)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--resume", action="store_true")
    a.add_argument("--ramp", type=float, default=0.35, help="share of the run over which examples grow to full size")
    a.add_argument("--start", type=float, default=0.15, help="difficulty of the first examples, see corpus.Maker.example")
    a.add_argument("--final", type=float, default=1.0, help="difficulty of the examples after the ramp")
    a = a.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(a.seed)
    a.out.mkdir(parents=True, exist_ok=True)
    last = a.out / "last.ckpt"

    model = Model()
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and not n.startswith("embed")]
    others = [p for n, p in model.named_parameters() if p.dim() != 2 or n.startswith("embed")]
    muon = Muon(matrices)
    adam = torch.optim.AdamW(others, lr=a.adam, betas=(0.9, 0.95), weight_decay=0.0)
    done = {"steps": 0, "tokens": 0, "examples": 0, "seconds": 0.0}
    if a.resume:
        state = torch.load(last)
        model.load_state_dict(state["model"])
        muon.buffers = state["muon"]
        adam.load_state_dict(state["adam"])
        done = state["done"]
    batches = Batches(a.tokenizer, a.seed + done["steps"], a.tokens)

    def save():
        now = {"steps": done["steps"] + step, "tokens": done["tokens"] + batches.tokens,
               "examples": done["examples"] + batches.examples, "seconds": done["seconds"] + time.time() - begin}
        torch.save({"model": model.state_dict(), "muon": muon.buffers, "adam": adam.state_dict(), "done": now,
                    "config": CONFIG}, a.out / "next.ckpt")
        (a.out / "next.ckpt").replace(last)

    stopped = []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    begin, step, saved, mean, right = time.time(), 0, time.time(), None, None
    while not stopped and (progress := (time.time() - begin) / 60 / a.minutes) < 1:
        difficulty = a.start + (a.final - a.start) * min(1.0, progress / a.ramp)
        inputs, targets, weights, picked = batches.next(difficulty)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = model.hidden(inputs).reshape(-1, CONFIG["width"])[picked]
            logits = F.linear(hidden, model.embed.weight)
        losses = F.cross_entropy(logits.float(), targets, reduction="none")
        loss = (losses * weights).sum() / weights.sum()
        loss.backward()
        rate = min(1.0, (step + 1) / 20) * max(0.02, 1 - progress)
        muon.step(a.muon * rate)
        for group in adam.param_groups:
            group["lr"] = a.adam * rate
        adam.step()
        model.zero_grad(set_to_none=True)
        step += 1
        answer = weights == 1
        hit = (logits.argmax(-1) == targets)[answer].float().mean().item()
        value = losses.detach()[answer].mean().item()
        mean = value if mean is None else 0.95 * mean + 0.05 * value
        right = hit if right is None else 0.95 * right + 0.05 * hit
        if step % 25 == 0:
            print(f"step {step} minute {(time.time() - begin) / 60:.1f} tokens {batches.tokens} examples {batches.examples} "
                  f"answer loss {mean:.3f} right {right:.3f} tokens/s {batches.tokens / (time.time() - begin):.0f}", flush=True)
        if time.time() - saved > 240:
            save()
            saved = time.time()
    save()
    print("done", step, "steps", batches.tokens, "tokens", f"{time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
