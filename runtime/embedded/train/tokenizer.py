"""Trains the tokenizer and writes tokenizer.json, tokenizer_config.json beside the model.

Byte-level BPE over all 256 bytes. What differs from the usual: a space is a token of its own and letters, digits and
JSON punctuation never merge across, so that a word is spelt by the same tokens in the text and in the answer, and copying
is copying. Runs of JSON punctuation (`","`) merge, up to a colon: behind it the model decides what kind of value comes, from
a token that stands for the key. Digits stay single.

    python tokenizer.py ../            (about a minute)
"""

import json
import re
import sys
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from answers import render, unmark
from corpus import Maker
from facts import CONCEPTS, DOMAINS, FILLERS, HELD_NAMES
from stories import STORIES
from words import WORDS, is_held_out, side

VOCABULARY = 8000
SEED, EXAMPLES = 11, 12000
SPLIT = r"""\p{Lu}?\p{Ll}+|\p{Lu}+|\p{L}+|\p{M}+|\p{N}|[{}\[\]",]*:|[{}\[\]",]+|[^\s\p{L}\p{M}\p{N}{}\[\]",:]|\n+| +|\s"""
END_OF_TEXT, TURN_START, TURN_END = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
# Added, but text: a constrained tool call writes them byte by byte if need be.
TOOL_MARKS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"]

TEMPLATE = """{%- set first = messages[0] if messages else none -%}
{%- set has_system = first is not none and first.role in ['system', 'developer'] -%}
{%- if tools -%}
<|im_start|>system
{% if has_system %}{{ first.content }}

{% endif -%}
# Tools
{% for tool in tools %}{{ tool | tojson }}
{% endfor -%}
Call a tool with its name and its arguments as JSON.<|im_end|>
{% elif has_system -%}
<|im_start|>system
{{ first.content }}<|im_end|>
{% endif -%}
{%- for message in messages -%}
{%- if loop.first and has_system -%}
{%- elif message.role == 'tool' or message.role == 'function' -%}
<|im_start|>user
<tool_response>
{{ message.content }}
</tool_response><|im_end|>
{% elif message.role == 'assistant' and message.tool_calls -%}
<|im_start|>assistant
{% if message.content %}{{ message.content }}
{% endif -%}
{%- for call in message.tool_calls -%}
{%- set function = call.function if call.function is defined else call -%}
<tool_call>
{"name": "{{ function.name }}", "arguments": {% if function.arguments is string %}{{ function.arguments }}{% else %}{{ function.arguments | tojson }}{% endif %}}
</tool_call>{% if not loop.last %}{{ '\\n' }}{% endif %}
{%- endfor -%}
<|im_end|>
{% elif message.role in ['system', 'developer', 'user', 'assistant'] -%}
<|im_start|>{{ 'system' if message.role == 'developer' else message.role }}
{{ message.content }}<|im_end|>
{% else -%}
{{ raise_exception('unknown role ' ~ message.role) }}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}
"""


def texts():
    maker = Maker(SEED)
    for _ in range(EXAMPLES):
        example = maker.example()
        yield render(example) + unmark(example["answer"])[0]
    common = [w for name in "NOUNS QUALIFIERS THINGS ADJECTIVES JOBS VERBS FOODS TOPICS".split() for w in side(WORDS[name], False)]
    said = [re.sub(r"\{[^}]*\}", " ", s) for domain in DOMAINS for s in side(domain["sentences"], False)] + side(FILLERS, False)
    said += [re.sub(r"[{}/]", " ", p) for concept in CONCEPTS.values() for phrases in (concept.options or {}).values() for p in side(phrases, False)]
    said += [" ".join(n for n in concept.names if n not in HELD_NAMES) for concept in CONCEPTS.values()]
    said += [story.source for story in STORIES if not is_held_out(story.text)]
    for _ in range(20):
        yield " ".join(common) + "\n" + " ".join(w.capitalize() for w in common)
        yield "\n".join(said)


def main(out: Path):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, use_regex=False)
    specials = [END_OF_TEXT, TURN_START, TURN_END]
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY - len(TOOL_MARKS), special_tokens=specials, show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), min_frequency=3)
    marks = (*specials, *TOOL_MARKS)

    def plain():
        for text in texts():
            for mark in marks:
                text = text.replace(mark, "\n")
            yield text

    tokenizer.train_from_iterator(plain(), trainer)
    tokenizer.add_tokens([AddedToken(mark, normalized=False, special=False) for mark in TOOL_MARKS])
    tokenizer.save(str(out / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": None, "eos_token": TURN_END, "pad_token": END_OF_TEXT,
        "unk_token": None, "add_bos_token": False, "clean_up_tokenization_spaces": False, "model_max_length": 2048,
        "added_tokens_decoder": {
            str(tokenizer.token_to_id(mark)): {"content": mark, "lstrip": False, "rstrip": False, "normalized": False,
                                               "single_word": False, "special": mark in specials} for mark in marks},
        "chat_template": TEMPLATE,
    }
    (out / "tokenizer_config.json").write_text(json.dumps(config, indent=2, ensure_ascii=False) + "\n")
    print("tokens", tokenizer.get_vocab_size())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
