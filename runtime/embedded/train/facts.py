"""Kinds of facts and domains, as concepts.txt, choices.txt, flags.txt, labels.txt and domains.txt say them, and which of them go together."""

import re
import zlib
from functools import lru_cache
from pathlib import Path

from values import ALIKE

HERE = Path(__file__).parent


def cells(line):
    return [cell.strip() for cell in line.split("|")]


def parts(text, mark):
    return [part.strip() for part in text.split(mark) if part.strip()]


class Concept:
    """One kind of fact: how its field may be called and how a text may state it."""

    def __init__(self, key, kind, names, clauses, options=None, synonyms=None):
        self.key, self.kind, self.names, self.clauses = key, kind, names, clauses
        self.options, self.synonyms = options, synonyms  # phrases and other names by label


def choice(key, names, options):
    """One of some labels, each of `options` a line's cell: `label / other names = phrase ; phrase`."""
    labels = [(parts(said, " / "), parts(phrases, ";")) for said, phrases in (option.split("=") for option in options)]
    return Concept(key, "choice", parts(names, ","), [], {own[0]: phrases for own, phrases in labels}, {own[0]: own for own, _ in labels})


def flag(key, names, yes, no):
    return Concept(key, "flag", parts(names, ","), [], {"true": parts(yes, ";"), "false": parts(no, ";")})


def load():
    concepts = {}
    for line in (HERE / "concepts.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, kind, names, clauses = cells(line)
            concepts[key] = Concept(key, kind, parts(names, ","), parts(clauses, ";"))
    for line in (HERE / "choices.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, names, *options = cells(line)
            concepts[key] = choice(key, names, options)
    for line in (HERE / "flags.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, names, yes, no = cells(line)
            concepts[key] = flag(key, names, yes, no)
    domains = []
    for line in (HERE / "domains.txt").read_text().splitlines():
        if line.startswith("##"):
            _, nouns, tools, purposes = cells(line)
            domains.append({"nouns": parts(nouns, ","), "tools": parts(tools, ","), "purposes": parts(purposes, ";"),
                            "concepts": [], "lists": None, "sentences": []})
        elif line.startswith("+"):
            domains[-1]["concepts"] = line[1:].split()
        elif line.startswith("*"):
            names, lines = line[1:].split(" : ")
            domains[-1]["lists"] = (parts(names, ","), parts(lines, ";"))
        elif line.strip():
            domains[-1]["sentences"].append(line.strip().replace("\\n", "\n"))
    return concepts, domains


def load_labels():
    """Questions of labels.txt, which belong to no domain: a handful of labels each, or yes and no."""
    found = []
    for i, line in enumerate((HERE / "labels.txt").read_text().splitlines()):
        if line and line[0] != "#":
            names, *options = cells(line)
            is_flag = options[0].startswith("yes =")
            found.append(flag(f"label{i}", names, *(o.split("=")[1] for o in options)) if is_flag else choice(f"label{i}", names, options))
    return found


CONCEPTS, DOMAINS = load()
LABELS = load_labels()
FILLERS = (HERE / "fillers.txt").read_text().splitlines()
WISHES = (HERE / "wishes.txt").read_text().splitlines()
LINKS = set("of the a an is in on for to by at and or with from has".split())
COMMON_WORDS = LINKS | set("name number date who what how".split())  # of field names of many facts


def held_names():
    """
    Field names that training never sees: of every fact one in six or so, of more than one word, whose words all occur in other
    names that training sees, at least one of them in a name of the same fact: new, but to be understood.
    """
    uses, held = {}, set()
    for concept in CONCEPTS.values():
        for name in concept.names:
            for word in name.split(" "):
                uses.setdefault(word, set()).add(name)
    for concept in CONCEPTS.values():
        wanted = max(1, len(concept.names) // 6)
        for name in sorted(concept.names, key=lambda n: zlib.crc32(n.encode())):
            words = name.split(" ")
            own = {w for other in concept.names if other != name and other not in held for w in other.split(" ")} - COMMON_WORDS
            if wanted and len(words) > 1 and own.intersection(words) and all(uses[w] - held - {name} for w in words):
                held.add(name)
                wanted -= 1
    return held


HELD_NAMES = held_names()

# Facts that a text cannot tell apart, or that say something of each other: at most one of each row is in a text or asked for.
FAMILIES = [set(row.split()) for row in [
    "priority urgent severity frequency", "sentiment recommend refund approval condition", "category intent deskteam refund", "status approval confirmed paid active",
    "diet vegan allergy", "payment paid", "shipping transport", "level audience", "name first", "name last", "address street", "address city",
    "address postcode", "address country", "weather season", "contract frequency", "condition warranty status", "rubric genre topic tags", "direction intent",
    "intent refund", "reason task", "gender shipping", "department deskteam", "marital spouse relation", "clienttype firsttime member", "mealtime daypart",
    "damagekind mishap problem diagnosis symptom", "returncause reason why task", "eventform online event rubric", "roomtype rooms", "organic vegan diet spicy",
    "material product car", "visa iddoc passport", "refundable refund", "wheelchair lift", "spot room venue", "nickname first name", "birthplace city",
    "apartment address", "fluency language", "why intent", "problem category", "oldprice price", "subtotal total", "conceded goals",
    "price total amount fee", "origin city", "destination city", "online venue", "size garment"]]
# Tools for texts that could be meant for either: there the text says which is wanted.
NEAR = [set(row.split(",")) for row in [
    "order,invoice,product,payment,rental,auction lot,subscription", "book,film,song,article,review", "event,meeting,task,course,project", "person,address,employee,patient record",
    "sensor reading,meter reading,weather report,log entry", "ticket,repair,log entry,insurance claim", "flight,hotel booking,table reservation", "pet,patient record", "donation,payment",
    "parcel,order", "flat,rental", "workout,match", "car,product", "recipe,table reservation"]]
# Words around a value that do not tell what it is.
VAGUE = set("from in on at to for by with a the it is was i we my our an she he drives sits goes there's that there".split())


def is_vague(clause):
    return all(w in VAGUE for w in re.sub(r"[^a-z' ]", " ", clause.replace("{v}", " ").lower()).split())


def expand(r, phrase):
    """One of the texts that a phrase stands for: `{we/I} {really /}like it`."""
    return re.sub(r"\{([^}]*)\}", lambda m: r.choice(m[1].split("/")), phrase)


def group_of(concept):
    return ALIKE.get(concept.kind, concept.kind)


@lru_cache(maxsize=1 << 14)
def slots(sentence):
    return tuple(piece.split("}")[0] for piece in sentence.split("{")[1:])
