"""Exchanges words that are copied for strange ones, so that every token of the vocabulary is copied now and then.

Most tokens are pieces of words that no text here has in a value. What is never copied cannot be: its embedding is
not where the copying heads look, and a name with such a piece breaks off in the middle.
"""

import json
import re

from answers import unmark

STRING = re.compile(r'"([^"\\]+)"')
WORD = re.compile(r"(?<![A-Za-z])(?:[a-z]{2,}|[A-Z][a-z]+)(?![A-Za-z])")
GROUP_SHARE, WORD_SHARE = 0.65, 0.7


class Strangers:
    def __init__(self, vocab, r):
        self.r = r
        plain = [t for t in vocab if t.isascii() and t.isalpha() and len(t) > 1]
        self.small, self.titled = sorted(filter(str.islower, plain)), sorted(filter(str.istitle, plain))

    def word(self, like):
        """A word of one or two tokens, each token as likely as any other; capitalised as `like` is."""
        r = self.r
        first = r.choice(self.titled if like[0].isupper() else self.small)
        return first + r.choice(self.small) if r.random() < 0.5 else first

    def exchanged(self, group):
        """The group, in most cases with most of its copied words exchanged, in texts and in answers alike."""
        if self.r.random() >= GROUP_SHARE:
            return group
        copied, elsewhere = set(), set()
        for example in group:
            told = example["messages"][-1]["content"]
            found = [s for s in strings_of(example) if s in told]
            copied.update(word for s in found for word in WORD.findall(s))
            for s in sorted(found, key=len, reverse=True):
                told = told.replace(s, " ")
            answer, keys, _ = unmark(example["answer"])
            around = [told, *(answer[a:b] for a, b in keys), json.dumps([example.get("tools"), example.get("schema"), example["messages"][:-1]])]
            elsewhere.update(word.lower() for word in re.findall("[A-Za-z]+", " ".join(around)))
        # What the text also has elsewhere may be what tells the fields apart, or name them.
        strange = {w: self.word(w) for w in sorted(copied) if w.lower() not in elsewhere and self.r.random() < WORD_SHARE}
        if not strange:
            return group

        def put(text):
            return WORD.sub(lambda m: strange.get(m[0], m[0]), text)

        return [{**e, "messages": [*e["messages"][:-1], {**e["messages"][-1], "content": put(e["messages"][-1]["content"])}], "answer": put(e["answer"])}
                for e in group]


def strings_of(example):
    """The strings in the answer that are not one of a few labels."""
    if example["kind"] == "plain":
        return [example["answer"]]
    answer, _, values = unmark(example["answer"])
    return [s for (start, stop), (labels, _) in zip(values, example.get("values", [])) if not labels for s in STRING.findall(answer[start:stop])]
