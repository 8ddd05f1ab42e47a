"""Makes a checkpoint from exported weights, so that training can go on from the shipped model.

    python restore.py ../onnx/model.onnx run/last.ckpt --teacher SmolLM2-135M-Instruct.Q4_1.gguf

The inverse of export.py for every form of --weights; an int8 file gives its rounded weights. What the model reads beside its
embedding is told from the difference of its two tables and the meanings of the --teacher (meanings.py). The optimisers start afresh.
"""

import argparse
import json
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from tokenizers import Tokenizer

from meanings import Teacher, meanings
from model import CONFIG, Model


def config_of(path):
    """The sizes in the config.json of the model directory, as model.py names them."""
    found = json.loads((Path(path).parent.parent / "config.json").read_text())
    return {**CONFIG, "vocab": found["vocab_size"], "width": found["hidden_size"], "layers": found["num_hidden_layers"],
            "heads": found["num_attention_heads"], "kv_heads": found["num_key_value_heads"], "head_dim": found["head_dim"],
            "hidden": found["intermediate_size"], "context": found["max_position_embeddings"], "theta": found["rope_theta"],
            "eps": found["rms_norm_eps"]}


def restored(path, table=None):
    """
    The model whose export is at `path`: matrices and gains lie there in the order in which export.build made them. `table`:
    the meanings [V, M] of a model that reads some.
    """
    graph = onnx.load(path).graph
    arrays = {t.name: torch.from_numpy(numpy_helper.to_array(t).copy()) for t in graph.initializer}
    scales = {n.input[0]: arrays[n.input[1]] for n in graph.node if n.op_type == "Mul" and n.input[1] in arrays}
    widened = {n.input[0]: n.output[0] for n in graph.node if n.op_type == "Cast"}
    config = config_of(path)
    model = Model(config if table is None else {**config, "meanings": table.shape[1]})
    c = model.c
    matrices, gains = [], []
    for name, array in arrays.items():
        if array.dim() == 2 and array.shape[0] > 1:
            matrices.append(array.float() * scales.get(widened.get(name), 1.0))
        elif array.shape == (c["width"],) and array.dtype == torch.float32:
            gains.append(array)
    cuts = [c["heads"] * c["head_dim"]] + [c["kv_heads"] * c["head_dim"]] * 2
    with torch.no_grad():
        model.embed.weight.copy_(matrices.pop(0).T)
        if table is not None:
            model.meanings.copy_(table)
            model.sense.weight.copy_(torch.linalg.lstsq(table, matrices.pop(0).T - model.embed.weight).solution.T)
        for block in model.blocks:
            joined, o, gate, up, down = (matrices.pop(0).T for _ in range(5))
            q, k, v = joined.split(cuts)
            for layer, w in zip((block.q, block.k, block.v, block.o, block.gate, block.up, block.down),
                                (q * c["head_dim"] ** 0.5, k, v, o, gate, up, down)):
                layer.weight.copy_(w)
            block.norm1.copy_(gains.pop(0))
            block.norm2.copy_(gains.pop(0))
        model.norm.copy_(gains.pop(0))
    assert not matrices and not gains, "not an export of this model"
    return model


def main():
    a = argparse.ArgumentParser()
    a.add_argument("model")
    a.add_argument("checkpoint", type=Path)
    a.add_argument("--teacher", help="of a model that reads meanings")
    a.add_argument("--tokenizer", type=Path, default=Path(__file__).parent.parent / "tokenizer.json")
    a = a.parse_args()
    model = restored(a.model, meanings(Teacher(a.teacher), Tokenizer.from_file(str(a.tokenizer))) if a.teacher else None)
    a.checkpoint.parent.mkdir(parents=True, exist_ok=True)
    done = {"steps": 0, "tokens": 0, "examples": 0, "seconds": 0.0}
    torch.save({"model": model.state_dict(), "done": done, "config": model.c}, a.checkpoint)


if __name__ == "__main__":
    main()
