"""Makes examples: a text, a list of fields asked for, and the JSON that answers.

An example is (messages, answer, schema). Texts come from domain sentences, from clauses of single fields, from forms, and
from made-up field names. Names of people, places and things, made-up words, field names and sentences are split into a
training and a held-out side by a checksum (`words.is_held_out`); the evaluation draws from the held-out side only.

    python corpus.py            prints a few examples
"""

import json
import sys
from pathlib import Path
from random import Random

from values import *

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


def load():
    concepts = {}
    for line in (HERE / "concepts.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, kind, names, clauses = cells(line)
            concepts[key] = Concept(key, kind, parts(names, ","), parts(clauses, ";"))
    for line in (HERE / "choices.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, names, *options = cells(line)
            labels = [(parts(o.split("=")[0], " / "), parts(o.split("=")[1], ";")) for o in options]
            concepts[key] = Concept(key, "choice", parts(names, ","), [], {l[0]: phrases for l, phrases in labels}, {l[0]: l for l, _ in labels})
    for line in (HERE / "flags.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, names, yes, no = cells(line)
            concepts[key] = Concept(key, "flag", parts(names, ","), [], {"true": parts(yes, ";"), "false": parts(no, ";")})
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


CONCEPTS, DOMAINS = load()


def slots(sentence):
    return [piece.split("}")[0] for piece in sentence.split("{")[1:]]


EASY_KINDS = ["first_name", "last_name", "integer", "word", "code", "city", "big", "decimal", "color", "year", "thing", "person"]
STYLES = ["snake", "snake", "snake", "camel", "camel", "spaces", "pascal", "kebab"]


def style_key(name, style):
    words = name.split(" ")
    if style == "camel":
        return words[0] + "".join(w.capitalize() for w in words[1:])
    if style == "pascal":
        return "".join(w.capitalize() for w in words)
    return {"snake": "_", "spaces": " ", "kebab": "-"}[style].join(words)


class Maker:
    """Draws examples from one side of the split."""

    def __init__(self, seed, held_out=False):
        self.r, self.h, self.nouns, self.difficulty = Random(seed), held_out, ["item"], 1.0

    # Facts: (key, surface, literal, schema)

    def value(self, concept):
        if concept.kind in ("choice", "flag"):
            label = self.r.choice(list(concept.options))
            literal = label if concept.kind == "flag" else json.dumps(label)
            return self.r.choice(side(concept.options[label], self.h)), literal
        return KINDS[concept.kind](self.r, self.h)

    def schema(self, concept):
        if concept.kind == "flag":
            return {"type": "boolean"}
        if concept.kind == "choice":
            return {"type": "string", "enum": list(concept.options)}
        return dict(schema_of(concept.kind))

    def field_name(self, concept):
        name = self.r.choice(side(concept.names, self.h) if self.r.random() < 0.8 else concept.names)
        if not self.h and self.r.random() < 0.3:
            name = self.varied(name, concept)
        if self.r.random() < 0.08 and " " not in name:
            name = f"{self.r.choice(self.nouns)} {name}"  # customer email, invoice total
        return name

    def varied(self, name, concept):
        """A training name with a word more, a word less, in another order, or with words of another name of the fact."""
        r, words = self.r, name.split(" ")
        p = r.random()
        if p < 0.35:
            words.insert(r.choice([0, len(words)]), r.choice(EXTRAS) if r.random() < 0.6 else coin(r))
        elif p < 0.6:
            other = r.choice(side(concept.names, False)).split(" ")
            words = list(dict.fromkeys([r.choice(words), *other] if r.random() < 0.5 else [*words, r.choice(other)]))
        elif p < 0.8 and len(words) > 1:
            r.shuffle(words)
        elif len(words) > 2:
            words.pop(r.randrange(len(words)))
        made = " ".join(words)
        return name if is_held_out(made) else made

    def relabelled(self, concept):
        """A choice as somebody else's schema has it: some of its labels, in another order, under other names."""
        r = self.r
        if concept.synonyms is None or r.random() < 0.4:
            return concept
        labels = r.sample(list(concept.options), max(2, len(concept.options) - r.choice([0, 0, 1])))
        spell = r.choice([str, str, str, str.upper, str.capitalize, lambda label: label.replace(" ", "_")])
        options = {spell(label if r.random() < 0.4 else r.choice(concept.synonyms[label])): concept.options[label] for label in labels}
        return Concept(concept.key, "choice", concept.names, concept.clauses, options)

    def made_up_field(self, is_easy=False):
        r, p = self.r, self.r.random()
        noun = known(r, self.h, NOUNS) if p < 0.85 else made_up(r, self.h)
        name = noun if r.random() < 0.35 else f"{known(r, self.h, QUALIFIERS + ADJECTIVES + NOUNS)} {noun}"
        if not is_easy and r.random() < 0.16:
            return self.made_up_choice(name) if r.random() < 0.6 else self.made_up_flag(name)
        kind = r.choice(EASY_KINDS if is_easy else list(KINDS))
        return Concept(name, kind, [name], [f"the {name} is {{v}}", f"{name} {{v}}", f"{{v}} as the {name}"])

    def made_up_choice(self, name):
        """One of some labels; the text says the label, in its own spelling."""
        r, pool = self.r, side(ADJECTIVES + THINGS + NOUNS + QUALIFIERS, self.h)
        pool = pool + [coin(r) for _ in range(0 if self.h else len(pool) // 2)]
        labels = {" ".join(r.sample(pool, r.choice([1, 1, 1, 2]))) for _ in range(r.randint(2, 5))}
        style = r.choice(["snake", "kebab", "spaces", "upper", "title"])

        def spell(label):
            return label.replace(" ", "_").upper() if style == "upper" else label.title() if style == "title" else style_key(label, style)

        options = {spell(label): [f"the {name} is {label}", f"{name}: {label}", f"{label} as the {name}", f"{label} was chosen as {name}",
                                  f"they went for the {label} {name}", f"{name} should be {label}"] for label in sorted(labels)}
        return Concept(name, "choice", [name], [], options)

    def made_up_flag(self, name):
        return Concept(name, "flag", [name], [], {
            "true": [f"with {name}", f"{name}: yes", f"{name} is included", f"there is a {name}", f"the {name} is there", f"{name} yes", f"it has a {name}"],
            "false": [f"without {name}", f"{name}: no", f"no {name}", f"there is no {name}", f"the {name} is missing", f"{name} not included", f"it has no {name}"]})

    def clause(self, concept, surface, name):
        """A statement of one fact; named by one of its field names or by a clause of its own."""
        r = self.r
        if concept.kind in ("choice", "flag") and r.random() < 0.9:
            return surface[0].upper() + surface[1:] + "."
        if concept.clauses and r.random() < 0.55:
            said = r.choice(concept.clauses).replace("{v}", surface)
            return said[0].upper() + said[1:] + r.choice([".", ".", "!"])
        label = name if r.random() < 0.5 else r.choice(concept.names)
        return r.choice([f"The {label} is {surface}.", f"{label.capitalize()}: {surface}.", f"{label} is {surface}.",
                         f"{label.capitalize()} {surface}.", f"As for the {label}: {surface}.", f"{surface} is the {label}.",
                         f"We noted {surface} as the {label}.", f"For the {label} take {surface}."])

    def filler(self):
        r = self.r
        if r.random() < 0.5:
            return r.choice(GREETINGS)
        words = [r.choice(FILLER) for _ in range(r.randint(3, 9))]
        return " ".join(words).capitalize() + "."

    def form(self, facts, names):
        r = self.r
        mark, end = r.choice([": ", ": ", " - ", " = ", "\t", ":\n", " "]), r.choice(["\n", "\n", "\n", "; ", " | ", ", "])
        case = r.choice([str, str.capitalize, str.capitalize, str.title, str.upper])
        bullet = r.choice(["", "", "", "- ", "* "]) if end == "\n" else ""
        lines = []
        for fact, name in zip(facts, names):
            concept, surface, literal = fact
            label = name if r.random() < 0.7 else r.choice(concept.names)
            if concept.kind in ("choice", "flag") and r.random() < 0.7:
                surface = literal.strip('"') if concept.kind == "choice" else ("yes" if literal == "true" else "no")
            lines.append(f"{bullet}{case(label)}{mark}{surface}")
        return end.join(lines)

    def tell(self, plan, facts):
        """Statements of all `facts` {key: (concept, surface, literal)}: a form, or sentences of the domain and clauses."""
        r, names = self.r, plan.names
        if plan.is_made_up:
            if plan.is_easy or r.random() < 0.5:
                return [self.form(facts.values(), [names[k] for k in facts])]
            return [self.clause(c, s, names[k]) for k, (c, s, _) in facts.items()]
        keys = list(facts)
        if not keys:
            return []
        if r.random() < 0.3:
            r.shuffle(keys)
            return [self.form([facts[k] for k in keys], [names[k] for k in keys])]
        said, told = [], set()
        if r.random() < 0.9:
            fitting = [s for s in side(plan.domain["sentences"], self.h) if all(k in facts for k in slots(s))]
            r.shuffle(fitting)
            fitting.sort(key=lambda s: -len(slots(s)) if r.random() < 0.7 else 0)
            for sentence in fitting:
                if len(said) < 2 and not told.intersection(slots(sentence)):
                    told.update(slots(sentence))
                    said.append(sentence.format(**{k: facts[k][1] for k in slots(sentence)}))
        rest = [k for k in keys if k not in told]
        r.shuffle(rest)
        for k in rest:
            said.insert(r.randint(0, len(said)), self.clause(*facts[k][:2], names[k]))
        return said

    def plan(self, domain, difficulty):
        """What is asked for, without values: a Plan."""
        r = self.r
        self.nouns = domain["nouns"]
        most = 2 + round(difficulty * r.choice([1, 2, 3, 4, 6]))
        is_easy = r.random() > 0.1 + 0.9 * difficulty
        is_made_up = is_easy or r.random() < 0.2
        plan = Plan(domain, is_made_up, is_easy)
        if is_made_up:
            for _ in range(r.randint(3, 7) if is_easy else r.randint(2, most)):
                concept = self.made_up_field(is_easy)
                plan.add(concept.key, concept, concept.key)
        else:
            if r.random() < 0.75:
                sentences = side(domain["sentences"], self.h)
                for sentence in r.sample(sentences, min(len(sentences), r.choice([1, 1, 2]))):
                    keys = slots(sentence)
                    if not any(k in plan.concepts for k in keys) and len(plan.concepts) + len(keys) <= most + 1:
                        for k in keys:
                            plan.add(k, self.relabelled(CONCEPTS[k]), self.field_name(CONCEPTS[k]))
            rest = [k for k in domain["concepts"] if k not in plan.concepts]
            low = 0 if plan.concepts else 2
            more = r.randint(low, max(2, most - len(plan.concepts))) if r.random() < 0.7 else low
            for k in r.sample(rest, min(more, len(rest))):
                plan.add(k, self.relabelled(CONCEPTS[k]), self.field_name(CONCEPTS[k]))
        stated = set(plan.concepts)
        # Things that the text may not have: null.
        pool = [k for k in domain["concepts"] if k not in plan.concepts]
        for _ in range(r.choice([0, 0, 0, 1, 1, 2]) if difficulty > 0.5 else r.choice([0, 0, 1])):
            concept = self.made_up_field() if is_made_up or r.random() < 0.3 or not pool else self.relabelled(CONCEPTS[r.choice(pool)])
            if concept.key not in plan.concepts and not any(n in concept.names for n in plan.names.values()):
                plan.add(concept.key, concept, self.field_name(concept))
        style, used, fields = r.choice(STYLES), set(), []
        for key, concept in plan.concepts.items():
            name = style_key(plan.names[key], style)
            if name in used or (key in stated and len(stated) > 2 and r.random() < 0.12):
                continue
            used.add(name)
            schema, as_text = self.schema(concept), False
            if schema["type"] in ("integer", "number") and r.random() < 0.12:
                schema, as_text = {"type": "string"}, True  # as the text writes it
            can_miss = key not in stated or r.random() < 0.25
            if can_miss:
                schema = nullable(schema)
            fields.append(Field(name, schema, key=key, as_text=as_text, can_miss=can_miss))
        if not is_made_up and domain["lists"] and r.random() < 0.22 * difficulty:
            names, lines = domain["lists"]
            line, name = r.choice(lines), style_key(r.choice(side(names, self.h)), style)
            labels = {k: style_key(self.field_name(CONCEPTS[k]), style) for k in slots(line)}
            if name not in used and len(set(labels.values())) == len(labels):
                used.add(name)
                item = object_schema([(label, self.schema(CONCEPTS[k])) for k, label in labels.items()])
                fields.append(Field(name, {"type": "array", "items": item}, rows=(line, labels)))
        if r.random() < 0.5:
            r.shuffle(fields)
        # Some fields go into an object of their own.
        if len(fields) > 3 and r.random() < 0.2 * difficulty:
            noun = style_key(r.choice(side(NOUNS, self.h) if is_made_up else domain["nouns"]), style)
            if noun not in used:
                start = r.randint(0, len(fields) - 2)
                inner = fields[start:start + r.randint(2, 3)]
                fields[start:start + len(inner)] = [Field(noun, object_schema([(f.name, f.schema) for f in inner]), inner=inner)]
        plan.fields, plan.stated = fields, stated
        return plan

    def write_rows(self, line):
        """The text of a list of like things, and the literal of each of them by key."""
        r = self.r
        drawn = [{k: self.value(CONCEPTS[k]) for k in slots(line)} for _ in range(r.randint(1, 4))]
        rows = [line.format(**{k: v[0] for k, v in row.items()}) for row in drawn]
        text = r.choice([lambda: "\n".join("- " + x for x in rows), lambda: "; ".join(rows) + ".", lambda: "\n".join(rows),
                         lambda: "\n".join(f"{i + 1}. {x}" for i, x in enumerate(rows)), lambda: ", ".join(rows)])()
        return text, drawn

    def realise(self, plan, is_first=True):
        """A text for a plan, and the members of its answer: (text, [(name, literal or members or rows)])."""
        r = self.r
        missable = {f.key for f in plan.all_fields() if f.can_miss}
        if is_first:
            told = plan.stated
        else:
            told = {k for k in plan.concepts if k not in missable or r.random() < (0.75 if k in plan.stated else 0.5)}
        facts = {k: (c, *self.value(c)) for k, c in plan.concepts.items() if k in told}
        said = self.tell(plan, facts)

        def member(field):
            if field.inner:
                return field.name, [member(f) for f in field.inner]
            if field.rows:
                line, labels = field.rows
                text, drawn = self.write_rows(line)
                said.insert(r.randint(0, len(said)), text)
                return field.name, [[(labels[k], v[1]) for k, v in row.items()] for row in drawn]
            if field.key not in facts:
                return field.name, "null"
            _, surface, literal = facts[field.key]
            return field.name, json.dumps(surface, ensure_ascii=False) if field.as_text else literal

        members = [member(f) for f in plan.fields]
        for _ in range(0 if plan.is_easy else r.choice([0, 0, 1, 2])):
            said.insert(r.choice([0, len(said)]), self.filler())
        return r.choice([" ", " ", " ", "\n", "\n\n"]).join(said), members

    def group(self, difficulty=1.0, size=3):
        """
        Up to `size` examples whose prompts begin alike: one schema or one list of tools and several texts, or one text and
        several answers. Each is a dict with messages, answer (marked: see `unmark`), kind, and schema or tools where there are any.

        Difficulty 0 … 1: at 0 nearly all are forms of made-up fields with short values, without schema or tools, which is
        where finding and copying is learnt fastest; at 1 everything.
        """
        r = self.r
        p = r.random()
        if p < TOOL_SHARE * difficulty:
            return self.tool_drill(8) if size > 1 and r.random() < DRILL_SHARE else self.tool_calls(difficulty, size)
        domain = r.choice(DOMAINS)
        plan = self.plan(domain, difficulty)
        while not plan.fields:
            plan = self.plan(domain, difficulty)
        if p > 0.96 and not plan.is_made_up:
            return self.questions(plan, size)
        spaced = r.random() < 0.15
        names = ", ".join(f.name for f in plan.fields)
        instruction = r.choice(INSTRUCTIONS).format(noun=r.choice(domain["nouns"]), keys=names)
        if r.random() < 0.4 * difficulty:
            schema = object_schema([(f.name, f.schema) for f in plan.fields])
            shown = json.dumps(self.adorned(schema), separators=(",", ":") if r.random() < 0.7 else None)
            system = r.choice(SYSTEMS + ["", ""])
            system = (system + "\n\n" if system else "") + r.choice(SCHEMA_LEADS) + shown
            examples = []
            for i in range(size):
                text, members = self.realise(plan, i == 0)
                examples.append({"messages": [{"role": "system", "content": system}, {"role": "user", "content": self.ask(text, instruction)}],
                                 "answer": write(members, spaced), "schema": schema, "kind": "schema"})
            return examples
        messages = [{"role": "system", "content": r.choice(SYSTEMS)}] if r.random() < 0.25 else []
        text, members = self.realise(plan)
        schema = object_schema([(f.name, f.schema) for f in plan.fields])
        messages.append({"role": "user", "content": self.ask(text, instruction)})
        examples = [{"messages": messages, "answer": write(members, spaced), "schema": schema, "kind": "bare"}]
        # The same text asked again, in another order and under other names, some of it left out.
        for _ in range(size - 1 if "{keys}" not in instruction and len(members) > 1 and names not in instruction else 0):
            again, schemas = self.renamed(plan, members)
            examples.append({"messages": messages, "answer": write(again, spaced), "schema": object_schema(schemas), "kind": "bare"})
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

    def adorned(self, schema):
        """Some schemas carry titles or descriptions, as programs write them."""
        r = self.r
        if r.random() < 0.85:
            return schema
        mark = r.choice(["title", "description"])

        def words_of(name):
            return "".join(" " + c.lower() if c.isupper() else " " if c in "_-" else c for c in name).strip()

        properties = {}
        for name, s in schema["properties"].items():
            said = words_of(name)
            properties[name] = {mark: said.title(), **s} if mark == "title" else {**s, mark: r.choice([f"The {said}", f"{said.capitalize()} as the text says it"])}
        return {**schema, "properties": properties}

    def ask(self, text, instruction):
        if not instruction:
            return text
        return self.r.choice([f"{instruction}\n\n{text}", f"{instruction}\n{text}", f"{text}\n\n{instruction}"])

    def questions(self, plan, size):
        """One text and short plain answers to questions about it."""
        r = self.r
        text, members = self.realise(plan)
        simple = [m for m in members if isinstance(m[1], str) and m[1] != "null" and m[1][0] not in "[{" and "\\" not in m[1]]
        examples = []
        for name, literal in r.sample(simple, min(size, len(simple))):
            plain = literal[1:-1] if literal[0] == '"' else {"true": "Yes", "false": "No"}.get(literal, literal)
            asked = "".join(" " + c.lower() if c.isupper() else " " if c in "_-" else c for c in name).strip()
            question = r.choice([f"What is the {asked}?", f"Tell me the {asked}.", f"{asked.capitalize()}?"])
            examples.append({"messages": [{"role": "user", "content": f"{text}\n\n{question}"}], "answer": plain, "kind": "plain"})
        return examples or self.group(1.0, size)

    def tool_calls(self, difficulty, size):
        """Two to four tools, and for some of them a text that asks for it."""
        r = self.r
        domains = r.sample(DOMAINS, r.choice([2, 2, 2, 3, 3, 4]))
        plans, tools = [], []
        for domain in domains:
            plan = self.plan(domain, min(difficulty, 0.35))
            while not plan.fields or plan.is_made_up:
                plan = self.plan(domain, min(difficulty, 0.35))
            name = r.choice(domain["tools"])
            if r.random() < 0.2:
                name = style_key(name.replace("_", " "), "camel")
            plan.tool = name
            plans.append(plan)
            function = {"name": name, "description": r.choice(domain["purposes"]),
                        "parameters": object_schema([(f.name, f.schema) for f in plan.fields])}
            tools.append({"type": "function", "function": function})
        examples = []
        for i in r.sample(range(len(plans)), min(size, len(plans))) if size < 3 else r.choices(range(len(plans)), k=size + 2):
            text, members = self.realise(plans[i], r.random() < 0.7)
            if r.random() < 0.6:
                text = self.wish(plans[i]) + r.choice([" ", " ", "\n"]) + text
            answer = f'<tool_call>\n{{"name": "{plans[i].tool}", "arguments": {write(members, False)}}}\n</tool_call>'
            examples.append({"messages": [{"role": "user", "content": text}], "answer": answer, "tools": tools, "kind": "tool"})
        return examples


    def tool_drill(self, size):
        """
        Tools with made-up names and short texts that ask for one of them, in words of its name or its description: choosing
        alone, many times in one list. `cut`: the answer goes on, but not here.
        """
        r, nouns, tools, words = self.r, [], [], []
        verbs = r.sample(TOOL_VERBS, r.choice([1, 2, 3]))
        while len(tools) < r.choice([2, 3, 3, 4, 5]):
            noun = coin(r) if r.random() < 0.3 else known(r, self.h, NOUNS + THINGS)
            if r.random() < 0.25:
                noun = f"{known(r, self.h, QUALIFIERS + ADJECTIVES)} {noun}"
            verb = r.choice(verbs)
            if noun in nouns:
                continue
            nouns.append(noun)
            # Described in other words, or in its own.
            doing, thing = (verb, noun) if r.random() < 0.5 else (r.choice(TOOL_VERBS), coin(r) if r.random() < 0.5 else known(r, self.h, NOUNS + THINGS))
            about = r.choice(TOOL_PURPOSES).format(verb=doing, noun=thing)
            fields = [self.made_up_field(True) for _ in range(r.choice([0, 0, 1, 1, 2]))]
            parameters = object_schema(list({style_key(f.key, "snake"): self.schema(f) for f in fields}.items()))
            name = style_key(f"{verb} {noun}", r.choice(["snake", "snake", "camel"]))
            tools.append({"type": "function", "function": {"name": name, "description": about[0].upper() + about[1:], "parameters": parameters}})
            words.append([(verb, noun), (verb, noun), (doing, thing)])
        examples = []
        for i in (r.randrange(len(tools)) for _ in range(size)):
            verb, noun = r.choice(words[i])
            said = r.choice(WISHES).format(verb=verb, noun=noun, title=f"{verb} {noun}".capitalize())
            text = [said[0].upper() + said[1:]] + [self.filler() for _ in range(r.choice([0, 0, 1, 2]))]
            if r.random() < 0.4:
                r.shuffle(text)
            answer = f'<tool_call>\n{{"name": "{tools[i]["function"]["name"]}", "arguments": {{'
            examples.append({"messages": [{"role": "user", "content": r.choice([" ", "\n"]).join(text)}], "answer": answer, "tools": tools,
                             "kind": "tool", "cut": True})
        return examples

    def wish(self, plan):
        """What somebody wants, in the words of one of the domain's tools; often not the name of the tool at hand."""
        words = self.r.choice(plan.domain["tools"]).split("_")
        said = self.r.choice(WISHES).format(verb=words[0], noun=" ".join(words[1:]), title=" ".join(words).capitalize())
        return said[0].upper() + said[1:]


class Field:
    """One member of an answer: a fact of the plan (`key`), a list of like things (`rows`: line and labels), or an object (`inner`)."""

    def __init__(self, name, schema, key=None, as_text=False, can_miss=False, rows=None, inner=None):
        self.name, self.schema, self.key, self.as_text = name, schema, key, as_text
        self.can_miss, self.rows, self.inner = can_miss, rows, inner


class Plan:
    """Which facts a text states and which of them are asked for, under which names."""

    def __init__(self, domain, is_made_up, is_easy):
        self.domain, self.is_made_up, self.is_easy = domain, is_made_up, is_easy
        self.concepts, self.names, self.fields, self.stated, self.tool = {}, {}, [], set(), None

    def add(self, key, concept, name):
        if key not in self.concepts:
            self.concepts[key], self.names[key] = concept, name

    def all_fields(self):
        for field in self.fields:
            yield from field.inner or [field]


TOOL_SHARE, DRILL_SHARE = 0.2, 0.4
TOOL_VERBS = """store record register add save log create update book send open close find cancel report rent schedule start submit
order get set check change remove reserve print plan share delete list call move""".split()
TOOL_PURPOSES = ["{verb} the {noun}.", "{verb} a {noun}.", "Use this to {verb} the {noun}.", "Use this for the {noun}.", "All about the {noun}.",
                 "For people who want to {verb} a {noun}.", "Needed when somebody wants to {verb} the {noun}."]
WISHES = ["please {verb} the {noun}.", "I want to {verb} a {noun}.", "{title}:", "can you {verb} this {noun}?", "we need to {verb} a {noun}.",
          "could you {verb} a {noun} for me?", "time to {verb} the {noun}.", "{title}, please.", "new {noun}:", "about the {noun}:",
          "help me {verb} the {noun}.", "this {noun} is for you to {verb}.", "one more {noun} to {verb}."]
GREETINGS = ["Hello,", "Hi there!", "Dear team,", "Good morning,", "Best regards", "Thanks a lot!", "Thank you.", "Hey,", "Kind regards",
             "Please see below.", "FYI", "Sorry for the late reply.", "Have a nice day!", "Let me know if you need anything else.",
             "As discussed:", "Quick note:", "Here are the details.", "See you soon.", "No further questions.", "Cheers"]
INSTRUCTIONS = ["", "", "", "", "Extract the {noun}.", "Extract the data from this text:", "Read the {noun} below.", "Return JSON.",
                "Give me the {noun} as JSON.", "Extract: {keys}.", "Fill in {keys}.", "What does this {noun} say?", "Text:",
                "Turn this into a {noun} record.", "Please extract all fields.", "Extract {keys} from the text."]
SYSTEMS = ["You extract data.", "You are a helpful assistant.", "Answer in JSON.", "Extract the fields from the text.",
           "You read texts and fill in forms. What is missing is null.", "Only use what the text says."]
SCHEMA_LEADS = ["JSON schema: ", "JSON schema: ", "Answer with JSON that matches this schema:\n", "JSON schema: ", "Schema:\n", "Reply only with JSON that follows this JSON Schema:\n"]


def nullable(schema):
    made = {**schema, "type": [schema["type"], "null"]}
    return {**made, "enum": schema["enum"] + [None]} if "enum" in schema else made


def object_schema(members):
    """Of (name, schema) pairs."""
    return {"type": "object", "properties": dict(members), "required": [m[0] for m in members], "additionalProperties": False}


def write(members, spaced):
    comma, colon = (", ", ": ") if spaced else (",", ":")

    def show(value):
        if isinstance(value, str):
            return VALUE_START + value + VALUE_END
        if value and isinstance(value[0], list):
            return "[" + comma.join(write(row, spaced) for row in value) + "]"
        return write(value, spaced)

    return "{" + comma.join(f'"{KEY_START}{m[0]}{KEY_END}"{colon}{show(m[1])}' for m in members) + "}"


# Around the text of a key and around a value in an answer: the trainer weighs keys by themselves, since they arrive forced,
# and the evaluation counts by value.
KEY_START, KEY_END, VALUE_START, VALUE_END = "\x01", "\x02", "\x03", "\x04"


def unmark(answer):
    """The answer without marks, the (start, end) of every key in it, and of every value."""
    keys, values, out, start = [], [], [], 0
    for ch in answer:
        if ch in (KEY_START, VALUE_START):
            start = len(out)
        elif ch == KEY_END:
            keys.append((start, len(out)))
        elif ch == VALUE_END:
            values.append((start, len(out)))
        else:
            out.append(ch)
    return "".join(out), keys, values


def render(example):
    """The prompt as the chat template writes it (`evaluate.py` checks it against the template)."""
    messages, tools = example["messages"], example.get("tools")
    out = []
    if tools:
        out.append("<|im_start|>system\n")
        if messages[0]["role"] == "system":
            out.append(messages[0]["content"] + "\n\n")
        out.append("# Tools\n" + "\n".join(json.dumps(t) for t in tools) + "\n" + TOOL_NOTE + "<|im_end|>\n")
    elif messages[0]["role"] == "system":
        out.append(f"<|im_start|>system\n{messages[0]['content']}<|im_end|>\n")
    for m in messages:
        if m["role"] != "system":
            out.append(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n")
    return "".join(out) + "<|im_start|>assistant\n"


TOOL_NOTE = "Call a tool with its name and its arguments as JSON."

if __name__ == "__main__":
    maker = Maker(int(sys.argv[1]) if len(sys.argv) > 1 else 1, held_out="held" in sys.argv)
    for _ in range(8):
        e = maker.example()
        print(render(e) + unmark(e["answer"])[0] + "\n" + "=" * 80)
    print(len(DOMAINS), "domains,", sum(len(d["sentences"]) for d in DOMAINS), "sentences,", len(CONCEPTS), "concepts,",
          sum(len(c.names) for c in CONCEPTS.values()), "field names,", sum(len(c.clauses) for c in CONCEPTS.values()), "clauses")
