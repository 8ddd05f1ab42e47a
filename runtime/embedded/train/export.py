"""Writes the model as ONNX with its key/value cache, in the layout of the public exports, and config.json beside it.

    python export.py --checkpoint run/last.ckpt --out .. --weights int8
    python export.py --random --out .. --weights int8        random weights, for trying out the layout

Inputs: input_ids, attention_mask [B, P + S], position_ids [B, S], past_key_values.<i>.key|value [B, K, P, D].
Outputs: logits [B, S, V], present.<i>.key|value [B, K, P + S, D], with --hidden also hidden_states [B, S, W].
A query at index i of P + S sees the indices ≤ i whose attention_mask is 1. Rotary angles come from position_ids alone. So
padding may lie on the left, on the right or as a gap inside the past, wherever the mask is 0.

--weights: float32; float16 or int8 (one scale a column) as stored forms that the session widens once when it loads.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from model import Model

HIDDEN_FLOOR = -1e9


class Graph:
    def __init__(self, weights):
        self.weights, self.nodes, self.values, self.count = weights, [], [], 0

    def op(self, kind, *inputs, out=None, outputs=1, **attributes):
        names = [out] if out else [f"t{self.count + i}" for i in range(outputs)]
        self.count += outputs
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind}_{self.count}", **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value, dtype=np.int64):
        array = np.asarray(value, dtype=dtype)
        name = f"c{len(self.values)}"
        self.values.append(numpy_helper.from_array(array, name))
        return name

    def vector(self, value):
        return self.constant(value.numpy(), np.float32)

    def matrix(self, w):
        """w [in, out] as stored by --weights → the name of a float32 [in, out]. Scales are per column."""
        w = w.float().numpy()
        if self.weights == "float32":
            return self.constant(w, np.float32)
        if self.weights == "float16":
            return self.op("Cast", self.constant(w, np.float16), to=TensorProto.FLOAT)
        scale = np.maximum(np.abs(w).max(axis=0, keepdims=True), 1e-8) / 127
        stored = self.constant(np.clip(np.rint(w / scale), -127, 127), np.int8)
        return self.op("Mul", self.op("Cast", stored, to=TensorProto.FLOAT), self.constant(scale, np.float32))

    def norm(self, x, gain, eps):
        mean = self.op("ReduceMean", self.op("Pow", x, self.constant(2.0, np.float32)), self.constant([-1]), keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.constant(eps, np.float32)))
        return self.op("Mul", self.op("Div", x, root), self.vector(gain))


def build(model, weights, with_hidden):
    c, g = model.c, Graph(weights)
    heads, kv, d = c["heads"], c["kv_heads"], c["head_dim"]
    group = heads // kv
    table = g.matrix(model.embed.weight.detach().T)
    read = table
    if "meanings" in c:
        read = g.matrix((model.embed.weight + model.sense(model.meanings)).detach().T)
    x = g.op("Gather", g.op("Transpose", read, perm=[1, 0]), "input_ids", axis=0)

    positions = g.op("Cast", g.op("Unsqueeze", "position_ids", g.constant([1, 3])), to=TensorProto.FLOAT)
    rates = c["theta"] ** (-np.arange(0, d, 2, dtype=np.float32) / d)
    angles = g.op("Mul", positions, g.constant(rates, np.float32))
    cos, sin = g.op("Cos", angles), g.op("Sin", angles)

    one, zero = g.constant(1), g.constant(0)
    past = g.op("Gather", g.op("Shape", "past_key_values.0.key"), g.constant(2), axis=0)
    total = g.op("Gather", g.op("Shape", "attention_mask"), one, axis=0)
    keys = g.op("Range", zero, total, one)
    queries = g.op("Unsqueeze", g.op("Range", past, total, one), g.constant([1]))
    is_before = g.op("Not", g.op("Greater", keys, queries))
    is_real = g.op("Unsqueeze", g.op("Cast", "attention_mask", to=TensorProto.BOOL), g.constant([1, 2]))
    mask = g.op("Where", g.op("And", is_before, is_real), g.constant(0.0, np.float32), g.constant(HIDDEN_FLOOR, np.float32))
    mask = g.op("Concat", *[mask] * group, axis=2)  # [B, 1, G·S, T]: one copy for each query head of a group

    to_heads = g.constant([0, 0, heads + 2 * kv, d])
    to_groups, from_groups = g.constant([0, kv, -1, d]), g.constant([0, heads, -1, d])
    flat = g.constant([0, 0, heads * d])
    parts = g.constant([heads, kv, kv])
    for i, block in enumerate(model.blocks):
        w = {name: p.detach() for name, p in block.named_parameters()}
        h = g.norm(x, w["norm1"], c["eps"])
        joined = torch.cat([w["q.weight"] * d**-0.5, w["k.weight"], w["v.weight"]]).T
        y = g.op("Transpose", g.op("Reshape", g.op("MatMul", h, g.matrix(joined)), to_heads), perm=[0, 2, 1, 3])
        q, k, v = g.op("Split", y, parts, outputs=3, axis=1)

        def turn(t):
            a, b = g.op("Split", t, g.constant([d // 2, d // 2]), outputs=2, axis=3)
            return g.op("Concat", g.op("Sub", g.op("Mul", a, cos), g.op("Mul", b, sin)),
                        g.op("Add", g.op("Mul", b, cos), g.op("Mul", a, sin)), axis=3)

        k = g.op("Concat", f"past_key_values.{i}.key", turn(k), out=f"present.{i}.key", axis=2)
        v = g.op("Concat", f"past_key_values.{i}.value", v, out=f"present.{i}.value", axis=2)
        q = g.op("Reshape", turn(q), to_groups)
        scores = g.op("Add", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), mask)
        a = g.op("Reshape", g.op("MatMul", g.op("Softmax", scores, axis=-1), v), from_groups)
        a = g.op("Reshape", g.op("Transpose", a, perm=[0, 2, 1, 3]), flat)
        x = g.op("Add", x, g.op("MatMul", a, g.matrix(w["o.weight"].T)))
        h = g.norm(x, w["norm2"], c["eps"])
        gate = g.op("MatMul", h, g.matrix(w["gate.weight"].T))
        up = g.op("MatMul", h, g.matrix(w["up.weight"].T))
        h = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
        x = g.op("Add", x, g.op("MatMul", h, g.matrix(w["down.weight"].T)))
    x = g.norm(x, model.norm.detach(), c["eps"])
    if with_hidden:
        g.op("Identity", x, out="hidden_states")
    g.op("MatMul", x, table, out="logits")

    def info(name, kind, shape):
        return helper.make_tensor_value_info(name, kind, shape)

    f, n = TensorProto.FLOAT, TensorProto.INT64
    inputs = [info("input_ids", n, ["batch", "sequence"]), info("attention_mask", n, ["batch", "total"]),
              info("position_ids", n, ["batch", "sequence"])]
    outputs = [info("logits", f, ["batch", "sequence", c["vocab"]])]
    if with_hidden:
        outputs.append(info("hidden_states", f, ["batch", "sequence", c["width"]]))
    for i in range(c["layers"]):
        for part in ("key", "value"):
            inputs.append(info(f"past_key_values.{i}.{part}", f, ["batch", kv, "past", d]))
            outputs.append(info(f"present.{i}.{part}", f, ["batch", kv, "total", d]))
    graph = helper.make_graph(g.nodes, "embedded", inputs, outputs, g.values)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9, producer_name="train/export.py")
    onnx.checker.check_model(made)
    return made


def write_configs(out, c, tokenizer_config):
    ids = {t["content"]: int(i) for i, t in tokenizer_config["added_tokens_decoder"].items()}
    end, pad = ids["<|im_end|>"], ids["<|endoftext|>"]
    config = {
        "_name_or_path": "tokenrail-embedded", "architectures": ["LlamaForCausalLM"], "model_type": "llama",
        "vocab_size": c["vocab"], "hidden_size": c["width"], "intermediate_size": c["hidden"],
        "num_hidden_layers": c["layers"], "num_attention_heads": c["heads"], "num_key_value_heads": c["kv_heads"],
        "head_dim": c["head_dim"], "max_position_embeddings": c["context"], "rope_theta": c["theta"],
        "rms_norm_eps": c["eps"], "hidden_act": "silu", "tie_word_embeddings": "meanings" not in c, "attention_bias": False,
        "mlp_bias": False, "bos_token_id": None, "eos_token_id": end, "pad_token_id": pad, "torch_dtype": "float32",
    }
    generation = {"eos_token_id": [end, pad], "pad_token_id": pad, "do_sample": False}
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    (out / "generation_config.json").write_text(json.dumps(generation, indent=2) + "\n")


def load(path):
    state = torch.load(path)
    model = Model(state["config"])
    model.load_state_dict(state["model"])
    return model.eval(), state["done"]


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--checkpoint", type=Path)
    a.add_argument("--random", action="store_true")
    a.add_argument("--out", type=Path, required=True)
    a.add_argument("--weights", choices=["float32", "float16", "int8"], default="int8")
    a.add_argument("--hidden", action="store_true", help="also give the last hidden states")
    a.add_argument("--name", default="model.onnx")
    a = a.parse_args()
    torch.set_num_threads(1)
    if a.random:
        torch.manual_seed(1)
        model = Model()
        for p in model.parameters():
            if p.dim() == 2 and not p.any():
                torch.nn.init.normal_(p, std=0.02)
    else:
        model, done = load(a.checkpoint)
        print(done)
    (a.out / "onnx").mkdir(parents=True, exist_ok=True)
    path = a.out / "onnx" / a.name
    onnx.save(build(model, a.weights, a.hidden), path)
    write_configs(a.out, model.c, json.loads((a.out / "tokenizer_config.json").read_text()))
    print(path, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
