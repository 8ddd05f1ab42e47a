"""The same rows in PyTorch on one CPU thread, for sampler.ts: one request a line on stdin, microseconds a line back.

Usage: sampler_torch.py FILE, the row as float32. A request is {"temperature", "topK", "topP", "minP", "mask": [ids]}.
The pipeline is that of the engines: sort, cumulative sum, mask, scatter back, softmax, exponential race.
"""

import json
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(3)

torch.set_num_threads(1)
logits = torch.frombuffer(bytearray(open(sys.argv[1], "rb").read()), dtype=torch.float32).unsqueeze(0)


def sample(row, temperature=1, topK=0, topP=1, minP=0, mask=None):
    if mask is not None:
        row = row.masked_fill(~mask, float("-inf"))
    if temperature == 0:
        return row.argmax(-1)
    row = row / temperature
    if minP > 0:
        probs = row.softmax(-1)
        row = row.masked_fill(probs < minP * probs.amax(-1, keepdim=True), float("-inf"))
    if topK > 0 or topP < 1:
        values, order = row.sort(dim=-1)
        if topK > 0:
            least = values[:, values.shape[-1] - topK].unsqueeze(-1)
            values = values.masked_fill(values < least, float("-inf"))
        if topP < 1:
            drop = values.softmax(-1).cumsum(-1) <= 1 - topP
            drop[:, -1] = False
            values = values.masked_fill(drop, float("-inf"))
        row = values.scatter(-1, order, values)
    probs = row.softmax(-1)
    return (probs / torch.empty_like(probs).exponential_(1)).argmax(-1)


print("ready", flush=True)
for line in sys.stdin:
    case = json.loads(line)
    if "mask" in case:
        mask = torch.zeros(logits.shape, dtype=torch.bool)
        mask[0, case["mask"]] = True
        case["mask"] = mask
    start = time.perf_counter()
    sample(logits, **case).item()
    print(1e6 * (time.perf_counter() - start), flush=True)
