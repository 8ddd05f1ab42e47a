"""Asks an engine about schemas and texts, byte by byte.

usage: engines.py ENGINE < ROWS.jsonl > ANSWERS.jsonl        ENGINE: llguidance | xgrammar | outlines | outlines-regex

A row is {"id", "schema": text, "texts": [text]}. An answer is {"id", "accepted": [bool]},
{"id", "refused": reason}, or {"id", "failed": reason} if the engine did not end in time.
The vocabulary is the 256 bytes and one end token, so no tokenizer is needed and every text
can be written.
"""
import json
import os
import resource
import sys

LIMIT_S = 20
END = 256


class LLGuidance:
    def __init__(self):
        import llguidance

        class Bytes:
            eos_token_id = END
            bos_token_id = None
            tokens = [bytes([b]) for b in range(256)] + [b"<end>"]
            special_token_ids = [END]

            def __call__(self, text):
                return list(text)

        self.llg = llguidance
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Bytes()), n_vocab=257)

    def compile(self, schema):
        grammar = self.llg.LLMatcher.grammar_from_json_schema(schema)
        self.compiled = self.llg.LLMatcher(self.tokenizer, grammar, log_level=0)
        if self.compiled.is_error():
            raise ValueError(self.compiled.get_error())

    def accepts(self, text):
        matcher = self.compiled.deep_copy()
        tokens = list(text.encode())
        return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


class XGrammar:
    def __init__(self):
        import xgrammar

        self.xgr = xgrammar
        words = [bytes([b]) for b in range(256)] + ["<end>"]
        info = xgrammar.TokenizerInfo(words, xgrammar.VocabType.RAW, vocab_size=257, stop_token_ids=[END])
        self.compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)

    def compile(self, schema):
        self.compiled = self.compiler.compile_json_schema(schema, any_whitespace=True, strict_mode=False)

    def accepts(self, text):
        matcher = self.xgr.GrammarMatcher(self.compiled)
        return matcher.accept_string(text) and matcher.accept_token(END)


class Outlines:
    """The engine itself: exact, and slow for large schemas."""

    def __init__(self):
        import outlines_core

        self.core = outlines_core
        self.vocabulary = outlines_core.Vocabulary(END, {bytes([b]): [b] for b in range(256)})

    def compile(self, schema):
        regex = self.core.json_schema.build_regex_from_schema(schema)
        self.index = self.core.Index(regex, self.vocabulary)

    def accepts(self, text):
        guide = self.core.Guide(self.index)
        for byte in text.encode():
            if byte not in guide.get_tokens():
                return False
            guide.advance(byte)
        return guide.is_finished() or END in guide.get_tokens()


class OutlinesRegex(Outlines):
    """The engine's regular expression, matched by RE2, and by Python where RE2 has a limit."""

    def compile(self, schema):
        import re

        import re2

        regex = self.core.json_schema.build_regex_from_schema(schema)
        options = re2.Options()
        options.max_mem = 1 << 30
        options.log_errors = False
        try:
            self.regex = re2.compile(regex, options)
        except re2.error as error:
            if "repetition" not in str(error) and "too large" not in str(error):
                raise
            self.regex = re.compile(regex)

    def accepts(self, text):
        return self.regex.fullmatch(text) is not None


ENGINES = {"llguidance": LLGuidance, "xgrammar": XGrammar, "outlines": Outlines, "outlines-regex": OutlinesRegex}


def words(error):
    return " ".join(str(error).split())[:300]


def answer(engine, row):
    try:
        engine.compile(row["schema"])
    except Exception as error:
        return {"id": row["id"], "refused": words(error)}
    return {"id": row["id"], "accepted": [engine.accepts(text) for text in row["texts"]]}


def child(engine, row, out):
    """Answers one row in a process of its own, so that a crash or an endless compilation ends alone."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))
    try:
        result = answer(engine, row)
    except Exception as error:
        result = {"id": row["id"], "failed": words(error)}
    with os.fdopen(out, "w") as file:
        file.write(json.dumps(result))


def main():
    engine = ENGINES[sys.argv[1]]()
    for line in sys.stdin:
        row = json.loads(line)
        source, out = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(source)
            child(engine, row, out)
            os._exit(0)
        os.close(out)
        with os.fdopen(source) as file:
            text = file.read()
        _, status = os.waitpid(pid, 0)
        failed = {"id": row["id"], "failed": f"ended by signal {status & 127} (limit {LIMIT_S} s)"}
        print(text or json.dumps(failed), flush=True)


main()
