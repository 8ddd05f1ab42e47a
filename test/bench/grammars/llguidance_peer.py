"""llguidance on the same grammars and tokens: reads {"id", "lark", "tokens"} a line, prints
{"id", "first_ms", "again_ms", "us", "cold_us", "stopped"}.

usage: llguidance_peer.py TOKENIZER_JSON WIDTH END_ID ROUNDS < rows > results      (pip install llguidance numpy)
`first_ms` has a round each, `again_ms` what the same takes over and over behind them;
`us` are the microseconds of fill and accept a token, of the last round, `cold_us` those of the first; `stopped` is the index of the token that was refused.
"""
import json, sys, time
import llguidance, llguidance.numpy as lnp

path, width, end, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
tokenizer = llguidance.LLTokenizer(path, n_vocab=width, eos_token=end)
row = lnp.allocate_token_bitmask(1, width)
pointer, size = row.ctypes.data, row.nbytes
clock = time.perf_counter_ns

AGAIN = 100


def first_mask(lark, times):
    """A matcher behind its first mask; the milliseconds go to `times`."""
    begin = clock()
    compiled = llguidance.LLMatcher(tokenizer, llguidance.LLMatcher.grammar_from_lark(lark), log_level=0)
    matcher = compiled.deep_copy()
    matcher.unsafe_compute_mask_ptr(pointer, size)
    times.append((clock() - begin) / 1e6)
    return matcher


for line in sys.stdin:
    case = json.loads(line)
    first, again, us, cold, stopped = [], [], [], None, None
    for _ in range(rounds):
        matcher = first_mask(case["lark"], first)
        if matcher.is_error():
            stopped = matcher.get_error()
            break
        us, stopped = [], None
        for i, token in enumerate(case["tokens"]):
            a = clock()
            matcher.unsafe_compute_mask_ptr(pointer, size)
            b = clock()
            if not (int(row[0][token >> 5]) >> (token & 31)) & 1:
                stopped = i
                break
            c = clock()
            matcher.consume_token(token)
            us.append((b - a + clock() - c) / 1e3)
        cold = cold or us
    for _ in range(AGAIN):
        first_mask(case["lark"], again)
    print(json.dumps({"id": case["id"], "first_ms": first, "again_ms": again, "us": us, "cold_us": cold or [], "stopped": stopped}), flush=True)
