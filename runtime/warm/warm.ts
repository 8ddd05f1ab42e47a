/**
 * Warming up: sample constraints are written through once before the first request.
 *
 * A JavaScript engine runs code it has not seen slowly, and compiles what is hot beside it, on the
 * same cores. A few hundred milliseconds spent on samples when a vocabulary is loaded take that out
 * of the first requests, and fill the caches that every schema shares: the plain string,
 * punctuation, numbers, common character classes. Grammars in notations of their own run code of
 * their own, so each round has a few of them.
 */
import { compile, type Grammar, type GrammarInput } from "../../grammar/index.ts"
import { isAllowed, Matcher, TokenFsm, type Vocabulary } from "../../mask/index.ts"
import { sampleRounds } from "./samples.ts"

const encoder = new TextEncoder()

/**
 * How often a schema is compiled in each round, on either surface by turns. Compiling is short and
 * runs much code, most of which stays cold when a sample is only written through.
 */
const Compilations = 6
/**
 * The same for a grammar in a notation, whose code no other sample runs: the first one of a hundred
 * lines then takes 2.5 instead of 3.2 ms.
 */
const NotationCompilations = 16

/**
 * Writes the samples of `rounds` rounds, of which there are three. A round has about 3,500 steps.
 * The first step of all makes tables of the vocabulary (0.5 s over Llama-3's) and the others are
 * short, so that a server can take them one by one between requests; `for (const _ of
 * warmUp(vocabulary));` takes them all.
 *
 * Three rounds over the Llama-3 vocabulary take 3.1 s (Node 20, one core of 2026, compilers of V8
 * beside it). Over a fifth of MaskBench a token then takes 10.2 µs on average and the first mask of
 * a schema 158 µs in the median; after one round it is 10.4 and 178, after ten 10.0 and 153. Each
 * sample is compiled several times: compiled once, the median first mask takes a seventh more (four
 * pairs of runs).
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
 * How often a sample is compiled before it is written through. Choices and tags cost what their
 * masks cost.
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
 * Reads `text` as a model would write it: the longest token that is allowed, each time, as far as
 * it goes. Goes back now and then, as drafts do, and tries tokens that may not come. A step has a
 * few tokens, since code that is cold takes milliseconds for one: the first text took 160 ms.
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

/** Returns the longest allowed token that `bytes` go on with at `at`, or -1. */
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
