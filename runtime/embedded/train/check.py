"""Checks an export with onnxruntime: equal to PyTorch, cached = full, padded batch = single rows; then times decoding.

    python check.py ../onnx/model.onnx [--checkpoint run/last.ckpt]
"""

import argparse
import time

import numpy as np
import onnxruntime as ort
import torch

from export import load
from model import CONFIG


def session(path, threads=2):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def run(s, ids, mask=None, positions=None, past=None):
    c = CONFIG
    ids = np.asarray(ids, np.int64)
    b, n = ids.shape
    length = past[0].shape[2] if past else 0
    if past is None:
        past = [np.zeros((b, c["kv_heads"], 0, c["head_dim"]), np.float32)] * (2 * c["layers"])
    mask = np.ones((b, length + n), np.int64) if mask is None else np.asarray(mask, np.int64)
    positions = np.arange(length, length + n)[None].repeat(b, 0) if positions is None else np.asarray(positions, np.int64)
    feeds = {"input_ids": ids, "attention_mask": mask, "position_ids": positions}
    for i in range(c["layers"]):
        feeds[f"past_key_values.{i}.key"], feeds[f"past_key_values.{i}.value"] = past[2 * i], past[2 * i + 1]
    names = ["logits"] + [f"present.{i}.{p}" for i in range(c["layers"]) for p in ("key", "value")]
    logits, *present = s.run(names, feeds)
    return logits, present


def main():
    a = argparse.ArgumentParser()
    a.add_argument("model")
    a.add_argument("--checkpoint")
    a.add_argument("--threads", type=int, default=2)
    a = a.parse_args()
    torch.set_num_threads(1)
    s = session(a.model, a.threads)
    r = np.random.default_rng(1)
    ids = r.integers(0, CONFIG["vocab"], (3, 40))
    full, _ = run(s, ids)
    if a.checkpoint:
        model, _ = load(a.checkpoint)
        with torch.no_grad():
            want = model(torch.from_numpy(ids)).numpy()
        print("against PyTorch: largest difference", float(np.abs(want - full).max()), "of", float(np.abs(want).max()))
    logits, past = run(s, ids[:, :25])
    steps = [logits]
    for i in range(25, 40):
        logits, past = run(s, ids[:, i : i + 1], past=past)
        steps.append(logits)
    cached = np.abs(np.concatenate(steps, 1) - full).max()
    lengths = [40, 17, 29]
    left = np.zeros((3, 40), np.int64)
    left_mask = np.zeros((3, 40), np.int64)
    left_positions = np.zeros((3, 40), np.int64)
    right, right_mask = left.copy(), left.copy()
    for row, n in enumerate(lengths):
        left[row, 40 - n :], left_mask[row, 40 - n :], left_positions[row, 40 - n :] = ids[row, :n], 1, np.arange(n)
        right[row, :n], right_mask[row, :n] = ids[row, :n], 1
    left_out, _ = run(s, left, left_mask, left_positions)
    right_out, _ = run(s, right, right_mask)
    padded = 0.0
    for row, n in enumerate(lengths):
        single, _ = run(s, ids[row : row + 1, :n])
        padded = max(padded, np.abs(left_out[row, 40 - n :] - single[0]).max(), np.abs(right_out[row, :n] - single[0]).max())
    print("cached against full", cached, "padded against single", padded)
    assert cached < 1e-3 and padded < 1e-3
    begin = time.time()
    run(s, ids[:1].repeat(4, 1).repeat(1, 0))
    logits, past = run(s, r.integers(0, CONFIG["vocab"], (1, 200)))
    best = 1e9
    for _ in range(6):
        p, begin = past, time.time()
        for i in range(50):
            logits, p = run(s, [[5]], past=p)
        best = min(best, time.time() - begin)
    begin = time.time()
    run(s, r.integers(0, CONFIG["vocab"], (1, 1000)))
    print(f"decode at 200-250 tokens: {50 / best:.0f} tokens/s (best of 6); prefill of 1000: {time.time() - begin:.3f} s")


if __name__ == "__main__":
    main()
