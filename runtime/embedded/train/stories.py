"""Whole texts with marked facts (`*.txt` in stories.zip), and the questions that may be asked of them.

Sentences of a domain and clauses of single facts are put together by a program; these texts hang together. A text is a line
`> ` with values that are drawn anew, `{id:kind}`, and words of which one alternative is taken, `[id:words => value|words => value]`
(without `=>` the words are the value); of `[id:+ words|words]` some are taken, one after the other, and the value is their list.
The lines below it say what the facts may be called: `id = names` asks for the value,
`id ? names / further labels` for one of the alternatives' labels, `id ! names` for yes or no, `- names` for what the text does
not say, and `* tools ; purpose` names a function that the text may be meant for.
"""

import json
import re
from copy import copy
from itertools import groupby
from typing import NamedTuple
from zipfile import ZipFile

from answers import STYLES, nullable, object_schema, style_key, values_of, write
from facts import HELD_NAMES, HERE, Concept, expand, parts
from prompts import Asker
from values import *
from wordings import in_a_row

SLOT = re.compile(r"\{([a-z]+):([a-z_]+)\}|\[([a-z]+):((?:[^\[\]]|\[[^\[\]]*\])*)\]")
NOUNS = ["text", "message", "text", "note"]
# Names of an object in which some of the fields lie.
WRAPPERS = ["details", "data", "info", "information", "facts", "record", "entry", "summary", "meta", "general", "other", "extra",
            "basics", "particulars", "content", "result", "extraction", "notes", "main", "overview", "attributes", "properties",
            "document", "key facts", "about", "payload", "specifics", "background", "header", "section", "case", "more", "core",
            "item data", "detail block", "text facts", "main part", "group", "values", "what it says"]
ENDS = re.compile(r"(?<=[.!?:;])\s+|\n+")
LENGTHS = [1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5]  # of lists
DATE = re.compile(r"\d{4}-\d\d-\d\d")


class Fact:
    """One marked fact: the kind of its value or its alternatives [(words, literal)], its names, its schema, whether several are said."""

    def __init__(self, mark, names, kind, alternatives, is_list=False):
        labels = parts(names, " / ")
        self.names, self.kind, self.is_list = parts(labels[0], ","), kind, is_list
        self.alternatives, self.labels = alternatives, []
        if kind:
            self.schema = dict(schema_of(kind))
        elif mark == "!":
            self.alternatives = [(words, {"yes": "true", "no": "false"}[value]) for words, value in alternatives]
            self.schema = {"type": "boolean"}
        elif mark == "?":
            self.labels = list(dict.fromkeys([value for _, value in alternatives] + (parts(labels[1], ",") if len(labels) > 1 else [])))
            self.schema = None
        else:
            self.alternatives = [(words, literal_of(value)) for words, value in alternatives]
            self.schema = schema_of_literals([literal for _, literal in self.alternatives])
            if is_list:
                self.schema = {"type": "array", "items": self.schema}


def literal_of(value):
    """A JSON number or list as it stands; everything else is a string."""
    try:
        if isinstance(json.loads(value), (int, float, list)) and value not in ("true", "false"):
            return value if value[0] != "[" else json.dumps(json.loads(value), separators=(",", ":"), ensure_ascii=False)
    except json.JSONDecodeError:
        pass
    return json.dumps(value, ensure_ascii=False)


def schema_of_literals(literals):
    values = [json.loads(literal) for literal in literals]
    if all(isinstance(v, int) for v in values):
        return {"type": "integer"}
    if all(isinstance(v, (int, float)) for v in values):
        return {"type": "number"}
    if all(isinstance(v, list) for v in values):
        return {"type": "array", "items": schema_of_literals([json.dumps(v) for v in values for v in v])}
    return {"type": "string", "format": "date"} if all(isinstance(v, str) and DATE.fullmatch(v) for v in values) else {"type": "string"}


def exchanged(r, said):
    """The words with one of the longer ones exchanged for another, so that they are copied and not remembered."""
    words = said.split(" ")
    at = r.choice([i for i, word in enumerate(words) if len(word) > 3 and word.isalpha()] or [0])
    words[at] = cased(known(r, False, "ADJECTIVES", "THINGS", "NOUNS", "LAST"), words[at])
    return text(" ".join(words))


def gaps_of(text):
    """What separates the sentences and lines of a text, which is never within a slot."""
    cuts = [m.span() for m in SLOT.finditer(text)]
    return [m for m in ENDS.finditer(text) if not any(a < m.end() and m.start() < b for a, b in cuts)]


def sentences_of(text):
    """The text cut between its sentences and lines."""
    gaps = gaps_of(text)
    return [text[start:stop] for start, stop in zip([0] + [m.end() for m in gaps], [m.start() for m in gaps] + [len(text)])]


class Story:
    def __init__(self, lines):
        self.source = re.sub(r"\{[^}]*\}|[a-z]+:|=>|\\n", " ", "\n".join(lines))  # for the tokenizer: words, without marks
        self.text, self.facts, self.absent, self.tools, self.purpose = lines[0][2:].replace("\\n", "\n"), {}, [], [], ""
        slots = {m[1] or m[3]: (m[2], m[4]) for m in SLOT.finditer(self.text)}
        for line in lines[1:]:
            if line.startswith("- "):
                self.absent += parts(line[2:], ",")
            elif line.startswith("* "):
                tools, self.purpose = parts(line[2:], ";")
                self.tools += parts(tools, ",")
            else:
                key, mark, names = line.split(" ", 2)
                kind, written = slots[key]
                is_list = bool(written) and written.startswith("+ ")
                alternatives = [(parts(a, "=>") * 2)[:2] for a in written.removeprefix("+ ").split("|")] if written else None
                self.facts[key] = Fact(mark, names, kind, alternatives, is_list)
        self.ends = [0] + [m.end() for m in gaps_of(self.text)]
        # Sentences that tell a label or yes or no, and the keys of these.
        self.telling = []
        for sentence in sentences_of(self.text):
            keys = [m[1] or m[3] for m in SLOT.finditer(sentence)]
            if chosen := [k for k in keys if self.facts[k].labels or self.facts[k].schema == {"type": "boolean"}]:
                self.telling.append((sentence, chosen))

    def with_sentence(self, r, fact):
        """This text with a sentence more, which tells a fact of its own."""
        told, at = copy(self), r.choice(self.ends)
        told.facts = {**self.facts, "added": fact}
        told.text = f"{self.text[:at]}[added:said] {self.text[at:]}"
        return told


def load(*names):
    with ZipFile(HERE / "stories.zip") as archive:
        texts = [archive.read(name).decode() for name in names]
    return [Story(block.split("\n")) for text in texts for block in text.strip().split("\n\n")]


# The evaluation draws from the first three files alone, so that its texts stay what they are.
TESTED_STORIES = load("1.txt", "2.txt", "3.txt")
NEWEST_STORIES = load("10.txt")
SOBER_STORIES = load("5.txt", "6.txt", "7.txt", "8.txt", "9.txt") + NEWEST_STORIES  # in the plain English of most mails and notes
STORIES = TESTED_STORIES + load("4.txt") + SOBER_STORIES


class Asked(NamedTuple):
    """
    A question to a story: a fact's key (None: the story does not say it), its field's name and schema, how its labels are
    spelt in it, and the object in which it lies.
    """

    key: str | None
    name: str
    schema: dict
    spelt: dict
    under: str | None = None


def members_of(asked, told):
    """(name, what `told` tells of the question) of each field; those under one name together, as its members."""
    members = []
    for under, some in groupby(asked, lambda a: a.under):
        own = [(a.name, told(a)) for a in some]
        members += [(under, own)] if under else own
    return members


def schema_of_asked(asked):
    members = members_of(asked, lambda a: a.schema)
    return object_schema([(name, object_schema(own) if isinstance(own, list) else own) for name, own in members])


def answer_of(asked, literals, is_spaced):
    members = members_of(asked, lambda a: a.spelt.get(literals[a.key], literals[a.key]) if a.key else "null")
    return {"answer": write(members, is_spaced), "values": values_of(members, schema_of_asked(asked))}


class StoryTeller(Asker):
    """Draws whole texts and what is asked of them."""

    def story(self):
        if self.shares.sober and self.r.random() < self.shares.sober:
            story = self.r.choice(NEWEST_STORIES if self.r.random() < self.shares.newest else SOBER_STORIES)
        else:
            while is_held_out((story := self.r.choice(TESTED_STORIES if self.h else STORIES)).text) != self.h:
                pass
        return story.with_sentence(self.r, self.added_fact(concept)) if (concept := self.label(self.shares.added)) else story

    def added_fact(self, concept):
        """A choice or a flag as a fact of a story, every phrase a sentence."""
        concept, mark = self.relabelled(concept), "?" if concept.kind == "choice" else "!"
        values = {"true": "yes", "false": "no"} if mark == "!" else {}
        said = [(expand(self.r, phrase), values.get(label, label)) for label, phrases in concept.options.items() for phrase in phrases]
        return Fact(mark, ", ".join(concept.names), None, [(words[0].upper() + words[1:] + ".", value) for words, value in said])

    def tell_story(self, story, text=None, surfaces=None):
        """(text, literals by key) of the story, or of a part of its text; how the text says each of them goes to `surfaces`."""
        said, literals = [], {}

        def draw(m):
            key = m[1] or m[3]
            surface, literals[key] = self.told_fact(key, story.facts[key], said)
            if surfaces is not None:
                surfaces[key] = surface
            return surface

        told = SLOT.sub(draw, text or story.text)
        return told[0].upper() + told[1:], literals

    def told_fact(self, key, fact, said):
        """(surface, literal) of a fact; a value that is drawn anew is not in `said`, and is added."""
        if fact.kind:
            return self.fresh(Concept(key, fact.kind, fact.names, []), said)
        if not fact.is_list:
            return self.told_alternative(self.r.choice(fact.alternatives))
        some = self.r.sample(fact.alternatives, min(self.r.choice(LENGTHS), len(fact.alternatives)))
        surfaces, literals = zip(*[self.told_alternative(a) for a in some])
        return in_a_row(self.r, surfaces), f"[{','.join(literals)}]"

    def told_alternative(self, alternative):
        surface, literal = alternative
        if not self.h and literal == json.dumps(surface) and self.r.random() < 0.2:
            return exchanged(self.r, surface)
        return surface, literal

    def asked(self, story, style, most=7):
        """What is asked of a story: some of its facts, and of what it does not say none, one or two."""
        r = self.r
        keys = r.sample(list(story.facts), r.randint(1, min(most, len(story.facts))))
        if r.random() < 0.6:
            keys.sort(key=list(story.facts).index)
        asked, used = [], set()
        for key in keys + [None] * r.choice([0, 0, 1, 1, 2]):
            fact = story.facts[key] if key else None
            names = [n for n in (fact.names if fact else story.absent) if self.h or n not in HELD_NAMES]
            if not names or (name := style_key(r.choice(names), style)) in used:
                continue
            used.add(name)
            schema, spelt = self.asked_as(fact)
            if fact is None or r.random() < 0.3:
                schema = nullable(schema)
            asked.insert(len(asked) if fact else r.randint(0, len(asked)), Asked(key, name, schema, spelt))
        if len(asked) > 2 and r.random() < 0.15:
            under = style_key(r.choice(side(WRAPPERS, self.h)), style)
            start = r.randrange(len(asked) - 1)
            if under not in used:
                end = r.randint(start + 2, len(asked))
                asked[start:end] = [a._replace(under=under) for a in asked[start:end]]
        return asked or self.asked(story, style, most)

    def asked_as(self, fact):
        """Schema of a field that asks for a fact, or for what is absent, and how the fact's labels are spelt in it."""
        r = self.r
        if fact is None:
            return r.choice([{"type": "string"}, {"type": "string"}, {"type": "integer"}, {"type": "number"}]), {}
        if not fact.labels:
            return dict(fact.schema), {}
        spell = r.choice([str, str, str, str.upper, str.capitalize, lambda label: label.replace(" ", "_")])
        return ({"type": "string", "enum": r.sample([spell(label) for label in fact.labels], len(fact.labels))},
                {label: json.dumps(spell(label), ensure_ascii=False) for label in fact.labels})

    def story_drill(self, size):
        """
        Single sentences that tell a label or yes or no, and nothing but that asked for: one schema in the prompt and several wordings,
        or several sentences without schema.
        """
        r, examples, is_shown, story = self.r, [], self.r.random() < 0.5, None
        while len(examples) < size:
            if story is None or not is_shown and len(examples) % 2 == 0:
                story = self.story()
                if not story.telling:
                    story = None
                    continue
                sentence, keys = r.choice(story.telling)
                key = r.choice(keys)
                names = [n for n in story.facts[key].names if n not in HELD_NAMES] or story.facts[key].names
                asked = [Asked(key, style_key(r.choice(names), r.choice(STYLES)), *self.asked_as(story.facts[key]))]
                schema = schema_of_asked(asked)
                start = [{"role": "system", "content": self.shown(schema)}] if is_shown else []
            told, literals = self.tell_story(story, sentence)
            examples.append({"messages": [*start, {"role": "user", "content": told}], **answer_of(asked, literals, False), "schema": schema,
                             "kind": "schema" if is_shown else "bare"})
        return examples

    def story_group(self, size):
        """Up to `size` examples, as `Maker.group` gives them."""
        p, shares = self.r.random(), self.shares
        if shares.sentences and self.r.random() < shares.sentences:
            return self.story_drill(8)
        if p < shares.calls:
            return self.story_calls(size)
        if p > 1 - shares.answers:
            return self.story_answers(size)
        return self.story_readings(size) if p < shares.calls + shares.readings else self.story_questions(size + shares.more)

    def story_answers(self, size):
        """One story, and plain answers to questions about what it says."""
        story = self.story()
        surfaces = {}
        told, literals = self.tell_story(story, surfaces=surfaces)
        asked = [a for a in self.asked(story, "spaces", size) if a.key and literals[a.key][0] != "["]
        # Words that stand for another value are no answer: "the two of us" for 2.
        said = {key: surface if story.facts[key].kind or json.dumps(surface, ensure_ascii=False) == literals[key] else "" for key, surface in surfaces.items()}
        return [self.plain(told, a.name, said[a.key], literals[a.key], story.facts[a.key].labels) for a in asked] or self.story_answers(size)

    def story_readings(self, size):
        """One schema in the prompt, and one story told with several values."""
        story, asked, is_spaced, told, literals, instruction = self.request()
        schema, examples = schema_of_asked(asked), []
        system = {"role": "system", "content": self.shown(schema)}
        for i in range(size):
            if i:
                told, literals = self.tell_story(story)
            user = {"role": "user", "content": self.ask(told, instruction)}
            examples.append({"messages": [system, user], **answer_of(asked, literals, is_spaced), "schema": schema, "kind": "schema"})
        return examples

    def story_questions(self, size):
        """One text, and several answers under other names; one, if the request itself names what is asked."""
        story, asked, is_spaced, told, literals, instruction = self.request()
        messages, examples = [*self.system(), {"role": "user", "content": self.ask(told, instruction)}], []
        for i in range(1 if ", ".join(a.name for a in asked) in instruction else size):
            if i:
                asked = self.asked(story, self.r.choice(STYLES))
            examples.append({"messages": messages, **answer_of(asked, literals, is_spaced), "schema": schema_of_asked(asked), "kind": "bare"})
        return examples

    def request(self):
        """(story, asked, is_spaced, text, literals, instruction)"""
        story, style, is_spaced = self.story(), self.r.choice(STYLES), self.r.random() < 0.15
        asked = self.asked(story, style)
        return story, asked, is_spaced, *self.tell_story(story), self.instruction(self.r.choice(NOUNS), ", ".join(a.name for a in asked))

    def story_calls(self, size):
        """Two to four functions with nothing in common, and texts for some of them."""
        r, stories, words = self.r, [], set()
        most = r.choice([2, 2, 3, 3, 4])
        while len(stories) < most:
            story = self.story()
            own = {w for tool in story.tools for w in tool.split("_")[1:]}
            if own & words or not story.tools:
                continue
            words |= own
            stories.append(story)
        asked = [self.asked(story, r.choice(STYLES), 4) for story in stories]
        names = [style_key(r.choice(s.tools).replace("_", " "), r.choice(["snake", "snake", "snake", "camel"])) for s in stories]
        tools = [{"type": "function", "function": {"name": name, "description": s.purpose, "parameters": schema_of_asked(fields)}}
                 for name, s, fields in zip(names, stories, asked)]
        examples = []
        for i in r.sample(range(most), min(size, most)):
            told, literals = self.tell_story(stories[i])
            filled = answer_of(asked[i], literals, False)
            filled["answer"] = f'<tool_call>\n{{"name": "{names[i]}", "arguments": {filled["answer"]}}}\n</tool_call>'
            examples.append({"messages": [{"role": "user", "content": told}], **filled, "tools": tools, "kind": "tool"})
        return examples
