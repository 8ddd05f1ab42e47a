"""What an example looks like: names of fields, schemas, the JSON of the answer, and the prompt as the chat template writes it."""

import json

STYLES = ["snake", "snake", "snake", "camel", "camel", "spaces", "pascal", "kebab"]


def style_key(name, style):
    words = name.split(" ")
    if style == "camel":
        return words[0] + "".join(w.capitalize() for w in words[1:])
    if style == "pascal":
        return "".join(w.capitalize() for w in words)
    return {"snake": "_", "spaces": " ", "kebab": "-"}[style].join(words)


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


def values_of(members, schema):
    """Of every value, in the order in which `write` writes them: what it is one of (labels, or None), and its types."""
    found = []
    for name, value in members:
        own = schema["properties"][name]
        if isinstance(value, str):
            labels = [label for label in own.get("enum", []) if label is not None]
            found.append((labels or None, [own["type"]] if isinstance(own["type"], str) else own["type"]))
        else:
            rows = value and isinstance(value[0], list)
            for row in value if rows else [value]:
                found += values_of(row, own["items"] if rows else own)
    return found


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
        out.append("# Tools\n" + "\n".join(json.dumps(t, ensure_ascii=False) for t in tools) + "\n" + TOOL_NOTE + "<|im_end|>\n")
    elif messages[0]["role"] == "system":
        out.append(f"<|im_start|>system\n{messages[0]['content']}<|im_end|>\n")
    for m in messages:
        if m["role"] != "system":
            out.append(f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n")
    return "".join(out) + "<|im_start|>assistant\n"


TOOL_NOTE = "Call a tool with its name and its arguments as JSON."
