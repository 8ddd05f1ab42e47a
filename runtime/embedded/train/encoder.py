"""Examples → token ids, and what predicting each of them weighs.

Weights: 1 on the answer, TOOL_WEIGHT on the name of the tool in it, NULL_WEIGHT on the first token of what may be null, PROMPT_WEIGHT on the prompt.

Keys that no schema told arrive by the constraint: of the tokens that begin what is left of the key, the likeliest. They
should be those that the tokenizer would have written, or the key is no longer the word that the text knows. So there the
loss is taken among those tokens alone (its rivals), with KEY_WEIGHT. So are labels that no schema told and the first token of a
value, whose type no schema told, with the weight of other values; punctuation between values has FORCED_WEIGHT there. Besides,
in some examples keys and runs of JSON punctuation come in other tokens than the tokenizer's own.
"""

import re

from answers import render, unmark
from pieces import Pieces

KEY_WEIGHT, FORCED_WEIGHT, TOOL_WEIGHT, NULL_WEIGHT, PROMPT_WEIGHT = 0.3, 0.1, 4.0, 2.0, 0.1
NAME_AT = len('<tool_call>\n{"name": "')  # where the name of a tool begins in an answer
# In so many examples some keys, or some runs of punctuation, come in other tokens; in those, so many of them.
RESPELLED, SPLIT, SOME = 0.3, 0.1, 0.6
MORE_ROWS = re.compile(r"\]|, ?\{")  # where a list ends or goes on


class Answer:
    """The text of an answer, where its keys and values lie, and what each value is one of: (labels, types)."""

    def __init__(self, example):
        self.text, self.keys, self.values = unmark(example["answer"])
        self.allowed, self.is_bare = example.get("values"), example["kind"] == "bare"
        self.name_end = self.text.find('", "arguments"') if example["kind"] == "tool" else 0


def around(ranges, at):
    """Index of the range that holds `at`, or None."""
    return next((i for i, (start, stop) in enumerate(ranges) if start <= at < stop), None)


class Encoder:
    def __init__(self, tokenizer, r):
        self.tokenizer, self.r, vocab = tokenizer, r, tokenizer.get_vocab()
        self.end = vocab["<|im_end|>"]
        runs = [t for t in vocab if len(t) > 1 and all(c in '{}[]",:' for c in t)]
        self.split = {vocab[t]: [vocab[c] for c in t] for t in runs}
        self.pieces = Pieces(vocab)

    def encode(self, example):
        """Ids of prompt and answer, the weight of each (a number, or a number and ids of rivals), and the prompt's length."""
        r, prompt, answer = self.r, self.tokenizer.encode(render(example)).ids, Answer(example)
        encoded = self.tokenizer.encode(answer.text)
        splits, respells = r.random() < SPLIT, r.random() < RESPELLED
        ids, weights, respelled = list(prompt), [PROMPT_WEIGHT] * len(prompt), None
        for token, (start, end) in zip(encoded.ids, encoded.offsets):
            key = around(answer.keys, start) if answer.is_bare else None
            if key is not None:
                if key == respelled:
                    continue
                first, stop = answer.keys[key]
                if respells and start == first and r.random() < SOME and (pieces := self.other_pieces(answer.text[first:stop])):
                    ids += pieces
                    weights += [0] * len(pieces)
                    respelled = key
                    continue
            weight = self.weight(answer, token, start, end)
            pieces = self.split[token] if splits and token in self.split and not isinstance(weight, tuple) and r.random() < SOME else [token]
            ids += pieces
            weights += [weight] * len(pieces)
        if example.get("cut"):
            return ids, weights, len(prompt)
        return ids + [self.end], weights + [1.0], len(prompt)

    def weight(self, answer, token, start, end):
        """What predicting `token` weighs, which is start … end of the answer: a number, or a number and ids of rivals."""
        at = around(answer.values, start)
        if at is not None and answer.allowed:
            value, (labels, types) = answer.values[at], answer.allowed[at]
            if answer.is_bare and labels and token in (known := self.pieces.of_labels(labels, answer.text, value, start)):
                return 1.0, sorted(known - {token})
            if start == value[0]:
                # Where null may stand, whether it does is the choice that counts.
                weight = NULL_WEIGHT if "null" in types else 1.0
                if not answer.is_bare:
                    return weight
                return FORCED_WEIGHT if types == ["string"] else weight, sorted(self.pieces.of_types(types) - {token})
        if not answer.is_bare:
            return TOOL_WEIGHT if start < answer.name_end and end > NAME_AT else 1.0
        if (key := around(answer.keys, start)) is not None:
            left = answer.text[start:answer.keys[key][1]]
            return KEY_WEIGHT, [other for _, other in self.pieces.beginnings(left) if other != token]
        if at is not None:
            return 1.0
        # Nothing asks for JSON, or tells how many fields there are. How many rows a list has is the model's to know, and that a number is over.
        if (more := MORE_ROWS.search(answer.text, start)) and more.start() < end:
            return 1.0
        if start and answer.text[start - 1].isdigit() and any(stop == start for _, stop in answer.values):
            return 1.0, self.pieces.digits
        return FORCED_WEIGHT if start else 0.0

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
