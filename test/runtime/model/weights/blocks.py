"""Makes blocks.json: random blocks of each type and what gguf-py's dequantize makes of them.

Run by `python test/runtime/model/weights/blocks.py > test/runtime/model/weights/blocks.json`, with the package gguf 0.19.0.
Of each type: `blocks`, base64; `values`, the float32 of the first of them, base64; `digest`, SHA-256 of the float32 of all.
"""

import base64
import hashlib
import json

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize

COUNT = 20  # blocks a type
WITH_VALUES = 2

# Where a block has halves: scales and minima.
HALVES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q2_K": [80, 82], "Q3_K": [108], "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
    "IQ4_NL": [0], "IQ4_XS": [0], "MXFP4": [], "TQ1_0": [52], "TQ2_0": [64],
    "IQ2_XXS": [0], "IQ2_XS": [0], "IQ2_S": [0], "IQ3_XXS": [0], "IQ3_S": [0], "IQ1_S": [0], "IQ1_M": [],
}
# Zeros, smallest, largest subnormal, smallest normal and largest halves of both signs, 1 and −1.
EDGES = [0x0000, 0x8000, 0x0001, 0x83FF, 0x0400, 0x7BFF, 0xFBFF, 0x3C00, 0xBC00]
EXPONENTS = [0, 1, 2, 126, 127, 128, 252]


def blocks_of(name, count, rng):
    size = GGML_QUANT_SIZES[GGMLQuantizationType[name]][1]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    for place, at in enumerate(HALVES[name]):
        halves = rng.integers(0, 65536, count, dtype=np.uint16)
        halves[(halves & 0x7C00) == 0x7C00] ^= 0x4000
        # The first blocks are of ordinary size, in which a wrong sum shows.
        halves[:WITH_VALUES] = rng.normal(0, 0.01, WITH_VALUES).astype(np.float16).view(np.uint16)
        edges = EDGES[place:] + EDGES[:place]
        halves[WITH_VALUES : WITH_VALUES + len(edges)] = edges
        blocks[:, at : at + 2] = halves.view(np.uint8).reshape(count, 2)
    if name == "MXFP4":
        blocks[:, 0] = rng.integers(0, 253, count)
        blocks[WITH_VALUES : WITH_VALUES + len(EXPONENTS), 0] = EXPONENTS
    if name == "IQ1_M":
        # The half lies in the upper 4 bits of four words; without this bit it is finite.
        blocks[:, 55] &= 0xBF
        blocks[:WITH_VALUES, 55] = 0x20
    return blocks


def encoded(array):
    return base64.b64encode(array.tobytes()).decode()


def main():
    rng = np.random.default_rng(49)
    out = {}
    for name in HALVES:
        blocks = blocks_of(name, COUNT, rng)
        values = dequantize(blocks, GGMLQuantizationType[name]).astype(np.float32)
        assert np.isfinite(values).all()
        out[name] = {
            "blocks": encoded(blocks),
            "values": encoded(values[:WITH_VALUES]),
            "digest": hashlib.sha256(values.tobytes()).hexdigest(),
        }
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
