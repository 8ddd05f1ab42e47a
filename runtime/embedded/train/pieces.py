"""Which tokens a mask allows where a text is known to be one of a few: those that begin what is left of it."""

from functools import lru_cache


class Pieces:
    def __init__(self, vocab):
        # Byte-level tokens of printable ASCII are spelled as they are, but for the space.
        self.words = {t: i for t, i in vocab.items() if all("!" <= c <= "~" for c in t)} | {" ": vocab["Ġ"]}
        self.longest = max(map(len, self.words))
        self.digits = sorted(i for t, i in self.words.items() if t[0] in "0123456789.")  # with which a number goes on

    def beginnings(self, text):
        """The tokens that `text` begins with: (length, id), short ones first."""
        ends = range(1, min(len(text), self.longest) + 1)
        return [(end, self.words[text[:end]]) for end in ends if text[:end] in self.words]

    def of_types(self, types):
        """Ids of the tokens that begin a value of one of these types."""
        return self.of_each(*types)

    @lru_cache(maxsize=64)
    def of_each(self, *types):
        starts = {"string": '"', "array": "[", "object": "{", "integer": "-0123456789", "number": "-0123456789", "boolean": "tf", "null": "n"}
        words = {"t": "true", "f": "false", "n": "null"}
        firsts = "".join(starts[t] for t in types)
        return {i for t, i in self.words.items() if t[0] in firsts and words.get(t[0], t).startswith(t)}

    def of_labels(self, labels, answer, value, at):
        """Ids of the tokens that go on with one of the labels; value = (start, end) of the literal in the answer, `at` within it."""
        if at <= value[0]:
            return set()
        typed = answer[value[0] + 1 : at]
        return {token for label in labels if label.startswith(typed) for _, token in self.beginnings(label[len(typed):])}
