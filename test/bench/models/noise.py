"""Writes a GGUF of random weights in the shape of a Llama, for speed and memory: what it answers is noise.

    pip install gguf numpy && python noise.py --like tokens.gguf --shape 1b --out noise-1b.gguf

The vocabulary is that of the GGUF file `--like`, and so is the number of logits. Matrices are Q4_0, the table of tokens Q8_0.
"""

import argparse

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf import GGUFReader, GGUFValueType, GGUFWriter

SHAPES = {  # width, layers, heads, heads of keys and values, inner width
    "1b": (2048, 16, 32, 8, 8192),
    "3b": (3072, 28, 24, 8, 8192),
}


def matrix(rng, rows, columns, kind):
    """Random codes; each block of 32 has a scale that gives weights of about 1 / sqrt(columns)."""
    size, levels = {T.Q4_0: (16, 8), T.Q8_0: (32, 128)}[kind]
    blocks = np.empty((rows, columns // 32, 2 + size), np.uint8)
    blocks[..., 2:] = rng.integers(0, 256, (rows, columns // 32, size), np.uint8)
    scale = np.float16(1.7 / levels / columns**0.5)
    blocks[..., :2] = np.frombuffer(scale.tobytes(), np.uint8)
    return blocks.reshape(rows, -1)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--like", required=True)
    a.add_argument("--shape", choices=SHAPES, required=True)
    a.add_argument("--out", required=True)
    a = a.parse_args()
    width, layers, heads, kv, inner = SHAPES[a.shape]
    like = GGUFReader(a.like)
    writer = GGUFWriter(a.out, "llama")
    for name, field in like.fields.items():
        if name.startswith("tokenizer."):
            kind = field.types[0]
            if kind == GGUFValueType.ARRAY:
                writer.add_array(name, field.contents())
            else:
                writer.add_key_value(name, field.contents(), kind)
    vocabulary = len(like.fields["tokenizer.ggml.tokens"].data)
    writer.add_name(f"random {a.shape}")
    writer.add_context_length(4096)
    writer.add_embedding_length(width)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(500000.0)
    writer.add_rope_dimension_count(width // heads)
    rng = np.random.default_rng(1)

    def put(name, rows, columns, kind=T.Q4_0):
        writer.add_tensor(name, matrix(rng, rows, columns, kind), raw_dtype=kind)

    put("token_embd.weight", vocabulary, width, T.Q8_0)
    for i in range(layers):
        for name, rows, columns in [
            ("attn_q", width, width), ("attn_k", width * kv // heads, width), ("attn_v", width * kv // heads, width),
            ("attn_output", width, width), ("ffn_gate", inner, width), ("ffn_up", inner, width), ("ffn_down", width, inner),
        ]:
            put(f"blk.{i}.{name}.weight", rows, columns)
        for name in ("attn_norm", "ffn_norm"):
            writer.add_tensor(f"blk.{i}.{name}.weight", np.ones(width, np.float32))
    writer.add_tensor("output_norm.weight", np.ones(width, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
