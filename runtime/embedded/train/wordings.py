"""Other ways to say a value, on the training side only: two thousand five hundred, half an hour, Monday, March 3rd, 2026."""

import json
import re
from datetime import date

from words import MONTHS, WEEKDAYS

TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
ONES = "zero one two three four five six seven eight nine".split() + TEENS
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
IDIOMS = {
    "integer": {"12": ["a dozen"], "6": ["half a dozen"], "24": ["two dozen"], "2": ["a couple of", "a pair of"], "100": ["a hundred", "one hundred"],
                "1": ["a single", "just one"]},
    "minutes": {"30": ["half an hour"], "60": ["an hour", "one hour"], "15": ["a quarter of an hour"], "90": ["an hour and a half"],
                "45": ["three quarters of an hour"], "120": ["two hours"], "180": ["three hours"], "10": ["ten minutes"], "20": ["twenty minutes"]},
    "hours": {"1": ["an hour"], "24": ["a whole day", "24 hours"], "48": ["two full days"], "12": ["half a day"]},
}
IDIOMS["small"] = IDIOMS["integer"]
NUMERIC = "integer small big minutes hours money percent weight dose length decimal signed".split()
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def in_words(n):
    """Of 0 … 9,999."""
    if n < 20:
        return ONES[n]
    if n < 100:
        return TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else "")
    size, name = (100, "hundred") if n < 1000 else (1000, "thousand")
    rest = n % size
    return f"{in_words(n // size)} {name}" + (f"{' and' if rest < 100 else ''} {in_words(rest)}" if rest else "")


def number_in_words(r, digits):
    """The number in other digits, or in words; None where there is no short way."""
    if digits.endswith(".5") and float(digits) < 20:
        return f"{in_words(int(float(digits)))} and a half" if float(digits) > 1 else None
    if "." in digits:
        whole, cents = digits.split(".")
        return f"{int(whole):,}.{cents}" if len(whole) > 3 else None
    n = int(digits)
    if n < 100 or (n < 10000 and n % 50 == 0) or (n < 1000 and r.random() < 0.2):
        return in_words(n)
    if n >= 1000 and n % 100 == 0 and r.random() < 0.6:
        return f"{n / 1000:g}k"
    return r.choice([f"{n:,}", f"{n:,}".replace(",", " ")]) if n > 999 else None


def full_date(r, iso):
    y, m, d = map(int, iso.split("-"))
    suffix = "th" if 4 <= d <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(d % 10, "th")
    month, day = MONTHS[m - 1], WEEKDAYS[date(y, m, d).weekday()]
    return r.choice([f"{d}{suffix} of {month} {y}", f"the {d}{suffix} of {month} {y}", f"{month[:3]} {d}, {y}", f"{day}, {month} {d}, {y}", f"{day} {d} {month} {y}",
                     f"{month[:3]} {d}{suffix} {y}", f"{y}/{m:02}/{d:02}", f"{day[:3]} {d} {month[:3]} {y}", f"{d}{suffix} {month} {y}", f"{month} {d} {y}", f"{d}-{month[:3]}-{y}"])


JOINERS = [", and ", " & ", ", plus ", " as well as ", " and also "]  # before the last of a list, less usual than "and"


def linked(items, link):
    return ", ".join(items[:-1]) + link + items[-1]


def enumerated(r, items):
    """A list of two or more, in a sentence or in lines."""
    return r.choice([*(linked(items, link) for link in JOINERS), " and ".join(items), "; ".join(items), "\n- " + "\n- ".join(items),
                     f"first {items[0]}, then {', then '.join(items[1:])}", "\n" + "\n".join(f"{i + 1}. {item}" for i, item in enumerate(items)),
                     " + ".join(items)])


def in_a_row(r, items):
    """A list within a sentence, mostly as it is said in most texts."""
    if len(items) == 1:
        return items[0]
    return linked(items, " and " if r.random() < 0.6 else r.choice([", ", *JOINERS]))


def rounder(r, kind, literal):
    """A number that has a short name, near the one of the literal."""
    value = abs(float(literal))
    if "." in literal:
        return f"{int(value)}.5" if 1 <= value < 20 else literal
    return str(round(int(literal), -3 if value > 10000 else -2)) if kind in ("big", "money") and value > 100 else literal


def reworded(r, kind, surface, literal):
    """(surface, literal) of the same kind, said in other words; as they were, where there are none. Some numbers become round."""
    if kind == "date":
        return full_date(r, json.loads(literal)), literal
    if literal[0] == "[":
        items = [item if isinstance(item, str) else str(item) for item in json.loads(literal)]
        if kind in ("things", "foods") and r.random() < 0.5:
            items = [f"{r.choice(['a', 'a', 'the', 'some', 'one', 'two', 'our'])} {item}" for item in items]
        return enumerated(r, items) if len(items) > 1 else surface, literal
    found = NUMBER.search(surface)
    if kind not in NUMERIC or literal[0] == "-" or not found:
        return surface, literal
    if r.random() < 0.5:
        literal = rounder(r, kind, literal)
    if literal in IDIOMS.get(kind, {}) and r.random() < 0.6:
        return r.choice(IDIOMS[kind][literal]), literal
    said = number_in_words(r, literal) or literal
    before, after = surface[:found.start()], surface[found.end():]
    if said[-1].isalpha() and not said[0].isdigit():
        if kind == "money":
            return f"{said} {r.choice(['dollars', 'euros', 'pounds', 'francs', 'bucks', 'quid', 'EUR'])}", literal
        if kind == "percent":
            return f"{said} {r.choice(['percent', 'per cent'])}", literal
        after = " " + after if after[:1].isalpha() else after
    return before + said + after, literal
