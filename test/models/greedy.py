"""Greedy continuations by transformers: reads {"prompts": [...], "tokens": N, "never": [...]} from standard input, prints a list of lists of token ids.

usage: greedy.py DIR    (DIR has the weights in the layout of transformers: config.json, model.safetensors, tokenizer.json)
"""
import json, sys
import torch
from transformers import AutoModelForCausalLM

asked = json.load(sys.stdin)
model = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
answers = []
with torch.no_grad():
    for ids in asked["prompts"]:
        out = model.generate(torch.tensor([ids]), max_new_tokens=asked["tokens"], do_sample=False, eos_token_id=-1, pad_token_id=0, suppress_tokens=asked["never"])
        answers.append(out[0, len(ids):].tolist())
print(json.dumps(answers))
