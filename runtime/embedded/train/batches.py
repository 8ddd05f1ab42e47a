"""Examples → batches of token ids and loss weights.

Examples that begin alike (one schema and several texts, one text and several answers) are packed into one row: the shared
beginning once, then every continuation, which sees the beginning and itself alone and whose positions go on from the
beginning.

Weights: 1 on the answer, TOOL_WEIGHT on the name of the tool in it, NULL_WEIGHT on the first token of what may be null, PROMPT_WEIGHT on a share of the prompt.

Keys that no schema told arrive by the constraint: of the tokens that begin what is left of the key, the likeliest. They
should be those that the tokenizer would have written, or the key is no longer the word that the text knows. So there the
loss is taken among those tokens alone (`rivals`), with KEY_WEIGHT. So are labels that no schema told, with the weight of
other values. Besides, in some examples keys and runs of JSON
punctuation come in other tokens than the tokenizer's own.
"""

from random import Random

import torch
from tokenizers import Tokenizer

from answers import render, unmark
from corpus import Maker
from pieces import Pieces
from strangers import Strangers

KEY_WEIGHT, TOOL_WEIGHT, NULL_WEIGHT, PROMPT_WEIGHT, PROMPT_SHARE = 0.3, 4.0, 2.0, 0.1, 0.12
NAME_AT = len('<tool_call>\n{"name": "')  # where the name of a tool begins in an answer
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
        self.tokenizer = Tokenizer.from_file(str(tokenizer_path))
        self.maker, self.r, self.size = Maker(seed), Random(seed + 1), tokens_per_batch
        self.end = self.tokenizer.token_to_id("<|im_end|>")
        vocab = self.tokenizer.get_vocab()
        runs = [t for t in vocab if len(t) > 1 and all(c in '{}[]",:' for c in t)]
        self.split = {vocab[t]: [vocab[c] for c in t] for t in runs}
        self.pieces, self.strangers = Pieces(vocab), Strangers(vocab, self.r)
        self.examples = self.tokens = 0
        self.pool = []

    def other_pieces(self, text):
        """`text` in tokens that are not chosen well, as a mask allows them; None where a character has no token of its own."""
        pieces = []
        while text:
            found = self.pieces.beginnings(text)
            if not found:
                return None
            end, token = found[0] if self.r.random() < 0.5 else self.r.choice(found)
            pieces.append(token)
            text = text[end:]
        return pieces

    def encode(self, example):
        """Ids of prompt and answer, what predicting each of them weighs (or its rivals), and the prompt's length."""
        prompt = self.tokenizer.encode(render(example)).ids
        answer, keys, values = unmark(example["answer"])
        allowed_of = example.get("values")
        labels = [label for label, _ in allowed_of] if example["kind"] == "bare" else None
        valued = 0
        encoded = self.tokenizer.encode(answer)
        splits, respells = self.r.random() < 0.1, self.r.random() < 0.3
        ids, weights = list(prompt), [PROMPT_WEIGHT] * len(prompt)
        at, named = 0, answer.find('", "arguments"') if example["kind"] == "tool" else 0
        respelled = -1  # the key that was written in other pieces
        for token, (start, end) in zip(encoded.ids, encoded.offsets):
            while at < len(keys) and keys[at][1] <= start:
                at += 1
            if example["kind"] == "bare" and at < len(keys) and start >= keys[at][0]:
                if at == respelled:
                    continue
                if respells and start == keys[at][0] and self.r.random() < 0.6 and (pieces := self.other_pieces(answer[start:keys[at][1]])):
                    ids += pieces
                    weights += [0] * len(pieces)
                    respelled = at
                    continue
                ids.append(token)
                weights.append((KEY_WEIGHT, [other for _, other in self.pieces.beginnings(answer[start:keys[at][1]]) if other != token]))
                continue
            while valued < len(values) and values[valued][1] <= start:
                valued += 1
            if labels and valued < len(values) and labels[valued]:
                allowed = self.pieces.of_labels(labels[valued], answer, values[valued], start)
                if token in allowed:
                    ids.append(token)
                    weights.append((1.0, sorted(allowed - {token})))
                    continue
            if valued < len(values) and start == values[valued][0] and allowed_of:
                # Where null may stand, whether it does is the choice that counts; a quote that must come teaches nothing.
                types = allowed_of[valued][1]
                is_forced = types == ["string"] and example["kind"] == "bare"
                ids.append(token)
                weights.append(0.2 if is_forced else NULL_WEIGHT if "null" in types else 1.0)
                continue
            # Without a schema nothing asks for JSON: that an answer opens as an object comes by the constraint.
            weight = 0.0 if example["kind"] == "bare" and start == 0 else TOOL_WEIGHT if start < named and end > NAME_AT else 1.0
            pieces = self.split[token] if splits and token in self.split and self.r.random() < 0.6 else [token]
            ids += pieces
            weights += [weight] * len(pieces)
        if example.get("cut"):
            return ids, weights, len(prompt)
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
