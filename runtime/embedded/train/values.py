"""Values of every shape: how a value is written in a text, and how it is written in JSON.

Each kind is a function (Random, held_out) → (surface, literal): the words in the text and the JSON text of the value.
Numbers keep their digits ("45.00" stays 45.00), full dates become ISO, number words become digits.
"""

import json
from random import Random

from words import *


def text(value: str):
    return value, json.dumps(value, ensure_ascii=False)


def made_up(r: Random, held_out: bool, low=2, high=3) -> str:
    """A pronounceable word that is on the asked side of the split; in training, two in three of pieces of known words."""
    if not held_out and r.random() < 0.67:
        return coin(r)
    while True:
        word = "".join(r.choice(SYLLABLES) for _ in range(r.randint(low, high))) + r.choice(ENDS)
        if is_held_out(word) == held_out:
            return word


def known(r, held_out, words):
    """One of the words; in training a third of them are made up, since there are too few to learn copying from."""
    return coin(r) if not held_out and r.random() < 0.33 else r.choice(side(words, held_out))


def name_word(r, held_out, words):
    return made_up(r, held_out).capitalize() if r.random() < 0.5 else known(r, held_out, words).capitalize()


def first_name(r, h):
    return text(name_word(r, h, FIRST))


def last_name(r, h):
    return text(name_word(r, h, LAST))


def person(r, h):
    first, last = name_word(r, h, FIRST), name_word(r, h, LAST)
    p = r.random()
    if p < 0.08:
        first = first[0] + "."
    elif p < 0.14:
        last += "-" + name_word(r, h, LAST)
    elif p < 0.2:
        first = r.choice(["Dr.", "Prof.", "Ms.", "Mr."]) + " " + first
    return text(f"{first} {last}")


def company(r, h):
    p = r.random()
    a, b = name_word(r, h, LAST), name_word(r, h, LAST)
    if p < 0.5:
        return text(f"{a} {r.choice(COMPANY_ENDS)}")
    if p < 0.7:
        return text(f"{a} & {b}")
    if p < 0.85:
        return text(f"{a} {r.choice(THINGS).capitalize()} {r.choice(COMPANY_ENDS)}")
    return text(a)


def city(r, h):
    return text(name_word(r, h, CITIES))


def country(r, h):
    return text(known(r, h, COUNTRIES).capitalize())


def street(r, h):
    return text(f"{r.randint(1, 299)} {name_word(r, h, STREETS)} {r.choice(STREET_KINDS)}")


def address(r, h):
    return text(f"{street(r, h)[0]}, {city(r, h)[0]}")


def postcode(r, h):
    p = r.random()
    if p < 0.6:
        return text(f"{r.randint(10000, 99999)}")
    return text(f"{letters(r, 2)}{r.randint(1, 9)} {r.randint(1, 9)}{letters(r, 2)}")


def letters(r, n):
    return "".join(r.choice("ABCDEFGHJKLMNPQRSTUVWXYZ") for _ in range(n))


def digits(r, n):
    return "".join(r.choice("0123456789") for _ in range(n))


def email(r, h):
    a, b = name_word(r, h, FIRST).lower(), name_word(r, h, LAST).lower()
    host = made_up(r, h)
    return text(f"{r.choice([a, a + '.' + b, a[0] + b, a + digits(r, 2)])}@{host}.{r.choice(['com', 'org', 'net', 'de', 'io', 'example'])}")


def phone(r, h):
    return text(r.choice([f"+{r.randint(1, 98)} {digits(r, 3)} {digits(r, 7)}", f"{digits(r, 3)}-{digits(r, 3)}-{digits(r, 4)}",
                          f"0{digits(r, 3)} {digits(r, 6)}", f"({digits(r, 3)}) {digits(r, 3)}-{digits(r, 4)}"]))


def code(r, h):
    return text(r.choice([f"{letters(r, 2)}-{digits(r, 4)}", f"{letters(r, 3)}{digits(r, 3)}", f"{letters(r, 1)}{digits(r, 5)}",
                          f"{digits(r, 4)}-{letters(r, 2)}", f"{letters(r, 3)}-{digits(r, 2)}-{letters(r, 1)}", f"#{digits(r, 5)}",
                          f"{digits(r, 6)}"]))


def flight(r, h):
    return text(f"{letters(r, 2)} {digits(r, r.randint(2, 4)).lstrip('0') or '7'}")


def product(r, h):
    p = r.random()
    thing = known(r, h, THINGS)
    if p < 0.3:
        return text(f"{known(r, h, ADJECTIVES)} {thing}")
    if p < 0.5:
        return text(f"{known(r, h, NOUNS + THINGS)} {thing}{'s' if r.random() < 0.4 and thing[-1] not in 'shxoy' else ''}")
    if p < 0.65:
        return text(f"{made_up(r, h).capitalize()} {thing}")
    if p < 0.8:
        return text(f"{made_up(r, h).capitalize()} {r.randint(2, 990)}")
    return text(thing)


def phrase(r, h):
    """Something to do: write the report, check the new pump valve."""
    what = known(r, h, THINGS + NOUNS)
    if r.random() < 0.4:
        what = f"{known(r, h, ADJECTIVES + NOUNS)} {what}"
    return text(f"{known(r, h, VERBS)} {r.choice(['the', 'the', 'the', 'a', 'all', 'our'])} {what}")


def thing(r, h):
    return text(known(r, h, THINGS))


def title(r, h):
    n = r.randint(2, 4)
    words = [known(r, h, ADJECTIVES + THINGS + NOUNS) if r.random() < 0.8 else made_up(r, h) for _ in range(n)]
    p = r.random()
    if p < 0.35:
        return text(" ".join(w.capitalize() for w in words))
    if p < 0.5:
        return text("The " + " ".join(w.capitalize() for w in words[:2]))
    return text(" ".join(words).capitalize())


def word(r, h):
    return text(made_up(r, h) if r.random() < 0.5 else known(r, h, ADJECTIVES + THINGS))


def job(r, h):
    j = known(r, h, JOBS)
    return text(r.choice([j, "senior " + j, "junior " + j, "head " + j]) if r.random() < 0.5 else j)


def integer(r, h, low=1, high=120):
    n = r.randint(low, high)
    if n in NUMBERS and r.random() < 0.25:
        return NUMBERS[n], str(n)
    return str(n), str(n)


def small(r, h):
    return integer(r, h, 1, 12)


def big(r, h):
    n = r.randint(200, 250000)
    return (f"{n:,}" if r.random() < 0.25 else str(n)), str(n)


def year(r, h):
    n = r.randint(1950, 2032)
    return str(n), str(n)


def decimal(r, h):
    s = f"{r.uniform(0, 10 ** r.randint(0, 3)):.{r.randint(1, 2)}f}"
    return s, s


def signed(r, h):
    s = f"{r.uniform(-40, 60):.1f}" if r.random() < 0.6 else str(r.randint(-30, 45))
    return s, s


def money(r, h):
    n = f"{r.uniform(1, 10 ** r.randint(1, 4)):.2f}" if r.random() < 0.6 else str(r.randint(2, 5000))
    shown = n
    if "." not in n and int(n) > 999 and r.random() < 0.4:
        shown = f"{int(n):,}"
    p = r.random()
    if p < 0.45:
        return f"{r.choice('$€£')}{shown}", n
    if p < 0.8:
        return f"{shown} {r.choice(['EUR', 'USD', 'GBP', 'euros', 'dollars', 'CHF'])}", n
    return shown, n


def percent(r, h):
    n = str(r.randint(1, 99)) if r.random() < 0.7 else f"{r.uniform(0, 99):.1f}"
    return r.choice([f"{n}%", f"{n} %", f"{n} percent"]), n


def measure(unit_choices):
    def draw(r, h):
        n = str(r.randint(1, 400)) if r.random() < 0.5 else f"{r.uniform(0.1, 90):.1f}"
        return f"{n}{r.choice([' ', ' ', ''])}{r.choice(unit_choices)}", n
    return draw


def date(r, h):
    y, m, d = r.randint(2015, 2031), r.randint(1, 12), r.randint(1, 28)
    iso = f"{y}-{m:02}-{d:02}"
    p = r.random()
    if p < 0.5:
        return iso, f'"{iso}"'
    month = MONTHS[m - 1]
    suffix = {1: "st", 2: "nd", 3: "rd", 21: "st", 22: "nd", 23: "rd"}.get(d, "th")
    return r.choice([f"{d} {month} {y}", f"{month} {d}, {y}", f"{d} {month[:3]} {y}", f"{month} {d}{suffix}, {y}"]), f'"{iso}"'


def clock(r, h):
    return text(r.choice([f"{r.randint(0, 23):02}:{r.randint(0, 59):02}", f"{r.randint(1, 12)}:{r.randint(0, 59):02} {r.choice(['am', 'pm'])}",
                          f"{r.randint(1, 12)} {r.choice(['am', 'pm'])}"]))


def weekday(r, h):
    return text(r.choice(WEEKDAYS))


def color(r, h):
    return text(r.choice(COLORS))


def language(r, h):
    return text(r.choice(LANGUAGES))


def url(r, h):
    return text(f"https://{r.choice(['', 'www.'])}{made_up(r, h)}.{r.choice(['com', 'org', 'net', 'io'])}/{r.choice(['', made_up(r, h), digits(r, 4)])}")


def listing(item, low=2, high=4):
    def draw(r, h):
        drawn = [item(r, h) for _ in range(r.randint(low, high))]
        shown = [s for s, _ in drawn]
        p = r.random()
        if p < 0.6:
            surface = ", ".join(shown[:-1]) + " and " + shown[-1]
        elif p < 0.85:
            surface = ", ".join(shown)
        else:
            surface = " / ".join(shown)
        return surface, "[" + ",".join(v for _, v in drawn) + "]"
    return draw


KINDS = {f.__name__: f for f in [first_name, last_name, person, company, city, country, street, address, postcode, email, phone,
                                 code, flight, product, phrase, thing, title, word, job, integer, small, big, year, decimal, signed,
                                 money, percent, date, clock, weekday, color, language, url]}
KINDS["weight"] = measure(["kg", "g", "lbs", "tons", "kilograms"])
KINDS["length"] = measure(["cm", "m", "km", "mm", "meters", "miles"])
KINDS["minutes"] = lambda r, h: (lambda n: (f"{n} {r.choice(['minutes', 'min', 'mins'])}", str(n)))(r.randint(5, 240))
KINDS["hours"] = lambda r, h: (lambda n: (f"{n} {r.choice(['hours', 'h', 'hrs'])}", str(n)))(r.randint(1, 72))
KINDS["people"] = listing(person)
KINDS["things"] = listing(thing)
KINDS["words"] = listing(word)
KINDS["codes"] = listing(code, 2, 3)
KINDS["numbers"] = listing(integer, 2, 5)

SCHEMA = {"integer": {"type": "integer"}, "small": {"type": "integer"}, "big": {"type": "integer"}, "year": {"type": "integer"},
          "decimal": {"type": "number"}, "signed": {"type": "number"}, "money": {"type": "number"}, "percent": {"type": "number"},
          "weight": {"type": "number"}, "length": {"type": "number"}, "minutes": {"type": "integer"},
          "hours": {"type": "integer"}, "date": {"type": "string", "format": "date"},
          "email": {"type": "string", "format": "email"},
          "people": {"type": "array", "items": {"type": "string"}}, "things": {"type": "array", "items": {"type": "string"}},
          "words": {"type": "array", "items": {"type": "string"}}, "codes": {"type": "array", "items": {"type": "string"}},
          "numbers": {"type": "array", "items": {"type": "integer"}}}


def schema_of(kind: str) -> dict:
    return SCHEMA.get(kind, {"type": "string"})
