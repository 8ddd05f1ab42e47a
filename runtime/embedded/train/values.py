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
    """A pronounceable word that is on the asked side of the split; in training, half of them of pieces of known words."""
    if not held_out and r.random() < 0.5:
        return coin(r)
    while True:
        word = "".join(r.choice(SYLLABLES) for _ in range(r.randint(low, high))) + r.choice(ENDS)
        if is_held_out(word) == held_out:
            return word


def known(r, held_out, *sections):
    """One of the words of these sections; in training one in six is made up, so that copying is learnt and not the list."""
    if not held_out and r.random() < 0.16:
        return coin(r)
    return r.choice(side(WORDS[r.choice(sections)], held_out))


def cased(word, like):
    return word.capitalize() if like[:1].isupper() else word


def entry(section, varied=0.25):
    """Draws one of a section, or one of its entries with a word exchanged for another."""
    def draw(r, h):
        words = r.choice(side(WORDS[section], h)).split(" ")
        if r.random() < varied and (not h or len(words) > 1):
            at = r.choice([i for i, w in enumerate(words) if len(w) > 3] or [0])
            other = made_up(r, h) if r.random() < 0.5 else known(r, h, "LAST", "ADJECTIVES", "THINGS").split(" ")[0]
            words[at] = cased(other, words[at])
        return text(" ".join(words))
    return draw


def name_word(r, held_out, section):
    word = made_up(r, held_out) if r.random() < 0.2 else known(r, held_out, section)
    return word[0].upper() + word[1:]


def first_name(r, h):
    return text(name_word(r, h, "FIRST"))


def last_name(r, h):
    return text(name_word(r, h, "LAST"))


def person(r, h):
    first, last = name_word(r, h, "FIRST"), name_word(r, h, "LAST")
    p = r.random()
    if p > 0.94:
        return text(first)
    if p < 0.07:
        first = first[0] + "."
    elif p < 0.12:
        last += "-" + name_word(r, h, "LAST")
    elif p < 0.2:
        first = r.choice(["Dr.", "Prof.", "Ms.", "Mr.", "Mrs."]) + " " + first
    elif p < 0.24:
        first = r.choice(["Dr.", "Prof.", "Ms.", "Mr.", "Mrs."])
    elif p < 0.29:
        first += " " + r.choice("ABCDEFGHJKLMNPRSTVW") + "."
    return text(f"{first} {last}")


def company(r, h):
    p = r.random()
    a = name_word(r, h, r.choice(["LAST", "COMPANY_WORDS", "COMPANY_WORDS"]))
    end = r.choice(WORDS["COMPANY_ENDS"])
    if p < 0.5:
        return text(f"{a} {end}")
    if p < 0.62:
        return text(f"{a} & {name_word(r, h, 'LAST')}")
    if p < 0.7:
        return text(f"{a} & {r.choice(['Sons', 'Daughters', 'Partners', 'Co'])}")
    if p < 0.85:
        return text(f"{a} {r.choice(side(WORDS['THINGS'], h)).capitalize()} {end}")
    return text(a)


def city(r, h):
    return text(name_word(r, h, "CITIES"))


def country(r, h):
    return text(r.choice(side(WORDS["COUNTRIES"], h)))


def street(r, h):
    line = f"{name_word(r, h, 'STREETS')} {r.choice(WORDS['STREET_KINDS'])}"
    return text(f"{r.randint(1, 299)}{r.choice(['', '', '', '', 'a', 'B'])} {line}")


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
    a, b = (name_word(r, h, section).lower().replace(" ", "") for section in ("FIRST", "LAST"))
    host = made_up(r, h) if r.random() < 0.5 else known(r, h, "COMPANY_WORDS", "THINGS").lower().replace(" ", "")
    return text(f"{r.choice([a, a + '.' + b, a + '_' + b, a[0] + b, a + digits(r, 2)])}@{host}.{r.choice(['com', 'org', 'net', 'de', 'io', 'example'])}")


def phone(r, h):
    return text(r.choice([f"+{r.randint(1, 98)} {digits(r, 3)} {digits(r, 7)}", f"{digits(r, 3)}-{digits(r, 3)}-{digits(r, 4)}",
                          f"0{digits(r, 3)} {digits(r, 6)}", f"({digits(r, 3)}) {digits(r, 3)}-{digits(r, 4)}"]))


def code(r, h):
    return text(r.choice([f"{letters(r, 2)}-{digits(r, 4)}", f"{letters(r, 3)}{digits(r, 3)}", f"{letters(r, 1)}{digits(r, 5)}",
                          f"{digits(r, 4)}-{letters(r, 2)}", f"{letters(r, 3)}-{digits(r, 2)}-{letters(r, 1)}", f"#{digits(r, 5)}",
                          f"{digits(r, 6)}"]))


def flight(r, h):
    return text(f"{letters(r, 2)} {digits(r, r.randint(2, 4)).lstrip('0') or '7'}")


def thing(r, h):
    return text(known(r, h, "THINGS"))


def many(word):
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") and word[-2:-1] not in "aeiou" else word + "s"


def product(r, h):
    p = r.random()
    if p > 0.8:
        return entry("GOODS")(r, h)
    what = known(r, h, "THINGS")
    if r.random() < 0.4:
        what = many(what)
    if p < 0.3:
        return text(f"{known(r, h, 'ADJECTIVES')} {what}")
    if p < 0.38:
        return text(f"{r.choice(side(WORDS['COLORS'], h))} {what}")
    if p < 0.44:
        return text(f"{made_up(r, h).capitalize()} {what}")
    if p < 0.5:
        return text(f"{name_word(r, h, 'COMPANY_WORDS')} {r.choice(['', 'Pro ', 'Mini ', 'S', 'X'])}{r.randint(2, 990)}")
    if p < 0.56:
        return text(f"{known(r, h, 'ADJECTIVES')} {known(r, h, 'ADJECTIVES')} {what}")
    return text(what)


def car(r, h):
    p = r.random()
    if p > 0.6:
        return entry("MODELS")(r, h)
    maker = name_word(r, h, r.choice(["COMPANY_WORDS", "LAST"]))
    if p < 0.25:
        return text(f"{maker} {made_up(r, h).capitalize()}")
    return text(maker if p < 0.35 else f"{maker} {r.choice(['', 'GT ', 'C', 'X'])}{r.randint(1, 900)}")


def phrase(r, h):
    """Something to do: write the report, check the new pump valve."""
    if r.random() < 0.5:
        return entry("TASKS")(r, h)
    what = known(r, h, "THINGS", "NOUNS", "DEVICES")
    if r.random() < 0.35:
        what = f"{known(r, h, 'ADJECTIVES', 'QUALIFIERS')} {what}"
    said = f"{known(r, h, 'VERBS')} {r.choice(['the', 'the', 'the', 'a', 'all', 'our', 'my'])} {what}"
    if r.random() < 0.2:
        said += f" {r.choice(['for the', 'with the', 'in the', 'of the'])} {known(r, h, 'NOUNS', 'THINGS')}"
    return text(said)


def title(r, h):
    if r.random() < 0.5:
        return entry("TITLES")(r, h)

    def one():
        return (known(r, h, "ADJECTIVES", "THINGS", "NOUNS", "CITIES") if r.random() < 0.85 else made_up(r, h)).capitalize()

    return text(r.choice([lambda: f"The {one()} {one()}", lambda: f"{one()} of {one()}", lambda: f"{one()} {one()}", lambda: f"A {one()} for {one()}",
                          lambda: f"{one()} and {one()}", lambda: one(), lambda: f"{one()} {one()} {one()}", lambda: f"The {one()}"])())


def subject(r, h):
    return r.choice([title, entry("COURSES"), entry("TOPICS"), entry("TOPICS"), entry("NEWS")])(r, h)


def word(r, h):
    return text(made_up(r, h) if r.random() < 0.4 else known(r, h, "ADJECTIVES", "THINGS", "TOPICS"))


def size(r, h):
    return text(r.choice(["S", "M", "L", "XL", "XXL", "A4", "A5", "king size", f"{r.randint(34, 48)}", f"{r.randint(20, 240)} x {r.randint(20, 240)}",
                          f"{r.randint(2, 9) * 50} ml", f"{r.randint(1, 60)} inch"]))


def job(r, h):
    j = known(r, h, "JOBS")
    return text(f"{r.choice(['senior', 'junior', 'head', 'night', 'deputy'])} {j}" if r.random() < 0.25 else j)


def integer(r, h, low=1, high=120):
    n = r.randint(low, high)
    if r.random() < 0.25:
        if n in NUMBERS:
            return NUMBERS[n], str(n)
        if 20 < n < 100:
            return f"{NUMBERS.get(n - n % 10, str(n - n % 10))}-{NUMBERS[n % 10]}" if n - n % 10 in NUMBERS else str(n), str(n)
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
    return f"minus {s[1:]}" if s[0] == "-" and r.random() < 0.3 else s, s


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
    return text(r.choice(side(WORDS["COLORS"], h)))


def language(r, h):
    return text(r.choice(side(WORDS["LANGUAGES"], h)))


def url(r, h):
    return text(f"https://{r.choice(['', 'www.'])}{made_up(r, h)}.{r.choice(['com', 'org', 'net', 'io'])}/{r.choice(['', made_up(r, h), digits(r, 4)])}")


def listing(item, low=2, high=4):
    def draw(r, h):
        drawn = [item(r, h) for _ in range(r.randint(low, high if h else high + 2))]
        shown = [s for s, _ in drawn]
        p = r.random()
        if len(shown) == 1:
            surface = shown[0]
        elif p < 0.6:
            surface = ", ".join(shown[:-1]) + " and " + shown[-1]
        elif p < 0.85:
            surface = ", ".join(shown)
        else:
            surface = " / ".join(shown)
        return surface, "[" + ",".join(v for _, v in drawn) + "]"
    return draw


KINDS = {f.__name__: f for f in [first_name, last_name, person, company, city, country, street, address, postcode, email, phone,
                                 code, flight, product, car, phrase, thing, title, subject, word, size, job, integer, small, big, year, decimal,
                                 signed, money, percent, date, clock, weekday, color, language, url]}
LISTED = {"device": "DEVICES", "dish": "DISHES", "crop": "CROPS", "department": "DEPARTMENTS", "genre": "GENRES", "medicine": "MEDICINES",
          "species": "SPECIES", "fuel": "FUELS", "semester": "SEMESTERS", "exercise": "EXERCISES", "event": "EVENTS", "venue": "VENUES",
          "stadium": "STADIUMS", "team": "TEAMS", "hotel": "HOTELS", "project": "PROJECTS", "course": "COURSES", "charity": "CHARITIES", "pet": "PETS",
          "song": "SONGS", "problem": "PROBLEMS", "cause": "REASONS", "spot": "NICKS", "ailment": "AILMENTS", "mishap": "INCIDENTS"}
KINDS |= {kind: entry(section) for kind, section in LISTED.items()}
KINDS["weight"] = measure(["kg", "g", "lbs", "tons", "kilograms"])
KINDS["dose"] = measure(["mg", "g", "ml", "drops"])
KINDS["length"] = measure(["cm", "m", "km", "mm", "meters", "miles"])
KINDS["minutes"] = lambda r, h: (lambda n: (f"{n} {r.choice(['minutes', 'min', 'mins'])}", str(n)))(r.randint(5, 240))
KINDS["hours"] = lambda r, h: (lambda n: (f"{n} {r.choice(['hours', 'h', 'hrs'])}", str(n)))(r.randint(1, 72))
KINDS["people"] = lambda r, h: listing(first_name if r.random() < 0.2 else person)(r, h)
KINDS["names"] = listing(first_name)
KINDS["things"] = listing(thing)
KINDS["foods"] = listing(entry("FOODS"), 2, 5)
KINDS["symptoms"] = listing(entry("SYMPTOMS"), 1, 3)
KINDS["skills"] = listing(entry("SKILLS"))
KINDS["topics"] = listing(entry("TOPICS"))
KINDS["words"] = listing(word)
KINDS["codes"] = listing(code, 2, 3)
KINDS["numbers"] = listing(integer, 2, 5)

LISTS = "people names things foods symptoms skills topics words codes".split()
SCHEMA = {kind: {"type": "integer"} for kind in "integer small big year minutes hours".split()}
SCHEMA |= {kind: {"type": "number"} for kind in "decimal signed money percent weight dose length".split()}
SCHEMA |= {kind: {"type": "array", "items": {"type": "string"}} for kind in LISTS}
SCHEMA |= {"numbers": {"type": "array", "items": {"type": "integer"}}, "date": {"type": "string", "format": "date"},
           "email": {"type": "string", "format": "email"}}

# Kinds whose values look alike: where a text has two of them, it must say which is which.
ALIKE = {kind: group for group, kinds in {
    "person": "first_name last_name person pet", "people": "people names", "number": "integer small big year", "decimal": "decimal signed dose weight",
    "money": "money", "place": "city country street address", "code": "code flight postcode", "company": "company hotel charity department",
    "thing": "product car thing device dish crop species", "title": "title song subject event venue stadium team project course",
    "problem": "problem phrase cause mishap ailment", "word": "word genre medicine fuel exercise size color semester job", "list": "things foods symptoms skills topics words codes",
    "minutes": "minutes hours"}.items() for kind in kinds.split()}


def schema_of(kind: str) -> dict:
    return SCHEMA.get(kind, {"type": "string"})
