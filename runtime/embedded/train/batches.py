"""Examples → batches of token ids and loss weights.

Examples that begin alike (one schema and several texts, one text and several answers) are packed into one row: the shared
beginning once, then every continuation, which sees the beginning and itself alone and whose positions go on from the
beginning.
"""

from random import Random

import torch
from tokenizers import Tokenizer

from corpus import Maker
from encoder import PROMPT_WEIGHT, Encoder
from shares import TRAINED
from strangers import Strangers

PROMPT_SHARE = 0.12  # of the prompt that is learnt
LONGEST = 800
POOL, TAIL = 160, 40


class Row:
    """Tokens of one row with position and part (0 the shared beginning, 1 … the continuations), and what they predict."""

    def __init__(self):
        self.ids, self.positions, self.parts, self.goals = [], [], [], []  # goals: (index, target, weight or rivals)

    def add(self, ids, weights, start, part):
        """ids that follow `start` others; ids[0] is not a goal, since what comes before it may lie elsewhere in the row."""
        at = len(self.ids)
        self.ids += ids
        self.positions += range(start, start + len(ids))
        self.parts += [part] * len(ids)
        self.goals += [(at + i, target, weight) for i, (target, weight) in enumerate(zip(ids[1:], weights[1:])) if weight]


class Batches:
    def __init__(self, tokenizer_path, seed, tokens_per_batch):
        tokenizer = Tokenizer.from_file(str(tokenizer_path))
        self.maker, self.r, self.size = Maker(seed, shares=TRAINED), Random(seed + 1), tokens_per_batch
        self.encoder, self.strangers = Encoder(tokenizer, self.r), Strangers(tokenizer.get_vocab(), self.r)
        self.examples = self.tokens = 0
        self.pool = []

    def row(self, group):
        encoded = [self.encoder.encode(example) for example in group]
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
        targets [N], weights [N], picked [N]: where in the flattened batch they are predicted; keyed [K]: which of the N are
        pieces of keys and labels; rivals [K, R]: what they are chosen among, the target first, filled up with -1; rating [K]: their weights.
        """
        while len(self.pool) < POOL:
            size = self.r.choice([1, 2, 3, 3, 4])
            row, count = self.row(self.strangers.exchanged(self.maker.group(difficulty, size)))
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
        targets, weighing, picked, keyed, rivals, rating = [], [], [], [], [], []
        for i, (row, count) in enumerate(chosen):
            n = len(row.ids)
            inputs[i, :n], positions[i, :n], parts[i, :n] = torch.tensor(row.ids), torch.tensor(row.positions), torch.tensor(row.parts)
            for index, target, weight in row.goals:
                if weight != PROMPT_WEIGHT or self.r.random() < PROMPT_SHARE:
                    if isinstance(weight, tuple):
                        keyed.append(len(targets))
                        rivals.append([target, *weight[1]])
                        rating.append(weight[0])
                        weight = 0.0
                    targets.append(target)
                    weighing.append(weight)
                    picked.append(i * width + index)
            self.examples += count
            self.tokens += n
        same = (parts[:, :, None] == parts[:, None, :]) | (parts == 0)[:, None, :]
        seen = torch.where(same.tril_(), 0.0, -1e9)[:, None]
        most = max(map(len, rivals), default=1)
        rivals = torch.tensor([row + [-1] * (most - len(row)) for row in rivals], dtype=torch.long).reshape(-1, most)
        keyed = torch.tensor(keyed, dtype=torch.long)
        return inputs, positions, seen, torch.tensor(targets), torch.tensor(weighing), torch.tensor(picked), keyed, rivals, torch.tensor(rating)
