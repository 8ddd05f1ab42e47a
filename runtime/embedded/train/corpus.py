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

    def __init__(self, key, kind, names, clauses, options=None):
        self.key, self.kind, self.names, self.clauses, self.options = key, kind, names, clauses, options


def load():
    concepts = {}
    for line in (HERE / "concepts.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, kind, names, clauses = cells(line)
            concepts[key] = Concept(key, kind, parts(names, ","), parts(clauses, ";"))
    for line in (HERE / "choices.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, names, *options = cells(line)
            options = {o.split("=")[0].strip(): parts(o.split("=")[1], ";") for o in options}
            concepts[key] = Concept(key, "choice", parts(names, ","), [], options)
    for line in (HERE / "flags.txt").read_text().splitlines():
        if line and line[0] != "#":
            key, names, yes, no = cells(line)
            concepts[key] = Concept(key, "flag", parts(names, ","), [], {"true": parts(yes, ";"), "false": parts(no, ";")})
    domains = []
    for line in (HERE / "domains.txt").read_text().splitlines():
        if line.startswith("##"):
            nouns, _, tools = cells(line)[1], None, cells(line)[2]
            domains.append({"nouns": parts(nouns, ","), "tools": parts(tools, ","), "concepts": [], "lists": None, "sentences": []})
        elif line.startswith("+"):
            domains[-1]["concepts"] = line[1:].split()
        elif line.startswith("*"):
            names, lines = line[1:].split(" : ")
            domains[-1]["lists"] = (parts(names, ","), parts(lines, ";"))
        elif line.strip():
            domains[-1]["sentences"].append(line.strip())
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
            return self.r.choice(concept.options[label]), literal
        return KINDS[concept.kind](self.r, self.h)

    def schema(self, concept):
        if concept.kind == "flag":
            return {"type": "boolean"}
        if concept.kind == "choice":
            return {"type": "string", "enum": list(concept.options)}
        return dict(schema_of(concept.kind))

    def field_name(self, concept):
        name = self.r.choice(side(concept.names, self.h) if self.r.random() < 0.8 else concept.names)
        if self.r.random() < 0.08 and " " not in name:
            name = f"{self.r.choice(self.nouns)} {name}"  # customer email, invoice total
        return name

    def made_up_field(self, is_easy=False):
        r, p = self.r, self.r.random()
        noun = r.choice(side(NOUNS, self.h)) if p < 0.85 else made_up(r, self.h)
        name = noun if r.random() < 0.35 else f"{r.choice(side(QUALIFIERS + ADJECTIVES + NOUNS, self.h))} {noun}"
        kind = r.choice(EASY_KINDS if is_easy else list(KINDS))
        return Concept(name, kind, [name], [f"the {name} is {{v}}", f"{name} {{v}}", f"{{v}} as the {name}"])

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

    def facts_and_text(self, domain, most):
        """Facts of a domain, the field names asked for, and a text that states all of them."""
        r = self.r
        facts, names, said = {}, {}, []

        def draw(key):
            concept = CONCEPTS[key]
            facts[key] = (concept, *self.value(concept))
            names[key] = self.field_name(concept)

        p = r.random()
        if p < 0.3:
            for key in r.sample(domain["concepts"], min(len(domain["concepts"]), r.randint(2, most))):
                draw(key)
            said.append(self.form(facts.values(), names.values()))
        else:
            if p < 0.85:
                sentences = side(domain["sentences"], self.h)
                for sentence in r.sample(sentences, min(len(sentences), r.choice([1, 1, 2]))):
                    keys = slots(sentence)
                    if any(k in facts for k in keys) or len(facts) + len(keys) > most + 1:
                        continue
                    for k in keys:
                        draw(k)
                    said.append(sentence.format(**{k: facts[k][1] for k in keys}))
            more = r.randint(0 if facts else 2, max(2, most - len(facts)) if r.random() < 0.6 else (0 if facts else 2))
            rest = [k for k in domain["concepts"] if k not in facts]
            for k in r.sample(rest, min(more, len(rest))):
                draw(k)
                said.insert(r.randint(0, len(said)), self.clause(*facts[k][:2], names[k]))
        return facts, names, said

    def entries(self, domain):
        """An array of objects: its name, the text of the list, the literal, the schema."""
        r = self.r
        names, lines = domain["lists"]
        line = r.choice(lines)
        keys = slots(line)
        labels = {k: self.field_name(CONCEPTS[k]) for k in keys}
        drawn = [{k: self.value(CONCEPTS[k]) for k in keys} for _ in range(r.randint(1, 4))]
        rows = [line.format(**{k: v[0] for k, v in row.items()}) for row in drawn]
        text = r.choice([lambda: "\n".join("- " + x for x in rows), lambda: "; ".join(rows) + ".", lambda: "\n".join(rows),
                         lambda: "\n".join(f"{i + 1}. {x}" for i, x in enumerate(rows))])()
        return r.choice(side(names, self.h)), text, drawn, labels

    def made_up_facts(self, most, is_easy):
        r = self.r
        facts, names = {}, {}
        for _ in range(r.randint(3, 7) if is_easy else r.randint(2, most)):
            concept = self.made_up_field(is_easy)
            if concept.key not in facts:
                facts[concept.key] = (concept, *self.value(concept))
                names[concept.key] = concept.key
        if is_easy or r.random() < 0.5:
            said = [self.form(facts.values(), names.values())]
        else:
            said = [self.clause(c, s, c.key) for c, s, _ in facts.values()]
        return facts, names, said

    def example(self, difficulty=1.0):
        """
        One example: dict with messages, answer (marked: see `unmark`), kind, and schema or tools where there are any.

        Difficulty 0 … 1: at 0 nearly all are forms of made-up fields with short values, without schema or tools, which is
        where finding and copying is learnt fastest; at 1 everything.
        """
        r = self.r
        self.difficulty = difficulty
        most = 2 + round(difficulty * r.choice([1, 2, 3, 4, 6]))
        domain = r.choice(DOMAINS)
        self.nouns = domain["nouns"]
        is_easy = r.random() > 0.1 + 0.9 * difficulty
        is_made_up = is_easy or r.random() < 0.25
        facts, names, said = self.made_up_facts(most, is_easy) if is_made_up else self.facts_and_text(domain, most)
        style = r.choice(STYLES)
        members = []  # (key, literal, schema)
        used = set()
        for key in facts:
            concept, _, literal = facts[key]
            name = style_key(names[key], style)
            if name in used or (len(facts) > 2 and r.random() < 0.12):
                continue
            used.add(name)
            schema = self.schema(concept)
            if schema["type"] in ("integer", "number") and concept.kind != "flag" and r.random() < 0.12:
                literal, schema = json.dumps(facts[key][1], ensure_ascii=False), {"type": "string"}  # as the text writes it
            members.append((name, literal, schema))
        if not is_made_up and domain["lists"] and r.random() < 0.22 * difficulty:
            name, text, drawn, labels = self.entries(domain)
            name = style_key(name, style)
            if name not in used:
                keys = {k: style_key(v, style) for k, v in labels.items()}
                if len(set(keys.values())) == len(keys):
                    used.add(name)
                    said.insert(r.randint(0, len(said)), text)
                    rows = [[(keys[k], v[1], None) for k, v in row.items()] for row in drawn]
                    item = object_schema([(keys[k], None, self.schema(CONCEPTS[k])) for k in drawn[0]])
                    members.append((name, rows, {"type": "array", "items": item}))
        # Absent things: null.
        absent = r.choice([0, 0, 0, 1, 1, 2]) if difficulty > 0.5 else r.choice([0, 0, 1])
        pool = [k for k in domain["concepts"] if k not in facts]
        for _ in range(absent):
            concept = self.made_up_field() if is_made_up or r.random() < 0.3 or not pool else CONCEPTS[r.choice(pool)]
            if concept.kind == "flag" or any(n in concept.names for n in names.values()):
                continue
            name = style_key(self.field_name(concept), style)
            if name not in used:
                used.add(name)
                members.append((name, "null", nullable(self.schema(concept), r)))
        if r.random() < 0.5:
            r.shuffle(members)
        members = [m if r.random() < 0.75 or m[1] == "null" else (m[0], m[1], nullable(m[2], r)) for m in members]
        # Some members go into an object of their own.
        if len(members) > 3 and r.random() < 0.2 * difficulty:
            noun = style_key(r.choice(side(NOUNS, self.h) if is_made_up else domain["nouns"]), style)
            if noun not in used:
                start = r.randint(0, len(members) - 2)
                inner = members[start:start + r.randint(2, 3)]
                members[start:start + len(inner)] = [(noun, inner, object_schema(inner))]
        for _ in range(0 if is_easy else r.choice([0, 0, 1, 2])):
            said.insert(r.choice([0, len(said)]), self.filler())
        text = r.choice([" ", " ", "\n", "\n\n"]).join(said)
        return self.ask(domain, text, members, is_made_up)

    def ask(self, domain, text, members, is_made_up):
        r = self.r
        p = r.random()
        if p < 0.04 and not is_made_up:
            simple = [m for m in members if isinstance(m[1], str) and m[1] != "null" and m[1][0] not in "[{"]
            if simple:
                name, literal, _ = r.choice(simple)
                plain = literal[1:-1] if literal[0] == '"' and "\\" not in literal else literal
                plain = {"true": "Yes", "false": "No"}.get(plain, plain)
                asked = name.replace("_", " ").replace("-", " ")
                question = r.choice([f"What is the {asked}?", f"Tell me the {asked}.", f"{asked.capitalize()}?"])
                return {"messages": [{"role": "user", "content": f"{text}\n\n{question}"}], "answer": plain, "kind": "plain"}
        if p < 0.04 + 0.08 * self.difficulty and not is_made_up:
            return self.tool_call(domain, text, members)
        spaced = r.random() < 0.12
        schema = object_schema(members)
        messages = []
        instruction = r.choice(INSTRUCTIONS).format(noun=r.choice(domain["nouns"]), keys=", ".join(m[0] for m in members))
        has_schema = r.random() < 0.4 * self.difficulty
        lead = r.choice(SCHEMA_LEADS)
        if has_schema:
            shown = json.dumps(schema, separators=(",", ":") if r.random() < 0.7 else None)
            system = r.choice(SYSTEMS + [""])
            messages.append({"role": "system", "content": (system + "\n\n" if system else "") + lead + shown})
        elif r.random() < 0.25:
            messages.append({"role": "system", "content": r.choice(SYSTEMS)})
        if instruction:
            text = r.choice([f"{instruction}\n\n{text}", f"{instruction}\n{text}", f"{text}\n\n{instruction}"])
        messages.append({"role": "user", "content": text})
        return {"messages": messages, "answer": write(members, spaced), "schema": schema, "kind": "schema" if has_schema else "bare"}

    def tool_call(self, domain, text, members):
        r = self.r
        tools = [{"name": r.choice(domain["tools"]), "parameters": object_schema(members)}]
        for other in r.sample(DOMAINS, r.randint(1, 3)):
            if other is not domain:
                keys = r.sample(other["concepts"], min(3, len(other["concepts"])))
                fields = [(style_key(self.field_name(CONCEPTS[k]), "snake"), None, self.schema(CONCEPTS[k])) for k in keys]
                tools.append({"name": r.choice(other["tools"]), "parameters": object_schema(fields)})
        name = tools[0]["name"]
        r.shuffle(tools)
        tools = [{"type": "function", "function": {"name": t["name"], "description": t["name"].replace("_", " ").capitalize(),
                                                   "parameters": t["parameters"]}} for t in tools]
        answer = f'<tool_call>\n{{"name": "{name}", "arguments": {write(members, False)}}}\n</tool_call>'
        return {"messages": [{"role": "user", "content": text}], "answer": answer, "tools": tools, "kind": "tool"}


GREETINGS = ["Hello,", "Hi there!", "Dear team,", "Good morning,", "Best regards", "Thanks a lot!", "Thank you.", "Hey,", "Kind regards",
             "Please see below.", "FYI", "Sorry for the late reply.", "Have a nice day!", "Let me know if you need anything else.",
             "As discussed:", "Quick note:", "Here are the details.", "See you soon.", "No further questions.", "Cheers"]
INSTRUCTIONS = ["", "", "", "", "Extract the {noun}.", "Extract the data from this text:", "Read the {noun} below.", "Return JSON.",
                "Give me the {noun} as JSON.", "Extract: {keys}.", "Fill in {keys}.", "What does this {noun} say?", "Text:",
                "Turn this into a {noun} record.", "Please extract all fields.", "Extract {keys} from the text."]
SYSTEMS = ["You extract data.", "You are a helpful assistant.", "Answer in JSON.", "Extract the fields from the text.",
           "You read texts and fill in forms. What is missing is null.", "Only use what the text says."]
SCHEMA_LEADS = ["Answer with JSON that matches this schema:\n", "JSON schema: ", "Schema:\n", "Reply only with JSON that follows this JSON Schema:\n"]


def nullable(schema, r):
    if "enum" in schema:
        return {**schema, "enum": schema["enum"] + [None]} if r.random() < 0.3 else schema
    return {**schema, "type": [schema["type"], "null"]}


def object_schema(members):
    return {"type": "object", "properties": {m[0]: m[2] for m in members}, "required": [m[0] for m in members],
            "additionalProperties": False}


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
