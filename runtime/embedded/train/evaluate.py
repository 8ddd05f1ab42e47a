"""Scores an export on the held-out side, and writes held-out examples for the evaluation through the engine.

    python evaluate.py --model ../onnx/model.onnx                 500 examples of each kind, greedy
    python evaluate.py --write ../../../test/eval/heldout.jsonl   the first 100 of each kind, as JSON lines

One pass over prompt and right answer tells what greedy decoding would do: while every choice so far was right, the text so
far is the right one. *Whole*: no choice of the answer was wrong. With `forced` the keys and the punctuation between values
are given, as under a constraint, labels are chosen among the schema's and a value begins as one of its types does; it
must still end by itself. *Field*: the value is right, given that
all before it are. A value spelt otherwise (45 for 45.00) counts as wrong here.

Kinds: `bare` no schema in the prompt; `schema` with it; `tool` choose a tool and fill it; `plain` a short answer. Sources: texts put
together of templates and clauses, and whole texts (stories.zip), half of all.
"""

import argparse
import json
import time
from pathlib import Path

import jinja2
import numpy as np
from tokenizers import Tokenizer

from answers import render, unmark
from corpus import Maker
from pieces import Pieces

HERE = Path(__file__).parent
SEED = 20260
KINDS = ["bare", "schema", "tool", "plain"]


def examples(count, seen=False):
    """The first `count` of each kind; with `seen` from the training side (of an unused seed), to tell the gap."""
    maker, left = Maker(SEED, held_out=not seen), dict.fromkeys(KINDS, count)
    while any(left.values()):
        example = maker.example()
        if left[example["kind"]] > 0:
            left[example["kind"]] -= 1
            yield {"source": "put together", **example}


def template():
    config = json.loads((HERE.parent / "tokenizer_config.json").read_text())
    environment = jinja2.Environment()
    environment.filters["tojson"] = lambda v: json.dumps(v, ensure_ascii=False)
    return environment.from_string(config["chat_template"])


def structural(text):
    return all(c in '",:{}[] \n' for c in text)


def score(example, tokenizer, pieces, predict):
    answer, _, values = unmark(example["answer"])
    prompt = tokenizer.encode(render(example)).ids
    encoded = tokenizer.encode(answer)
    end = tokenizer.token_to_id("<|im_end|>")
    ids = prompt + encoded.ids + [end]
    logits = predict(ids)[len(prompt) - 1 : -1]
    guesses = logits.argmax(-1)
    allowed = example.get("values") or [(None, [])] * len(values)
    for i, (a, _) in enumerate(encoded.offsets):
        for (start, stop), (labels, types) in zip(values, allowed):
            if labels and start < a < stop - 1 and (among := sorted(pieces.of_labels(labels, answer, (start, stop), a))):
                guesses[i] = among[int(logits[i][among].argmax())]
            elif a == start and types:
                among = sorted(pieces.of_types(types))
                guesses[i] = among[int(logits[i][among].argmax())]
    right = [guess == want for guess, want in zip(guesses, encoded.ids + [end])]
    spelled = [tokenizer.decode([int(g)], skip_special_tokens=False) for g in guesses]
    fields = []
    for (start, stop), (_, types) in zip(values, allowed):
        is_right = True
        for i, (a, b) in enumerate(encoded.offsets):
            if a < start < b:  # what opens a string; without the quote, it may still come where nothing else may
                is_right &= spelled[i].startswith(answer[a:start + 1]) or "null" not in types and answer[a:].startswith(spelled[i])
            elif b == start and answer[start] == "n":  # null, unless a string was opened
                is_right &= not (spelled[i].startswith(answer[a:b]) and spelled[i][b - a:].startswith('"'))
            elif a < start or a > stop or (a == stop and answer[start] in '"['):
                continue  # before the value, behind it, or behind a value that its own last character ends
            if a == stop:  # what ends a number or a word: any punctuation
                is_right &= spelled[i][:1] in ",}] \n" and structural(spelled[i])
            elif b > stop:  # the value's last characters, merged with what follows
                inside = answer[a:stop]
                is_right &= spelled[i].startswith(inside) and structural(spelled[i][len(inside):])
            elif b == stop or not structural(answer[a:b]):
                inside = answer[a:b]
                is_right &= right[i] or (b == stop and spelled[i].startswith(inside) and structural(spelled[i][len(inside):]))
            else:
                is_right &= right[i]
        fields.append(bool(is_right))
    name_end = answer.find('"arguments"') - 1 if example["kind"] == "tool" else 0
    named = all(r for r, (_, b) in zip(right, encoded.offsets) if b <= name_end)
    return {"whole": all(right), "forced": all(fields) if fields else all(right), "fields": fields, "named": named}


def main():
    a = argparse.ArgumentParser()
    a.add_argument("--model")
    a.add_argument("--write", type=Path)
    a.add_argument("--count", type=int, default=500)
    a.add_argument("--threads", type=int, default=2)
    a.add_argument("--seen", action="store_true", help="names, words and sentences of the training side")
    a = a.parse_args()
    if a.write:
        a.write.parent.mkdir(parents=True, exist_ok=True)
        with a.write.open("w") as out:
            for example in examples(100):
                example["answer"] = unmark(example["answer"])[0]
                example.pop("values", None)
                out.write(json.dumps(example, ensure_ascii=False) + "\n")
        return
    from check import run, session

    tokenizer = Tokenizer.from_file(str(HERE.parent / "tokenizer.json"))
    s, chat, pieces = session(a.model, a.threads), template(), Pieces(tokenizer.get_vocab())

    def predict(ids):
        return run(s, [ids])[0][0]

    scores, begin = {kind: [] for kind in KINDS}, time.time()
    for example in examples(a.count, a.seen):
        shown = chat.render(messages=example["messages"], tools=example.get("tools"), add_generation_prompt=True)
        assert shown == render(example), "corpus.render and the chat template differ"
        scores[example["kind"]].append((example["source"], score(example, tokenizer, pieces, predict)))
    print("| kind | texts | whole, free | whole, keys given | fields | fields right |\n|---|---|---|---|---|---|")
    for kind, source in ((kind, source) for kind in KINDS for source in ["", "put together", "whole texts"]):
        found = [s for at, s in scores[kind] if source in ("", at)]
        if not found:
            continue
        fields = [f for s in found for f in s["fields"]]
        share = f"{100 * np.mean(fields):.1f} %" if fields else "–"
        print(f"| {kind}{source and f', {source}'} | {len(found)} | {100 * np.mean([s['whole'] for s in found]):.1f} % | "
              f"{100 * np.mean([s['forced'] for s in found]):.1f} % | {len(fields)} | {share} |")
    print(f"tool chosen rightly: {100 * np.mean([s['named'] for _, s in scores['tool']]):.1f} %; {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
