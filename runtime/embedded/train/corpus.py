"""Makes examples: a text, a list of fields asked for, and the JSON that answers.

An example is (messages, answer, schema). Texts come from domain sentences, from clauses of single fields, from forms,
from made-up field names (texts.py), and from whole texts (stories.py). The evaluation draws from the held-out side of the split only.

    python corpus.py            prints a few examples
"""

import json
import sys

from answers import STYLES, nullable, object_schema, render, style_key, unmark, values_of, write
from facts import CONCEPTS, DOMAINS, NEAR, WISHES
from prompts import SCHEMA_LEADS
from rosters import ROSTERS, RosterTeller
from stories import STORIES
from values import *

TOOL_VERBS = """store record register add save log create update book send open close find cancel report rent schedule start submit
order get set check change remove reserve print plan share delete list call move""".split()
TOOL_PURPOSES = ["{verb} the {noun}.", "{verb} a {noun}.", "Use this to {verb} the {noun}.", "Use this for the {noun}.", "All about the {noun}.",
                 "For people who want to {verb} a {noun}.", "Needed when somebody wants to {verb} the {noun}."]

CHOSEN = [key for key, concept in CONCEPTS.items() if concept.kind in ("choice", "flag")]


class Maker(RosterTeller):
    """Draws examples from one side of the split."""

    def group(self, difficulty=1.0, size=3):
        """
        Up to `size` examples whose prompts begin alike: one schema or one list of tools and several texts, or one text and
        several answers. Each is a dict with messages, answer (marked: see `unmark`), kind, `source` of whole texts, and schema or
        tools where there are any.

        Difficulty 0 … 1: at 0 nearly all are forms of made-up fields with short values, without schema or tools, which is
        where finding and copying is learnt fastest; at 1 everything.
        """
        r, shares = self.r, self.shares
        if shares.rosters and r.random() < shares.rosters * difficulty:
            return self.roster_group(size)
        if r.random() < shares.stories * difficulty:
            return [{**example, "source": "whole texts"} for example in self.story_group(size)]
        p = r.random()
        if p < shares.tools * difficulty:
            return self.tool_drill(8) if size > 1 and r.random() < shares.drills else self.tool_calls(difficulty, size)
        if size > 1 and r.random() < shares.labels:
            return self.label_drill(8)
        domain, is_shown = r.choice(DOMAINS), r.random() < shares.shown * difficulty
        plan = self.plan(domain, difficulty, is_shown)
        while not plan.fields:
            plan = self.plan(domain, difficulty, is_shown)
        if p > 0.92 and not plan.is_made_up:
            return self.questions(plan, size)
        spaced = r.random() < 0.15
        names = ", ".join(f.name for f in plan.fields)
        instruction = self.instruction(r.choice(domain["nouns"]), names)
        if is_shown:
            schema = object_schema([(f.name, f.schema) for f in plan.fields])
            system, examples = self.shown(schema), []
            for i in range(size):
                text, members = self.realise(plan, i == 0)
                examples.append({"messages": [{"role": "system", "content": system}, {"role": "user", "content": self.ask(text, instruction)}],
                                 "answer": write(members, spaced), "schema": schema, "kind": "schema", "values": values_of(members, schema)})
            return examples
        messages = self.system()
        text, members = self.realise(plan)
        schema = object_schema([(f.name, f.schema) for f in plan.fields])
        messages.append({"role": "user", "content": self.ask(text, instruction)})
        examples = [{"messages": messages, "answer": write(members, spaced), "schema": schema, "kind": "bare",
                     "values": values_of(members, schema)}]
        # The same text asked again, in another order and under other names, some of it left out.
        for _ in range(size - 1 if len(members) > 1 and names not in instruction else 0):
            again, schemas = self.renamed(plan, members)
            schema = object_schema(schemas)
            examples.append({"messages": messages, "answer": write(again, spaced), "schema": schema, "kind": "bare", "values": values_of(again, schema)})
        return examples

    def example(self, difficulty=1.0):
        return self.group(difficulty, 1)[0]

    def renamed(self, plan, members):
        r, style, used, chosen = self.r, self.r.choice(STYLES), set(), []
        for field, (name, value) in zip(plan.fields, members):
            if field.key and not plan.is_made_up:
                name = style_key(self.field_name(plan.concepts[field.key]), style)
            if name not in used and r.random() < 0.8:
                used.add(name)
                chosen.append(((name, value), (name, field.schema)))
        r.shuffle(chosen)
        if not chosen:
            return members[:1], [(members[0][0], plan.fields[0].schema)]
        return [c[0] for c in chosen], [c[1] for c in chosen]

    def questions(self, plan, size):
        """One text and short plain answers to questions about it."""
        r = self.r
        text, members = self.realise(plan)
        simple = [m for m in members if isinstance(m[1], str) and m[1] != "null" and m[1][0] not in "[{" and "\\" not in m[1]]
        facts, examples = {f.name: plan.facts.get(f.key) for f in plan.fields}, []
        for name, literal in r.sample(simple, min(size, len(simple))):
            concept, surface, _ = facts[name]
            examples.append(self.plain(text, name, surface, literal, list(concept.options) if concept.kind == "choice" else None))
        return examples or self.group(1.0, size)

    def tool_calls(self, difficulty, size):
        """Two to four tools, and for some of them a text that asks for it."""
        r = self.r
        domains = r.sample(DOMAINS, r.choice([2, 2, 2, 3, 3, 4]))
        plans, tools, kinds = [], [], [d["nouns"][0] for d in domains]
        for domain in domains:
            plan = self.plan(domain, min(difficulty, 0.35))
            while not plan.fields or plan.is_made_up:
                plan = self.plan(domain, min(difficulty, 0.35))
            name = words = r.choice(domain["tools"])
            if r.random() < 0.2:
                name = style_key(name.replace("_", " "), "camel")
            plan.tool, plan.words = name, words
            plans.append(plan)
            function = {"name": name, "description": r.choice(domain["purposes"]),
                        "parameters": object_schema([(f.name, f.schema) for f in plan.fields])}
            tools.append({"type": "function", "function": function})
        examples = []
        for i in r.sample(range(len(plans)), min(size, len(plans))) if size < 3 else r.choices(range(len(plans)), k=size + 2):
            text, members = self.realise(plans[i], r.random() < 0.7)
            is_near = any(kinds[i] in near and near.intersection(kinds) - {kinds[i]} for near in NEAR)
            if is_near or not plans[i].is_told or r.random() < 0.5:
                text = self.wish(plans[i], is_near) + r.choice([" ", " ", "\n"]) + text
            answer = f'<tool_call>\n{{"name": "{plans[i].tool}", "arguments": {write(members, False)}}}\n</tool_call>'
            examples.append({"messages": [{"role": "user", "content": text}], "answer": answer, "tools": tools, "kind": "tool",
                             "values": values_of(members, tools[i]["function"]["parameters"])})
        return examples

    def tool_drill(self, size):
        """
        Tools with made-up names and short texts that ask for one of them, in words of its name or its description: choosing
        alone, many times in one list. `cut`: the answer goes on, but not here.
        """
        r, nouns, tools, words = self.r, [], [], []
        verbs = r.sample(TOOL_VERBS, r.choice([1, 2, 3]))
        while len(tools) < r.choice([2, 3, 3, 4, 5]):
            noun = coin(r) if r.random() < 0.3 else known(r, self.h, "NOUNS", "THINGS")
            if r.random() < 0.25:
                noun = f"{known(r, self.h, 'QUALIFIERS', 'ADJECTIVES')} {noun}"
            verb = r.choice(verbs)
            if noun in nouns:
                continue
            nouns.append(noun)
            # Described in other words, or in its own.
            doing, thing = (verb, noun) if r.random() < 0.5 else (r.choice(TOOL_VERBS), coin(r) if r.random() < 0.5 else known(r, self.h, "NOUNS", "THINGS"))
            about = r.choice(TOOL_PURPOSES).format(verb=doing, noun=thing)
            fields = [self.made_up_field(True) for _ in range(r.choice([0, 0, 1, 1, 2]))]
            parameters = object_schema(list({style_key(f.key, "snake"): self.schema(f) for f in fields}.items()))
            name = style_key(f"{verb} {noun}", r.choice(["snake", "snake", "camel"]))
            tools.append({"type": "function", "function": {"name": name, "description": about[0].upper() + about[1:], "parameters": parameters}})
            words.append([(verb, noun), (verb, noun), (doing, thing)])
        examples = []
        for i in (r.randrange(len(tools)) for _ in range(size)):
            verb, noun = r.choice(words[i])
            said = r.choice(side(WISHES, self.h)).format(verb=verb, noun=noun, title=f"{verb} {noun}".capitalize())
            text = [said[0].upper() + said[1:]] + [self.filler() for _ in range(r.choice([0, 0, 1, 2]))]
            if r.random() < 0.4:
                r.shuffle(text)
            answer = f'<tool_call>\n{{"name": "{tools[i]["function"]["name"]}", "arguments": {{'
            examples.append({"messages": [{"role": "user", "content": r.choice([" ", "\n"]).join(text)}], "answer": answer, "tools": tools,
                             "kind": "tool", "cut": True})
        return examples

    def label_drill(self, size):
        """Short texts that tell one label or flag each, and nothing but that asked for: many phrases for few tokens."""
        r, examples = self.r, []
        concept = self.relabelled(self.label(self.shares.apart) or CONCEPTS[r.choice(CHOSEN)])
        schema, name = self.schema(concept), style_key(self.field_name(concept), r.choice(STYLES))
        if r.random() < 0.3:
            schema = nullable(schema)
        schema, is_shown = object_schema([(name, schema)]), r.random() < 0.5
        system = r.choice(SCHEMA_LEADS) + json.dumps(schema, separators=(",", ":"), ensure_ascii=False)
        for _ in range(size):
            surface, literal = self.value(concept)
            said = [self.clause(concept, surface, name)]
            if "null" in schema["properties"][name]["type"] and r.random() < 0.3:
                said, literal = [self.filler()], "null"
            if r.random() < 0.3:
                said.insert(r.choice([0, 1]), self.filler())
            messages = [{"role": "system", "content": system}] if is_shown else []
            members = [(name, literal)]
            examples.append({"messages": [*messages, {"role": "user", "content": " ".join(said)}], "answer": write(members, False), "schema": schema,
                             "kind": "schema" if is_shown else "bare", "values": values_of(members, schema)})
        return examples

    def wish(self, plan, is_near):
        """What somebody wants, in the words of one of the domain's tools; of the tool at hand, if another is near."""
        words = (plan.words if is_near else self.r.choice(plan.domain["tools"])).split("_")
        said = self.r.choice(side(WISHES, self.h)).format(verb=words[0], noun=" ".join(words[1:]), title=" ".join(words).capitalize())
        return said[0].upper() + said[1:]


if __name__ == "__main__":
    maker = Maker(int(sys.argv[1]) if len(sys.argv) > 1 else 1, held_out="held" in sys.argv)
    for _ in range(8):
        e = maker.example()
        print(render(e) + unmark(e["answer"])[0] + "\n" + "=" * 80)
    print(len(DOMAINS), "domains,", sum(len(d["sentences"]) for d in DOMAINS), "sentences,", len(CONCEPTS), "concepts,",
          sum(len(c.names) for c in CONCEPTS.values()), "field names,", sum(len(c.clauses) for c in CONCEPTS.values()), "clauses,",
          len(STORIES), "whole texts,", len(ROSTERS), "with lists")
