"""Examples → batches of token ids and loss weights.

Examples that begin alike (one schema and several texts, one text and several answers) are packed into one row: the shared
beginning once, then every continuation, which sees the beginning and itself alone and whose positions go on from the
beginning.

Weights: 1 on the answer, TOOL_WEIGHT on the name of the tool in it, KEY_WEIGHT on its keys where no schema told them (they arrive forced), PROMPT_WEIGHT on a share of
the prompt. In some examples runs of JSON punctuation are split into single characters, since a constrained output may
arrive in other tokens than the tokenizer's own.
"""

from random import Random

import torch
from tokenizers import Tokenizer

from corpus import Maker, render, unmark

KEY_WEIGHT, TOOL_WEIGHT, PROMPT_WEIGHT, PROMPT_SHARE = 0.05, 4.0, 0.1, 0.12
NAME_AT = len('<tool_call>\n{"name": "')  # where the name of a tool begins in an answer
LONGEST = 800
POOL, TAIL = 160, 40


class Row:
    """Tokens of one row with position and part (0 the shared beginning, 1 … the continuations), and what they predict."""

    def __init__(self):
        self.ids, self.positions, self.parts, self.goals = [], [], [], []  # goals: (index, target, weight)

    def add(self, ids, weights, start, part):
        """ids that follow `start` others; ids[0] is not a goal, since what comes before it may lie elsewhere in the row."""
        at = len(self.ids)
        self.ids += ids
        self.positions += range(start, start + len(ids))
        self.parts += [part] * len(ids)
        self.goals += [(at + i, target, weight) for i, (target, weight) in enumerate(zip(ids[1:], weights[1:]))]


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
        """Ids of prompt and answer, and the weight of predicting each of them."""
        prompt = self.tokenizer.encode(render(example)).ids
        answer, keys, _ = unmark(example["answer"])
        encoded = self.tokenizer.encode(answer)
        splits = self.r.random() < 0.1
        ids, weights = list(prompt), [PROMPT_WEIGHT] * len(prompt)
        key_weight = KEY_WEIGHT if example["kind"] == "bare" else 1.0
        at, named = 0, answer.find('", "arguments"') if example["kind"] == "tool" else 0
        for token, (start, end) in zip(encoded.ids, encoded.offsets):
            while at < len(keys) and keys[at][1] <= start:
                at += 1
            weight = key_weight if at < len(keys) and start >= keys[at][0] else TOOL_WEIGHT if start < named and end > NAME_AT else 1.0
            pieces = self.split[token] if splits and token in self.split and self.r.random() < 0.6 else [token]
            ids += pieces
            weights += [weight] * len(pieces)
        return ids + [self.end], weights + [1.0], len(prompt)

    def row(self, group):
        encoded = [self.encode(example) for example in group]
        first = encoded[0][0]
        shared = len(first) - 1
        for ids, _, prompt in encoded[1:]:
            limit = min(shared, prompt)
            shared = next((i for i in range(limit) if ids[i] != first[i]), limit)
        row, count = Row(), 0
        if len(encoded) > 1:
            row.add(first[:shared], encoded[0][1], 0, 0)
        else:
            shared = 0
        for ids, weights, _ in encoded:
            if len(row.ids) + len(ids) - shared <= LONGEST:
                count += 1
                row.add(ids[shared:], weights[shared:], shared, count)
        return row, count

    def next(self, difficulty):
        """
        inputs [B, S], positions [B, S], seen [B, 1, S, S] (0 where a token sees another, else a large negative number),
        targets [N], weights [N], picked [N]: where in the flattened batch they are predicted.
        """
        while len(self.pool) < POOL:
            size = self.r.choice([1, 2, 3, 3, 4])
            row, count = self.row(self.maker.group(difficulty, size))
            if count:
                self.pool.append((row, count))
        # A batch of similar lengths, around a random member of the pool.
        self.pool.sort(key=lambda e: len(e[0].ids))
        start = min(self.r.randrange(len(self.pool)), len(self.pool) - TAIL)
        chosen, width = [], 0
        while start < len(self.pool):
            width = max(width, len(self.pool[start][0].ids))
            if chosen and (len(chosen) + 1) * width > self.size:
                break
            chosen.append(self.pool.pop(start))
        inputs = torch.zeros(len(chosen), width, dtype=torch.long)
        positions, parts = inputs.clone(), torch.full_like(inputs, -1)
        targets, weighing, picked = [], [], []
        for i, (row, count) in enumerate(chosen):
            n = len(row.ids)
            inputs[i, :n], positions[i, :n], parts[i, :n] = torch.tensor(row.ids), torch.tensor(row.positions), torch.tensor(row.parts)
            for index, target, weight in row.goals:
                if weight != PROMPT_WEIGHT or self.r.random() < PROMPT_SHARE:
                    targets.append(target)
                    weighing.append(weight)
                    picked.append(i * width + index)
            self.examples += count
            self.tokens += n
        same = (parts[:, :, None] == parts[:, None, :]) | (parts == 0)[:, None, :]
        seen = torch.where(same.tril_(), 0.0, -1e9)[:, None]
        return inputs, positions, seen, torch.tensor(targets), torch.tensor(weighing), torch.tensor(picked)
