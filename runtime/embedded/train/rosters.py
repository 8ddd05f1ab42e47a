"""Whole texts with lists of like things (rosters/*.txt): what a customer orders, who comes when, which parts are worn.

A roster is a story (see stories.py) whose text has `{rows}`, where the list stands in lines of its own, or `{list}`, where it stands
in a sentence. Further lines say of one row: `~ ` how it is told, with slots of its own, in one line for each way; `.id = names`,
`.id ? names / further labels`, `.id ! names` what its facts may be called; `.- names` what no row says. `+ names` are those of the list.
What a way to tell a row leaves out is null.

    python rosters.py rosters/1.txt            checks the file, and prints a few texts of it
"""

import json
import re
import sys
from pathlib import Path

from answers import STYLES, nullable, object_schema, style_key, values_of, write
from facts import HERE, parts
from stories import NOUNS, SLOT, Asked, Fact, Story, StoryTeller, members_of
from values import *
from wordings import enumerated

COUNTS = [1, 2, 2, 3, 3, 3, 4, 4, 5, 6]
MOST_CHARACTERS = 700  # of the rows of a text


class Row:
    """What may be said of one thing in a list: the ways to tell it, facts by key, and what no way tells."""

    def __init__(self, ways, lines):
        self.ways, self.facts, self.absent = ways, {}, []
        told = [{m[1] or m[3]: (m[2], m[4]) for m in SLOT.finditer(way)} for way in ways]
        for line in lines:
            key, mark, names = line[1:].split(" ", 2) if line[1] != "-" else ("-", "-", line[3:])
            if mark == "-":
                self.absent += parts(names, ",")
                continue
            slots = [slot[key] for slot in told if key in slot]
            assert slots and len({kind for kind, _ in slots}) == 1, f"{line}: no way to tell {key}, or of several kinds"
            alternatives = [(parts(a, "=>") * 2)[:2] for _, written in slots for a in written.split("|")] if slots[0][1] else None
            self.facts[key] = Fact(mark, names, slots[0][0], alternatives)
        self.missable = {key for key in self.facts if not all(key in slot for slot in told)}


class Roster(Story):
    def __init__(self, lines):
        super().__init__([line for line in lines if line[0] not in ".~+"])
        self.row = Row([line[2:].replace("\\n", "\n") for line in lines if line[0] == "~"], [line for line in lines if line[0] == "."])
        self.names = [name for line in lines if line[0] == "+" for name in parts(line[2:], ",")]


def load(files):
    return [Roster(block.split("\n")) for file in files for block in file.read_text().strip().split("\n\n")]


ROSTERS = load(sorted((HERE / "rosters").glob("*.txt")))


class AskedRows:
    """A question for the list of a roster: its name, what is asked of each row, and whether the values stand there alone."""

    def __init__(self, name, asked, is_plain):
        self.name, self.asked, self.is_plain = name, asked, is_plain

    def schema(self):
        own = self.asked[0].schema if self.is_plain else object_schema(members_of(self.asked, lambda a: a.schema))
        return {"type": "array", "items": own}

    def member(self, rows, is_spaced):
        def told(a, literals):
            return a.spelt.get(literals.get(a.key), literals.get(a.key, "null"))

        if self.is_plain:
            found = [told(self.asked[0], literals) for literals in rows]
            return self.name, f"[{(', ' if is_spaced else ',').join(found)}]"
        return self.name, [[(a.name, told(a, literals)) for a in self.asked] for literals in rows]


class RosterTeller(StoryTeller):
    """Draws texts with lists and what is asked of them."""

    def roster(self):
        while is_held_out((roster := self.r.choice(ROSTERS)).text) != self.h:
            pass
        return roster

    def told_facts(self, template, facts, said):
        """(text, literals by key) of a template with slots."""
        literals = {}

        def draw(m):
            key = m[1] or m[3]
            surface, literals[key] = self.told_fact(key, facts[key], said)
            return surface

        return SLOT.sub(draw, template), literals

    def tell_roster(self, roster):
        """(text, literals by key, literals by key of each row)"""
        r, said = self.r, []
        told, literals = self.told_facts(roster.text, roster.facts, said)
        row, rows, texts = roster.row, [], []
        way, is_mixed = r.choice(row.ways), r.random() < 0.4
        for _ in range(r.choice(COUNTS)):
            line, own = self.told_facts(r.choice(row.ways) if is_mixed else way, row.facts, said)
            if texts and sum(map(len, texts)) + len(line) > MOST_CHARACTERS:
                break
            texts.append(line)
            rows.append(own)
        listed = self.in_sentence(texts) if "{list}" in told else self.in_lines(texts)
        told = told.replace("{list}", listed).replace("{rows}", listed)
        return told[0].upper() + told[1:], literals, rows

    def in_sentence(self, texts):
        if len(texts) == 1:
            return texts[0]
        if any("," in t for t in texts):
            return "; ".join(texts) if self.r.random() < 0.6 else "; ".join(texts[:-1]) + "; and " + texts[-1]
        if self.r.random() < 0.5:
            return ", ".join(texts[:-1]) + " and " + texts[-1]
        return enumerated(self.r, texts)

    def in_lines(self, texts):
        r = self.r
        mark = r.choice(["", "", "- ", "- ", "* ", "• ", "1. ", "1) ", "(1) ", "#1 "])
        return r.choice(["\n", "\n", "\n", "\n\n", ";\n"]).join(mark.replace("1", str(i + 1)) + t for i, t in enumerate(texts))

    def asked_of(self, roster):
        """(what is asked of the text itself, what is asked of the list)"""
        r, style = self.r, self.r.choice(STYLES)
        header = []
        if roster.facts and r.random() < 0.7:
            header = [a._replace(under=None) for a in self.asked(roster, style, 4)]
        row = roster.row
        asked = [a._replace(under=None, schema=nullable(a.schema) if a.key in row.missable and isinstance(a.schema["type"], str) else a.schema)
                 for a in self.asked(row, style, r.choice([1, 2, 3, 3, 4, 5]))]
        plain = [a for a in asked if a.key and a.key not in row.missable]
        is_plain = bool(plain) and r.random() < (0.7 if len(asked) == 1 else 0.15)
        name = style_key(r.choice(roster.names), style)
        header = [a for a in header if a.name != name]
        return header, AskedRows(name, plain[:1] if is_plain else asked, is_plain), r.randint(0, len(header))

    def roster_answer(self, request, literals, rows, is_spaced):
        header, listed, at = request
        members = [(a.name, a.spelt.get(literals[a.key], literals[a.key]) if a.key else "null") for a in header]
        members.insert(at, listed.member(rows, is_spaced))
        return {"answer": write(members, is_spaced), "values": values_of(members, self.roster_schema(request))}

    @staticmethod
    def roster_schema(request):
        header, listed, at = request
        members = [(a.name, a.schema) for a in header]
        members.insert(at, (listed.name, listed.schema()))
        return object_schema(members)

    def roster_group(self, size):
        """Up to `size` examples, as `Maker.group` gives them: one schema and several texts, or one text and several schemas."""
        r, roster = self.r, self.roster()
        request, is_spaced = self.asked_of(roster), r.random() < 0.15
        names = [a.name for a in request[0]]
        names.insert(request[2], request[1].name)
        instruction, is_shown, examples = self.instruction(r.choice(NOUNS), ", ".join(names)), r.random() < 0.4, []
        told, literals, rows = self.tell_roster(roster)
        start = [{"role": "system", "content": self.shown(self.roster_schema(request))}] if is_shown else self.system()
        messages = [*start, {"role": "user", "content": self.ask(told, instruction)}]
        for i in range(1 if not is_shown and ", ".join(names) in instruction else size):
            if i and is_shown:
                told, literals, rows = self.tell_roster(roster)
                messages = [*start, {"role": "user", "content": self.ask(told, instruction)}]
            elif i:
                request = self.asked_of(roster)
            examples.append({"messages": messages, **self.roster_answer(request, literals, rows, is_spaced),
                             "schema": self.roster_schema(request), "kind": "schema" if is_shown else "bare"})
        return examples


def check(rosters):
    """Fails at a slot without names, names without a slot, and what is no slot."""
    for roster in rosters:
        where = roster.text[:60]
        assert ("{rows}" in roster.text) != ("{list}" in roster.text), f"{where}: one of {{rows}} and {{list}}"
        assert roster.row.ways and roster.names, f"{where}: no row, or no name of the list"
        for template, facts in [(roster.text, roster.facts), *((way, roster.row.facts) for way in roster.row.ways)]:
            missing = {m[1] or m[3] for m in SLOT.finditer(template)} - set(facts)
            assert not missing, f"{where}: {missing} has no names"
            rest = re.sub(r"\{(rows|list)\}", "", SLOT.sub("", template))
            assert not set("{}[]") & set(rest), f"{where}: a slot is not written rightly in {rest}"
        for fact in [*roster.facts.values(), *roster.row.facts.values()]:
            assert len(fact.names) > 1 and (fact.alternatives or fact.kind in KINDS), f"{where}: {fact.names}, {fact.kind}"


if __name__ == "__main__":
    ROSTERS[:] = load([Path(name) for name in sys.argv[1:]])
    check(ROSTERS)
    teller = RosterTeller(1)
    for _ in range(6):
        e = teller.roster_group(1)[0]
        print(e["messages"][-1]["content"] + "\n" + re.sub("[\x01-\x04]", "", e["answer"]) + "\n" + "=" * 80)
    print(len(ROSTERS), "rosters")
