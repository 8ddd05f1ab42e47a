/**
 * Warms up: runs sample constraints once before the first request.
 *
 * A JavaScript engine runs new code slowly, and compiles hot code at the same time, on the same
 * cores. If a few hundred milliseconds are spent on samples when a vocabulary is loaded, the first
 * requests do not pay for that, and the caches that every schema shares are filled: the plain
 * string, punctuation, numbers, common character classes. Grammars in other notations run other
 * code, so each round has a few of them.
 */
import { compile, type Grammar, type GrammarInput } from "../../grammar/index.ts"
import { isAllowed, Matcher, TokenFsm, type Vocabulary } from "../../mask/index.ts"
import { sampleRounds } from "./samples.ts"

const encoder = new TextEncoder()

/**
 * Number of times that a schema is compiled in each round, alternately for both surfaces.
 * Compiling is short and runs much code, most of which stays cold if a sample is compiled only
 * once.
 */
const Compilations = 6
/**
 * The same for a grammar in another notation, which runs code that no other sample runs: the first
 * grammar of a hundred lines then takes 2.5 instead of 3.2 ms.
 */
const NotationCompilations = 16

/**
 * Runs the samples of at most `rounds` of the three rounds. A round has about 3,500 steps. The very
 * first step makes tables of the vocabulary (0.5 s for Llama-3's). All others are short, so that a
 * server can run them one by one between requests; `for (const _ of warmUp(vocabulary));` runs all.
 *
 * Three rounds with the Llama-3 vocabulary take 3.1 s (Node 20, one core of 2026, with V8's
 * compilers on other cores). For a fifth of MaskBench a token then takes 10.2 µs on average and the
 * first mask of a schema 158 µs in the median; after one round 10.4 and 178, after ten 10.0 and
 * 153. Each sample is compiled several times: if it is compiled once, the median first mask takes a
 * seventh longer (four pairs of runs).
 */
export function* warmUp(vocabulary: Vocabulary, rounds = 3): Generator<void> {
  const row = new Uint32Array(vocabulary.words)
  let round = 0
  for (const samples of sampleRounds()) {
    if (round === rounds) return
    for (const [i, { input, texts }] of samples.entries()) {
      const compiled = (turn: number): Grammar => {
        if (input.kind !== "json") return compile(input, { tokens: vocabulary }).grammar
        const surface = turn % 2 === 0 ? "conform" : "generate"
        return compile({ kind: "json", schema: JSON.stringify(input.schema) }, { surface }).grammar
      }
      for (let turn = 0; turn < compilations(input); turn++) {
        new Matcher(new TokenFsm(compiled(turn), vocabulary)).fillMask(row)
        yield
      }
      yield* writeAll(compiled(i + round), texts, vocabulary, row)
    }
    round++
  }
}

/**
 * Returns how often a sample is compiled before its text is read. Choices and tags are compiled
 * once, since most of their cost is masks.
 */
function compilations({ kind }: GrammarInput): number {
  if (kind === "json") return Compilations
  return kind === "gbnf" || kind === "lark" ? NotationCompilations : 0
}

function* writeAll(
  grammar: Grammar,
  texts: readonly string[],
  vocabulary: Vocabulary,
  row: Uint32Array,
): Generator<void> {
  const fsm = new TokenFsm(grammar, vocabulary)
  new Matcher(fsm).fillMask(row)
  yield
  for (const text of texts) {
    yield* write(fsm, text, row)
    yield
  }
}

/**
 * Reads `text` as a model would write it: always the longest allowed token, as far as that leads.
 * Sometimes it goes back, as drafts do, and tries tokens that are not allowed. A step has few
 * tokens, since cold code takes milliseconds for one: the first text took 160 ms.
 */
function* write(fsm: TokenFsm, text: string, row: Uint32Array): Generator<void> {
  const matcher = new Matcher(fsm)
  const bytes = encoder.encode(text)
  let last = -1
  for (let at = 0; at < bytes.length; ) {
    matcher.fillMask(row)
    const token = longest(fsm, bytes, at, row)
    if (token < 0 || !matcher.accept(token)) return
    at += fsm.vocabulary.bytes(token).length
    if (matcher.length % 8 === 0) {
      matcher.fork().validate([last, token, last])
      matcher.rollback(2)
      matcher.validate([last, token])
      matcher.accept(last)
      matcher.accept(token)
      yield
    }
    last = token
  }
  matcher.fillMask(row)
}

/** Returns the longest allowed token that is a prefix of `bytes` from `at` on, or −1. */
function longest({ locals: { trie } }: TokenFsm, bytes: Uint8Array, at: number, row: Uint32Array): number {
  let found = -1
  for (let node = 0, i = at; i < bytes.length; i++) {
    node = trie.child(node, bytes[i])
    if (node === 0) break
    const token = trie.token(node)
    if (token >= 0 && isAllowed(row, token)) found = token
  }
  return found
}
