"""What Python's `tokenizers` makes of texts.

Reads from standard input {"folder": ..., "texts": [...]} and prints a line of JSON of the tokenizer, {"pieces": [[id, piece]],
"added": [[id, content, special]]}, then one for each text: [ids, the text that they decode to, ids where special tokens in it are text].
"""

import json
import os
import sys

from tokenizers import Tokenizer

given = json.load(sys.stdin)
tokenizer = Tokenizer.from_file(os.path.join(given["folder"], "tokenizer.json"))
added = tokenizer.get_added_tokens_decoder()
pieces = {id: piece for piece, id in tokenizer.get_vocab(with_added_tokens=False).items()}
print(
    json.dumps(
        {
            "pieces": sorted(pieces.items()),
            "added": [[id, token.content, token.special] for id, token in added.items()],
        }
    )
)
for text in given["texts"]:
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    tokenizer.encode_special_tokens = True
    plain = tokenizer.encode(text, add_special_tokens=False).ids
    tokenizer.encode_special_tokens = False
    print(json.dumps([ids, tokenizer.decode(ids, skip_special_tokens=False), plain]))
