"""Gives the embeddings of tokens that were hardly ever copied back what tells them apart.

    python spread.py run/last.ckpt run/spread.ckpt

For weights from before strangers.py: there the embeddings of rare words had drifted until they were alike. The fewer answers
held a token, the more of what sets its embedding off from the mean is drawn anew, spread as that of the common ones is.
"""

import sys

import numpy as np
import torch
from tokenizers import Tokenizer

from answers import unmark
from corpus import Maker
from stories import HERE

GROUPS, ENOUGH, COMMON = 6000, 10, (30, 300)


def counts(tokenizer):
    """How often answers of the training side hold each token."""
    maker, held = Maker(1), np.zeros(tokenizer.get_vocab_size(), int)
    for _ in range(GROUPS):
        for example in maker.group():
            held += np.bincount(tokenizer.encode(unmark(example["answer"])[0]).ids, minlength=len(held))
    return torch.from_numpy(held)


def main():
    source, target = sys.argv[1:]
    tokenizer, state = Tokenizer.from_file(str(HERE.parent / "tokenizer.json")), torch.load(source)
    torch.manual_seed(5)
    held, table = counts(tokenizer), state["model"]["embed.weight"]
    words = [tokenizer.id_to_token(i) for i in range(len(table))]
    for is_of_class in (str.islower, str.istitle):
        mine = torch.tensor([w.isascii() and w.isalpha() and len(w) > 1 and is_of_class(w) for w in words])
        rare, common = mine & (held < ENOUGH), mine & (held >= COMMON[0]) & (held < COMMON[1])
        middle, own = table[common].mean(0), table[rare] - table[rare].mean(0)
        around = table[common] - middle
        drawn = torch.randn(len(own), len(around)) @ around / len(around) ** 0.5
        keep = (held[rare] / ENOUGH)[:, None]
        table[rare] = middle + keep * own + (1 - keep**2).sqrt() * drawn
        print(int(rare.sum()), "of", int(mine.sum()), "drawn anew")
    state.pop("adam", None)  # its averages are of the old ones, and of one group of parameters
    torch.save(state, target)


if __name__ == "__main__":
    main()
