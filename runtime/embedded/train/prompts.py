"""How a request is put: instructions, system messages, and the schema in the prompt."""

import json

from texts import Teller

INSTRUCTIONS = ["", "", "", "", "Extract the {noun}.", "Extract the data from this text:", "Read the {noun} below.", "Return JSON.",
                "Give me the {noun} as JSON.", "Extract: {keys}.", "Fill in {keys}.", "What does this {noun} say?", "Text:",
                "Turn this into a {noun} record.", "Please extract all fields.", "Extract {keys} from the text."]
QUESTIONS = ["What is the {name}?", "What is the {name}?", "What was the {name}?", "Tell me the {name}.", "{Name}?", "Which {name}?",
             "What does it say about the {name}?", "Can you tell me the {name}?", "I need the {name}.", "Just the {name}, please.",
             "What about the {name}?", "Do you see the {name}?", "Please answer in a word: what is the {name}?"]
FLAG_QUESTIONS = ["{Name}, yes or no?", "{Name}: yes or no?", "Yes or no: {name}?", "{Name}? Answer yes or no.", "{Name}? Just yes or no, please."]
CHOICE_QUESTIONS = ["{Name}: {options}?", "What is the {name}: {options}?", "Which is the {name}, {options}?", "{Name}? One of: {list}.",
                    "Is the {name} {options}?", "Choose the {name}: {list}"]
SYSTEMS = ["You extract data.", "You are a helpful assistant.", "Answer in JSON.", "Extract the fields from the text.",
           "You read texts and fill in forms. What is missing is null.", "Only use what the text says."]
SCHEMA_LEADS = ["JSON schema: ", "JSON schema: ", "Answer with JSON that matches this schema:\n", "JSON schema: ", "Schema:\n", "Reply only with JSON that follows this JSON Schema:\n"]


def words_of(name):
    """A field's name as one would say it."""
    return "".join(" " + c.lower() if c.isupper() else " " if c in "_-" else c for c in name).strip()


def either(options):
    return ", ".join(options[:-1]) + " or " + options[-1] if options else ""


class Asker(Teller):
    """Words around texts."""

    def instruction(self, noun, names):
        return self.r.choice(INSTRUCTIONS).format(noun=noun, keys=names)

    def system(self):
        """The messages before the text, where no schema is shown: none, or a line of advice."""
        return [{"role": "system", "content": self.r.choice(SYSTEMS)}] if self.r.random() < 0.25 else []

    def shown(self, schema):
        """A system message with the schema."""
        r = self.r
        written = json.dumps(self.adorned(schema), separators=(",", ":") if r.random() < 0.7 else None, ensure_ascii=False)
        system = r.choice(SYSTEMS + ["", ""])
        return (system + "\n\n" if system else "") + r.choice(SCHEMA_LEADS) + written

    def adorned(self, schema):
        """Some schemas carry titles or descriptions, as programs write them."""
        r = self.r
        if r.random() < 0.85:
            return schema
        mark = r.choice(["title", "description"])
        properties = {}
        for name, s in schema["properties"].items():
            said = words_of(name)
            properties[name] = {mark: said.title(), **s} if mark == "title" else {**s, mark: r.choice([f"The {said}", f"{said.capitalize()} as the text says it"])}
        return {**schema, "properties": properties}

    def plain(self, text, name, surface, literal, labels=None):
        """
        A question about one fact, and its answer in as few words: what the text says, as it says it; of a choice one of the
        labels, which the question lists; yes or no.
        """
        r, name, options = self.r, words_of(name), ""
        asked = r.choice(QUESTIONS)
        put = r.choice(["{text}\n\n{question}", "{text}\n\n{question}", "{text}\n{question}", "{text} {question}", "{question}\n\n{text}", "{question} {text}"])
        if literal in ("true", "false"):
            asked, answer = self.q.choice(FLAG_QUESTIONS), "Yes" if literal == "true" else "No"
        elif labels:
            asked, answer = self.q.choice(CHOICE_QUESTIONS), literal if literal in labels else json.loads(literal)
            options = self.q.sample(labels, len(labels))
        else:
            at = max(text.find(surface), text.lower().find(surface.lower())) if surface else -1
            answer = text[at:at + len(surface)] if at >= 0 else json.loads(literal) if literal[0] == '"' else literal
        question = asked.format(name=name, Name=name.capitalize(), list=", ".join(options), options=either(options))
        return {"messages": [{"role": "user", "content": put.format(text=text, question=question)}], "answer": answer, "kind": "plain"}

    def ask(self, text, instruction):
        if not instruction:
            return text
        return self.r.choice([f"{instruction}\n\n{text}", f"{instruction}\n{text}", f"{text}\n\n{instruction}"])
