"""Draws texts: which facts, under which names, with which values, in which words.

Names of people, places and things, made-up words, field names, sentences and phrases are split into a training and a held-out
side by a checksum (`words.is_held_out`).
"""

import json

from answers import STYLES, nullable, object_schema, style_key
from facts import COMMON_WORDS, CONCEPTS, FILLERS, HELD_NAMES, LABELS, LINKS, Concept, expand, group_of, is_vague, slots
from plans import Field, Plan
from shares import TESTED
from values import *
from wordings import reworded

EASY_KINDS = ["first_name", "last_name", "integer", "word", "code", "city", "big", "decimal", "color", "year", "thing", "person"]


class Teller:
    """Draws texts from one side of the split."""

    def __init__(self, seed, held_out=False, shares=TESTED):
        self.r, self.h, self.nouns, self.difficulty, self.shares = Random(seed), held_out, ["item"], 1.0, shares
        self.q = Random(seed + 104729)  # for questions in plain words, so that nothing else changes with them

    # Facts: (key, surface, literal, schema)

    def value(self, concept):
        if concept.kind in ("choice", "flag"):
            label = self.r.choice(list(concept.options))
            said = expand(self.r, self.r.choice(side(concept.options[label], self.h)))
            return said, label if concept.kind == "flag" else json.dumps(label)
        surface, literal = KINDS[concept.kind](self.r, self.h)
        return reworded(self.r, concept.kind, surface, literal) if not self.h and self.r.random() < 0.2 else (surface, literal)

    def schema(self, concept):
        if concept.kind == "flag":
            return {"type": "boolean"}
        if concept.kind == "choice":
            return {"type": "string", "enum": list(concept.options)}
        return dict(schema_of(concept.kind))

    def field_name(self, concept):
        r = self.r
        names = [n for n in concept.names if (n in HELD_NAMES) == self.h] or concept.names
        name = r.choice(names)
        if not self.h and r.random() < 0.25:
            name = self.varied(name, names)
        if r.random() < 0.08 and " " not in name:
            name = f"{r.choice(self.nouns)} {name}"  # customer email, invoice total
        return name

    def varied(self, name, names):
        """A training name with a word more, a word less, in another order, or with words of another name of the fact."""
        r, words = self.r, name.split(" ")
        p = r.random()
        if p < 0.3:
            words.insert(r.choice([0, len(words)]), r.choice(EXTRAS) if r.random() < 0.8 else coin(r))
        elif p < 0.65:
            other = r.choice(names).split(" ")
            words = list(dict.fromkeys([r.choice(words), *other] if r.random() < 0.5 else [*words, r.choice(other)]))
        elif p < 0.75 and len(words) > 1:
            r.shuffle(words)
        elif len(words) > 2:
            words.pop(r.randrange(len(words)))
        if words[0] in LINKS or words[-1] in LINKS:
            return name
        made = " ".join(words)
        return name if made in HELD_NAMES or made in COMMON_WORDS else made

    def label(self, share):
        """In so many cases a question that belongs to no domain."""
        return self.r.choice(LABELS) if share and self.r.random() < share else None

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
        r = self.r
        noun = known(r, self.h, "NOUNS") if r.random() < 0.85 else made_up(r, self.h)
        name = noun if r.random() < 0.35 else f"{known(r, self.h, 'QUALIFIERS', 'QUALIFIERS', 'ADJECTIVES', 'NOUNS')} {noun}"
        name = name.lower()
        if not is_easy and r.random() < 0.16:
            return self.made_up_choice(name) if r.random() < 0.6 else self.made_up_flag(name)
        kind = r.choice(EASY_KINDS if is_easy else list(KINDS))
        return Concept(name, kind, [name], [f"the {name} is {{v}}", f"{name} {{v}}", f"{{v}} as the {name}"])

    def made_up_choice(self, name):
        """One of some labels; the text says the label, in its own spelling."""
        r = self.r
        labels = {" ".join(known(r, self.h, "ADJECTIVES", "THINGS", "NOUNS", "TOPICS") for _ in range(r.choice([1, 1, 1, 2]))).lower() for _ in range(r.randint(2, 5))}
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

    def clause(self, concept, surface, name, is_alone=True):
        """A statement of one fact; named by one of its field names or by a clause of its own. `is_alone`: no value in the text is like it."""
        r = self.r
        if concept.kind in ("choice", "flag") and r.random() < 0.9:
            return surface[0].upper() + surface[1:] + "."
        clauses = [c for c in concept.clauses if is_alone or not is_vague(c)]
        if clauses and r.random() < 0.6:
            said = r.choice(clauses).replace("{v}", surface)
            return said[0].upper() + said[1:] + r.choice([".", ".", ".", "!"])
        label = name if r.random() < 0.5 or self.h else r.choice([n for n in concept.names if n not in HELD_NAMES] or [name])
        return r.choice([f"The {label} is {surface}.", f"{label.capitalize()}: {surface}.", f"{label.capitalize()}: {surface}",
                         f"As for the {label}: {surface}.", f"{surface[0].upper()}{surface[1:]} is the {label}.",
                         f"We noted {surface} as the {label}.", f"For the {label} please take {surface}."])

    def filler(self):
        return self.r.choice(side(FILLERS, self.h))

    def form(self, facts, names):
        r = self.r
        facts = list(facts)
        has_comma = any("," in surface for _, surface, _ in facts)
        mark, end = r.choice([": ", ": ", ": ", " - ", " = ", "\t", ":\n"]), r.choice(["\n", "\n", "\n", "; ", " | ", "\n" if has_comma else ", "])
        case = r.choice([str, str.capitalize, str.capitalize, str.title, str.upper])
        bullet = r.choice(["", "", "", "- ", "* "]) if end == "\n" else ""
        lines = []
        for fact, name in zip(facts, names):
            concept, surface, literal = fact
            label = name if r.random() < 0.7 or self.h else r.choice([n for n in concept.names if n not in HELD_NAMES] or [name])
            if concept.kind in ("choice", "flag"):
                surface = literal.strip('"') if concept.kind == "choice" else ("yes" if literal == "true" else "no")
            lines.append(f"{bullet}{case(label)}{mark}{surface}")
        return end.join(lines)

    def tell(self, plan, facts):
        """Statements of all `facts` {key: (concept, surface, literal)}: a form, or sentences of the domain and clauses."""
        r, names, plan.is_told = self.r, plan.names, False
        if plan.is_made_up:
            if plan.is_easy or r.random() < 0.5:
                return [self.form(facts.values(), [names[k] for k in facts])]
            return [self.clause(c, s, names[k], False) for k, (c, s, _) in facts.items()]
        keys, groups = list(facts), [group_of(c) for c, _, _ in facts.values()] + plan.row_groups()
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
                    plan.is_told = True
                    said.append(sentence.format(**{k: facts[k][1] for k in slots(sentence)}))
        rest = [k for k in keys if k not in told]
        r.shuffle(rest)
        for k in rest:
            said.insert(r.randint(0, len(said)), self.clause(*facts[k][:2], names[k], groups.count(group_of(facts[k][0])) == 1))
        return said

    def plan(self, domain, difficulty, is_shown=True):
        """What is asked for, without values: a Plan. `is_shown`: the schema is in the prompt."""
        r = self.r
        self.nouns = domain["nouns"]
        most = 2 + round(difficulty * r.choice([1, 2, 3, 4, 6]))
        is_easy = r.random() > 0.1 + 0.9 * difficulty
        is_made_up = is_easy or r.random() < 0.13
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
            if concept := self.label(self.shares.added):
                plan.add(concept.key, self.relabelled(concept), self.field_name(concept))
        stated = set(plan.concepts)
        # Things that the text may not have: null. Mostly unlike what it has; where alike, their names must tell them apart.
        groups = {group_of(c) for c in plan.concepts.values()}
        pool = [k for k in domain["concepts"] if k not in plan.concepts and k != "name"]
        for _ in range(r.choice([0, 0, 0, 1, 1, 2]) if difficulty > 0.5 else r.choice([0, 0, 1])):
            concept = self.made_up_field() if is_made_up or r.random() < 0.3 or not pool else self.relabelled(CONCEPTS[r.choice(pool)])
            is_told_apart = group_of(concept) not in groups or (group_of(concept) in ("date", "clock", "code", "percent", "number") and r.random() < 0.4)
            if is_told_apart and not any(n in concept.names for n in plan.names.values()):
                plan.add(concept.key, concept, self.field_name(concept))
        style, used, fields = r.choice(STYLES), set(), []
        for key, concept in plan.concepts.items():
            name = style_key(plan.names[key], style)
            if name in used or (key in stated and len(stated) > 2 and r.random() < 0.12):
                continue
            used.add(name)
            schema, as_text = self.schema(concept), False
            if is_shown and schema["type"] in ("integer", "number") and r.random() < 0.08:
                schema, as_text = {"type": "string"}, True  # as the text writes it
            can_miss = key not in stated or r.random() < 0.25
            if can_miss:
                schema = nullable(schema)
            fields.append(Field(name, schema, key=key, as_text=as_text, can_miss=can_miss))
        if not is_made_up and domain["lists"] and r.random() < 0.22 * difficulty:
            names, lines = domain["lists"]
            line, name = r.choice(lines), style_key(r.choice(side(names, self.h)), style)
            labels = {k: style_key(self.field_name(CONCEPTS[k]), style) for k in slots(line)}
            if name not in used and len(set(labels.values())) == len(labels) and not any(k in plan.concepts or plan.clashes(k) for k in labels):
                used.add(name)
                plan.rows = list(labels)
                item = object_schema([(label, self.schema(CONCEPTS[k])) for k, label in labels.items()])
                fields.append(Field(name, {"type": "array", "items": item}, rows=(line, labels)))
        if r.random() < 0.5:
            r.shuffle(fields)
        # Some fields go into an object of their own.
        if len(fields) > 3 and r.random() < 0.2 * difficulty:
            noun = style_key(r.choice(side(WORDS["NOUNS"], self.h) if is_made_up else domain["nouns"]), style)
            if noun not in used:
                start = r.randint(0, len(fields) - 2)
                inner = fields[start:start + r.randint(2, 3)]
                fields[start:start + len(inner)] = [Field(noun, object_schema([(f.name, f.schema) for f in inner]), inner=inner)]
        plan.fields, plan.stated = fields, stated
        return plan

    def fresh(self, concept, said):
        """A value that is not in `said`, the values of the text so far, nor any of them in it; it is added."""
        for _ in range(20):
            surface, literal = self.value(concept)
            low = surface.lower()
            if concept.kind in ("choice", "flag") or not any(low == o or len(low) > 3 and low in o or len(o) > 3 and o in low for o in said):
                break
        said.append(low)
        return surface, literal

    def write_rows(self, line, said):
        """The text of a list of like things, and the literal of each of them by key."""
        r = self.r
        drawn = [{k: self.fresh(CONCEPTS[k], said) for k in slots(line)} for _ in range(r.randint(1, 4))]
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
        values = [name for name in plan.names.values() if plan.is_made_up]
        facts = plan.facts = {k: (c, *self.fresh(c, values)) for k, c in plan.concepts.items() if k in told}
        said = self.tell(plan, facts)

        def member(field):
            if field.inner:
                return field.name, [member(f) for f in field.inner]
            if field.rows:
                line, labels = field.rows
                text, drawn = self.write_rows(line, values)
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
