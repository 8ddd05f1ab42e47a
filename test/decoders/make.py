"""Makes the tiny GGUF files of this folder: one decoder of random weights an architecture.

usage: make.py [NAME[:SEED]…]        (needs numpy and gguf 0.19; `llama.mjs` then writes what llama.cpp answers)

Weights have types of several kinds, mixed as in real files: q, k and v of one type in some models and of two in others.
"""
import sys
from pathlib import Path

import numpy as np
from gguf import GGMLQuantizationType as T, GGUFWriter, quants

here = Path(__file__).parent
width = 288


def alphabet():
    """The characters by which byte-level vocabularies write bytes, byte by byte."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = iter(range(256, 512))
    return [chr(byte) if byte in plain else chr(next(rest)) for byte in range(256)]


def vocabulary(writer):
    bytes_ = alphabet()
    merges = ["t h", "i n", "a n", "e r", "o n", "r e", "Ġ t", "Ġ a", "Ġt h", "Ġth e", "in g", "o r", "e n", "a t", "i s", "o u", "e s", "Ġ i", "Ġ s", "an d", "Ġ w", "Ġ o", "i t", "a l", "Ġ c", "s t", "1 2", "a r"]
    special = ["<|begin|>", "<|end|>", "<|user|>", "<|assistant|>"]
    tokens = bytes_ + [merge.replace(" ", "") for merge in merges] + special
    assert len(tokens) == width
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([1] * (width - 4) + [3] * 4)
    writer.add_token_merges(merges)
    writer.add_bos_token_id(width - 4)
    writer.add_eos_token_id(width - 3)
    writer.add_add_bos_token(False)
    writer.add_chat_template("{% for message in messages %}{{ '<|' + message.role + '|>' + message.content + '<|end|>' }}{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}")


class Maker:
    def __init__(self, name, **parameters):
        self.writer = GGUFWriter(here / f"{name}.gguf", name)
        self.random = np.random.default_rng(seeds[name])
        self.name = name
        vocabulary(self.writer)
        self.writer.add_name("tiny decoder")
        self.set(**{"vocab_size": width, "context_length": 256, **parameters})

    def set(self, **parameters):
        """Keys behind the architecture; two underscores are a dot."""
        for key, value in parameters.items():
            key = f"{self.name}.{key.replace('__', '.')}"
            if isinstance(value, bool):
                self.writer.add_bool(key, value)
            elif isinstance(value, float):
                self.writer.add_float32(key, value)
            elif isinstance(value, str):
                self.writer.add_string(key, value)
            elif isinstance(value, list):
                self.writer.add_array(key, value)
            else:
                self.writer.add_uint32(key, value)

    def matrix(self, name, rows, columns, type, gain=1.0):
        if type in (T.Q4_K, T.Q6_K):
            data = self.superblocks(rows, columns, type, gain)
        else:
            values = self.random.standard_normal((rows, columns), np.float32) * (gain / np.sqrt(columns))
            data = quants.quantize(values.astype(np.float32), type)
        self.writer.add_tensor(f"{name}.weight", data, raw_dtype=type)

    def superblocks(self, rows, columns, type, gain):
        """Random bytes but for the scales: gguf-py quantizes no super-blocks."""
        count = rows * columns // 256
        halves = lambda value: np.full((count, 1), value, np.float16).view(np.uint8)
        noise = lambda size: self.random.integers(0, 256, (count, size), np.uint8)
        unit = gain / np.sqrt(columns)
        if type == T.Q4_K:
            blocks = np.concatenate([halves(unit / 170), halves(unit / 170 * 7.5), noise(12), noise(128)], axis=1)
        else:
            scales = self.random.integers(-64, 64, (count, 16), np.int8).view(np.uint8)
            blocks = np.concatenate([noise(128), noise(64), scales, halves(unit / 700)], axis=1)
        return blocks.reshape(rows, -1)

    def vector(self, name, size, mean=1.0, spread=0.2):
        values = mean + spread * self.random.standard_normal(size, np.float32)
        self.writer.add_tensor(name, values.astype(np.float32))

    def close(self):
        self.writer.write_header_to_file()
        self.writer.write_kv_data_to_file()
        self.writer.write_tensors_to_file()
        self.writer.close()
        size = (here / f"{self.name}.gguf").stat().st_size
        print(self.name, size)
        assert size <= 49_152


# Those with which no token that llama.cpp takes is close to the second best, and most texts do not repeat one token.
seeds = {
    "llama": 8, "qwen2": 9, "qwen3": 1, "gemma": 3, "gemma2": 7, "gemma3": 3, "phi3": 10, "smollm3": 24, "granite": 2, "olmo2": 5, "command-r": 11, "cohere2": 7, "starcoder2": 23, "glm4": 9, "lfm2": 8,
}
made = {}


def model(function):
    made[function.__name__.rstrip("_").replace("_r", "-r")] = function
    return function


def decoder(
    name, hidden=32, layers=2, heads=2, kv=1, dim=16, inner=64, types="4848", biases=(), norms=("attn_norm", "ffn_norm"),
    query_norm=None, norm="rms", gated=True, fused_qkv=False, fused_up=False, tied=True, final="output_norm", body=None, gain=3.0, embedding=T.Q8_0, spread=1.0, **parameters,
):
    m = Maker(
        name, embedding_length=hidden, block_count=layers, attention__head_count=heads, feed_forward_length=inner,
        **({"attention__head_count_kv": kv} if "attention__head_count_kv" not in parameters else {}),
        **({"attention__layer_norm_rms_epsilon": 1e-5} if norm == "rms" else {"attention__layer_norm_epsilon": 1e-5}),
        **({"attention__key_length": dim, "attention__value_length": dim} if dim * heads != hidden or name.startswith("gemma") else {}), **parameters,
    )
    kinds = {"4": T.Q4_0, "5": T.Q5_0, "1": T.Q4_1, "8": T.Q8_0, "f": T.F32, "k": T.Q4_K, "6": T.Q6_K, "h": T.F16}
    query, value, out, up = (kinds[each] for each in types[:4])
    down = kinds[types[4]] if len(types) > 4 else T.Q4_K if inner % 256 == 0 else T.Q8_0

    def linear(name, rows, columns, type, gain=1.0):
        m.matrix(name, rows, columns, type, gain)
        if name.split(".")[-1] in biases:
            m.vector(f"{name}.bias", rows, 0.0, 0.3)

    def norm_of(name, size):
        m.vector(f"{name}.weight", size)
        if norm == "layer" and "norm" in biases:
            m.vector(f"{name}.bias", size, 0.0, 0.1)

    linear("token_embd", width, hidden, embedding, spread * np.sqrt(hidden))
    for layer in range(layers):
        at = f"blk.{layer}."
        for each in norms:
            norm_of(at + each, hidden)
        if body is not None and body(m, layer, linear):
            pass
        else:
            if fused_qkv:
                linear(at + "attn_qkv", (heads + 2 * kv) * dim, hidden, query)
            else:
                linear(at + "attn_q", heads * dim, hidden, query, 2.0)
                linear(at + "attn_k", kv * dim, hidden, query, 2.0)
                linear(at + "attn_v", kv * dim, hidden, value)
            linear(at + "attn_output", hidden, heads * dim, out, 2 * gain)
            if query_norm is not None:
                norm_of(at + "attn_q_norm", dim if query_norm == "heads" else heads * dim)
                norm_of(at + "attn_k_norm", dim if query_norm == "heads" else kv * dim)
        if gated and not fused_up:
            linear(at + "ffn_gate", inner, hidden, up)
        linear(at + "ffn_up", 2 * inner if fused_up else inner, hidden, up)
        linear(at + "ffn_down", hidden, inner, down, 2 * gain)
    norm_of(final, hidden)
    if not tied:
        m.matrix("output", width, hidden, T.Q4_0, 4.0)
    return m


@model
def llama():
    """Factors of the frequencies, as Llama 3 has them."""
    m = decoder("llama", tied=False, types="4484", rope__dimension_count=16, rope__freq_base=10000.0)
    m.writer.add_tensor("rope_freqs.weight", np.array([1, 1, 1, 1, 1.5, 3, 8, 8], np.float32))
    return m


@model
def qwen2():
    """Linear stretching."""
    return decoder("qwen2", types="4585", biases=("attn_q", "attn_k", "attn_v"), rope__freq_base=1000000.0, rope__scaling__type="linear", rope__scaling__factor=2.0)


@model
def qwen3():
    """Yarn; heads that are wider than the hidden size has room for."""
    return decoder(
        "qwen3", heads=2, kv=1, dim=32, types="8144", query_norm="heads", rope__freq_base=1000000.0, rope__scaling__type="yarn",
        rope__scaling__factor=4.0, rope__scaling__original_context_length=64,
    )


@model
def gemma():
    return decoder("gemma", spread=0.3, heads=2, kv=1, dim=32, inner=96, types="4454")


@model
def gemma2():
    return decoder(
        "gemma2", spread=0.15, layers=2, dim=32, heads=2, kv=1, inner=64, types="4484", norms=("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"),
        attention__sliding_window=8, attn_logit_softcapping=5.0, final_logit_softcapping=30.0,
    )


@model
def gemma3():
    return decoder(
        "gemma3", spread=0.15, layers=6, hidden=32, heads=2, kv=1, inner=32, types="4444", norms=("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"),
        query_norm="heads", attention__sliding_window=8, rope__freq_base=1000000.0,
    )


@model
def phi3():
    """Fused tensors, factors for short and long texts, and half of each head is turned."""
    m = decoder(
        "phi3", heads=1, kv=1, dim=32, inner=64, types="4484", fused_qkv=True, fused_up=True, tied=False, context_length=512,
        rope__dimension_count=16, rope__scaling__original_context_length=256, rope__scaling__attn_factor=1.0690449676,
    )
    m.writer.add_tensor("rope_factors_long.weight", np.array([1, 2, 3, 4, 5, 6, 7, 8], np.float32))
    m.writer.add_tensor("rope_factors_short.weight", np.array([1, 1.1, 1.2, 1.3, 1.5, 1.8, 2, 3], np.float32))
    return m


@model
def smollm3():
    return decoder("smollm3", gain=2.0, layers=4, inner=32, types="8444", rope__dimension_count=16, rope__freq_base=5000000.0)


@model
def granite():
    return decoder(
        "granite", spread=0.3, types="4484", rope__dimension_count=16, attention__scale=0.12, embedding_scale=3.0, residual_scale=0.4, logit_scale=0.5,
    )


@model
def olmo2():
    return decoder("olmo2", types="8484", norms=("post_attention_norm", "post_ffw_norm"), query_norm="whole", tied=False, inner=64)


@model
def command_r():
    return decoder("command-r", norms=("attn_norm",), norm="layer", logit_scale=0.25, types="4484", rope__dimension_count=16)


@model
def cohere2():
    return decoder(
        "cohere2", layers=4, inner=32, norms=("attn_norm",), norm="layer", logit_scale=0.5, types="8444",
        attention__sliding_window=8, rope__dimension_count=16,
    )


@model
def starcoder2():
    return decoder(
        "starcoder2", gain=15.0, norm="layer", gated=False, types="4484k", inner=256, embedding=T.Q4_1,
        biases=("norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_up", "ffn_down"),
    )


@model
def glm4():
    return decoder(
        "glm4", heads=2, kv=1, dim=32, inner=64, types="4584", fused_up=True, tied=False, biases=("attn_q", "attn_k", "attn_v"),
        norms=("attn_norm", "post_attention_norm", "ffn_norm", "post_ffw_norm"), rope__dimension_count=16,
    )


@model
def lfm2():
    def body(m, layer, linear):
        if layer == 1:
            return False
        at = f"blk.{layer}.shortconv."
        linear(at + "in_proj", 3 * 32, 32, T.Q4_0)
        m.writer.add_tensor(at + "conv.weight", m.random.standard_normal((32, 3), np.float32))
        linear(at + "out_proj", 32, 32, T.Q8_0)
        return True

    return decoder(
        "lfm2", layers=3, types="8848", inner=64, final="token_embd_norm", body=body, query_norm="heads",
        attention__head_count_kv=[0, 1, 0], shortconv__l_cache=3, rope__freq_base=1000000.0,
    )


for name in sys.argv[1:] or made:
    name, _, seed = name.partition(":")
    seeds[name] = int(seed or seeds[name])
    made[name]().close()
