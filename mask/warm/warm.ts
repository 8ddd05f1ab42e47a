/**
 * Warming up: sample constraints, written through once before the first request.
 *
 * A JavaScript engine runs code it has not seen slowly, and compiles what is hot beside it, on the same cores. A few
 * hundred milliseconds spent on samples when a vocabulary is loaded take that out of the first requests, and fill the
 * caches that every schema shares: the plain string, punctuation, numbers, common character classes. Grammars in notations of their
 * own run code of their own, so each round has a few of them.
 */
import { compile, type GrammarInput } from "../../grammar/compile.ts"
import type { Grammar } from "../../grammar/grammar.ts"
import { TokenFsm } from "../fsm.ts"
import type { LocalMasks } from "../local.ts"
import { Matcher } from "../matcher.ts"
import type { Vocabulary } from "../vocabulary.ts"
import { grammars, samples } from "./samples.ts"

const encoder = new TextEncoder()

/**
 * So often is a sample compiled in each round, schemas in either surface by turns. Compiling is short and walks much code, of
 * which a sample that is written through leaves most cold.
 */
const Compilations = 6
/** The same of a grammar in a notation, which nothing but these samples runs: the first of a hundred lines takes 2.5 instead of 3.2 ms. */
const NotationCompilations = 16

/**
 * Writes the samples of `rounds` rounds, each of which has others. About 3,500 steps a round, of which the first makes tables of
 * the vocabulary (0.5 s over Llama-3's) and the others are short, so that a server can take them one by one between requests;
 * `for (const _ of warmUp(vocabulary));` takes them all. Three rounds over the Llama-3 vocabulary take 3.1 s, ten took 7.1 (Node 20,
 * one core of 2026, compilers of V8 beside it): over a fifth of MaskBench a token then takes 10.2 instead of 10.0 µs on average and
 * the first mask of a schema 158 instead of 153 µs in the median; after one round it is 10.4 and 178. Each sample is compiled several times:
 * compiled once, the median first mask takes a seventh more (four pairs of runs).
 */
export function* warmUp(vocabulary: Vocabulary, rounds = 3): Generator<void> {
  const row = new Uint32Array(vocabulary.words)
  for (let round = 0; round < rounds; round++) {
    for (const [i, { schema, texts }] of samples(round).entries()) {
      const input = { kind: "json", schema: JSON.stringify(schema) } as const
      for (let turn = 0; turn < Compilations; turn++) {
        const { grammar } = compile(input, { surface: turn % 2 === 0 ? "conform" : "generate" })
        new Matcher(new TokenFsm(grammar, vocabulary)).fillMask(row)
        yield
      }
      const { grammar } = compile(input, { surface: (i + round) % 2 === 0 ? "conform" : "generate" })
      yield* writeAll(grammar, texts, vocabulary, row)
    }
    for (const { input, texts } of grammars(round)) {
      // Choices and tags cost what their masks cost: a notation is text that has to be read.
      for (let turn = 0; turn < (isNotation(input) ? NotationCompilations : 0); turn++) {
        const { grammar } = compile(input, { tokens: vocabulary })
        new Matcher(new TokenFsm(grammar, vocabulary)).fillMask(row)
        yield
      }
      const { grammar } = compile(input, { tokens: vocabulary })
      yield* writeAll(grammar, texts, vocabulary, row)
    }
  }
}

/** Whether `input` is a text in a grammar's notation. */
export function isNotation({ kind }: GrammarInput): boolean {
  return kind === "gbnf" || kind === "lark"
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
 * Reads `text` as a model would write it: the longest token that is allowed, each time, as far as it goes. Goes back now
 * and then, as drafts do, and tries tokens that may not come. A step has a few tokens, since code that is cold takes milliseconds for
 * one: the first text took 160 ms.
 */
function* write(fsm: TokenFsm, text: string, row: Uint32Array): Generator<void> {
  const matcher = new Matcher(fsm)
  const bytes = encoder.encode(text)
  let last = -1
  for (let at = 0; at < bytes.length; ) {
    matcher.fillMask(row)
    const token = longest(fsm.locals, bytes, at, row)
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

/** The longest allowed token that `bytes` go on with at `at`, or -1. */
function longest({ trie }: LocalMasks, bytes: Uint8Array, at: number, row: Uint32Array): number {
  let found = -1
  for (let node = 0, i = at; i < bytes.length; i++) {
    node = trie.child(node, bytes[i])
    if (node === 0) break
    const token = trie.token(node)
    if (token >= 0 && ((row[token >>> 5] >>> (token & 31)) & 1) === 1) found = token
  }
  return found
}
