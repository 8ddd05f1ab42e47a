"""Words the generator draws from: the lists of words.txt, made-up words, and which side of the split a word is on.

Everything here was written for this project. `is_held_out(word)` decides by a checksum of the word whether it belongs to the
training or to the held-out side, so that the two never share a name, a made-up word or a phrase.
"""

import zlib
from functools import lru_cache
from pathlib import Path

HELD_OUT_SHARE = 8


@lru_cache(maxsize=1 << 16)
def is_held_out(word: str) -> bool:
    """One word in eight is never seen in training; the choice depends on the word alone."""
    return zlib.crc32(word.lower().encode()) % HELD_OUT_SHARE == 0


@lru_cache(maxsize=1 << 12)
def side_of(words: tuple, held_out: bool):
    return [w for w in words if is_held_out(w) == held_out] or list(words)


def side(words, held_out: bool):
    return side_of(tuple(words), held_out)


def load():
    """The sections of words.txt: {name: tuple of entries}."""
    lists = {}
    for line in (Path(__file__).parent / "words.txt").read_text().splitlines():
        if line.startswith("## "):
            entries = lists[line[3:].strip()] = []
        elif line.strip():
            entries += [e.strip() for e in line.split(",") if e.strip()]
    return {name: tuple(dict.fromkeys(entries)) for name, entries in lists.items()}


WORDS = load()
SYLLABLES = """ba be bi bo bu ca ce co cra da de di do dra du el fa fe fi flo fo ga ge gi glo go gra ha he hi ho hu ja jo ju
ka ke ki ko kra la le li lo lu ma me mi mo mu na ne ni no nu o pa pe pi plo po pra qua ra re ri ro ru sa se shi so sta su
ta te ti to tra tu va ve vi vo wa we wi wo ya yo za ze zi zo""".split()
ENDS = "n r l s t m x nd rt lt sk ck ph th ng rn lm".split() + [""] * 12
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
NUMBERS = dict(enumerate(SMALL)) | {13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen", 18: "eighteen", 20: "twenty",
                                    30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 80: "eighty", 90: "ninety", 100: "a hundred"}

EXTRAS = "given stated noted exact known value info text field entry data detail said our this new actual main".split()


def fragments():
    """Beginnings, middles and ends of the training side's words."""
    names = "FIRST LAST CITIES COUNTRIES STREETS ADJECTIVES THINGS NOUNS QUALIFIERS JOBS VERBS FOODS SPECIES".split()
    words = [w.lower() for name in names for w in side(WORDS[name], False) if w.isalpha()]
    heads = [w[:n] for w in words for n in (1, 2, 3, 4) if n < len(w)]
    middles = [w[i:i + n] for w in words for n in (1, 2, 3) for i in range(1, len(w) - n)]
    tails = [w[-n:] for w in words for n in (2, 3, 4) if n < len(w)]
    return heads, middles, tails


HEADS, MIDDLES, TAILS = fragments()


def coin(r) -> str:
    """A new word of pieces of known ones: any piece may follow any other, so that copying it cannot be done from memory."""
    while True:
        word = r.choice(HEADS) + "".join(r.choice(MIDDLES) for _ in range(r.choice([0, 0, 0, 1, 1, 2]))) + r.choice(TAILS)
        if not is_held_out(word):
            return word
