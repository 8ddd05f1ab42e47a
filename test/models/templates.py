"""What transformers makes of conversations.

Reads from standard input {"specials": {...}, "templates": [text], "conversations": [{messages, tools, documents, add_generation_prompt,
variables}]} and prints a line of JSON for each template and conversation in their order: {"text": ...} or {"error": ...}. A conversation
with a content that is null has a second such object in "emptied": what it is with an empty text there.
"""

import json
import sys

from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

given = json.load(sys.stdin)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=Tokenizer(models.BPE()), **given["specials"])


def rendered(template, given, messages):
    try:
        text = tokenizer.apply_chat_template(
            messages,
            tools=given.get("tools"),
            documents=given.get("documents"),
            chat_template=template,
            add_generation_prompt=given["add_generation_prompt"],
            tokenize=False,
            **given["variables"],
        )
        return {"text": text}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}


for template in given["templates"]:
    for each in given["conversations"]:
        line = rendered(template, each, each["messages"])
        if any(message["content"] is None for message in each["messages"]):
            line["emptied"] = rendered(template, each, [{**m, "content": m["content"] or ""} for m in each["messages"]])
        print(json.dumps(line))
