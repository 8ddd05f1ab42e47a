"""Examples → batches of token ids and loss weights.

Weights: 1 on the answer, KEY_WEIGHT on its keys where no schema told them (they arrive forced), PROMPT_WEIGHT on the
prompt. In some examples runs of JSON punctuation are split into single characters, since a constrained output may arrive in
other tokens than the tokenizer's own.
"""

from random import Random

import torch
from tokenizers import Tokenizer

from corpus import Maker, render, unmark

KEY_WEIGHT, PROMPT_WEIGHT, PROMPT_SHARE = 0.05, 0.1, 0.25
LONGEST = 640


class Batches:
    def __init__(self, tokenizer_path, seed, tokens_per_batch):
        self.tokenizer = Tokenizer.from_file(str(tokenizer_path))
        self.maker, self.r, self.size = Maker(seed), Random(seed + 1), tokens_per_batch
        self.end = self.tokenizer.token_to_id("<|im_end|>")
        vocab = self.tokenizer.get_vocab()
        runs = [t for t in vocab if len(t) > 1 and all(c in '{}[]",:' for c in t)]
        self.split = {vocab[t]: [vocab[c] for c in t] for t in runs}
        self.examples = self.tokens = 0
        self.pool = []

    def encode(self, example):
        """Ids and the weight of predicting each of them."""
        prompt = self.tokenizer.encode(render(example)).ids
        answer, keys, _ = unmark(example["answer"])
        encoded = self.tokenizer.encode(answer)
        splits = self.r.random() < 0.1
        ids, weights = list(prompt), [PROMPT_WEIGHT] * len(prompt)
        key_weight = KEY_WEIGHT if example["kind"] == "bare" else 1.0
        at = 0
        for token, (start, end) in zip(encoded.ids, encoded.offsets):
            while at < len(keys) and keys[at][1] <= start:
                at += 1
            weight = key_weight if at < len(keys) and start >= keys[at][0] else 1.0
            pieces = self.split[token] if splits and token in self.split and self.r.random() < 0.6 else [token]
            ids += pieces
            weights += [weight] * len(pieces)
        return ids + [self.end], weights + [1.0]

    def next(self, difficulty):
        """(inputs [B, S], targets [N], weights [N], picked positions [N] in the flattened batch)."""
        while len(self.pool) < 160:
            ids, weights = self.encode(self.maker.example(difficulty))
            if len(ids) <= LONGEST:
                self.pool.append((ids, weights))
        # A batch of similar lengths, around a random member of the pool.
        self.pool.sort(key=lambda e: len(e[0]))
        start = self.r.randrange(len(self.pool))
        while start > 0 and len(self.pool) - start < 40:
            start -= 1
        chosen, width = [], 0
        while start < len(self.pool):
            width = max(width, len(self.pool[start][0]))
            if chosen and (len(chosen) + 1) * width > self.size:
                break
            chosen.append(self.pool.pop(start))
        inputs = torch.zeros(len(chosen), width - 1, dtype=torch.long)
        targets, weighing, picked = [], [], []
        for row, (ids, weights) in enumerate(chosen):
            inputs[row, : len(ids) - 1] = torch.tensor(ids[:-1])
            for i, (target, weight) in enumerate(zip(ids[1:], weights[1:])):
                if weight != PROMPT_WEIGHT or self.r.random() < PROMPT_SHARE:
                    targets.append(target)
                    weighing.append(weight)
                    picked.append(row * (width - 1) + i)
            self.examples += 1
            self.tokens += len(ids)
        return inputs, torch.tensor(targets), torch.tensor(weighing), torch.tensor(picked)
