/**
 * Warming up: sample constraints, written through once before the first request.
 *
 * A JavaScript engine runs code it has not seen slowly, and compiles what is hot beside it, on the same cores. A few
 * hundred milliseconds spent on samples when a vocabulary is loaded take that out of the first requests, and fill the
 * caches that every schema shares: the plain string, punctuation, numbers, common character classes.
 */
import { compile } from "../grammar/compile.ts"
import { TokenFsm } from "./fsm.ts"
import type { LocalMasks } from "./local.ts"
import { Matcher } from "./matcher.ts"
import { samples } from "./samples.ts"
import type { Vocabulary } from "./vocabulary.ts"

const encoder = new TextEncoder()

/**
 * Writes every sample `rounds` times, each time with other names and bounds. Twenty steps a round, so that a server can
 * take them one by one between requests; `for (const _ of warmUp(vocabulary));` takes them all. With the Llama-3
 * vocabulary on one core of 2026 the first round takes about 1.6 s, the second 0.3 s, later ones 0.1 s.
 */
export function* warmUp(vocabulary: Vocabulary, rounds = 3): Generator<void> {
  const row = new Uint32Array(vocabulary.words)
  for (let round = 0; round < rounds; round++) {
    for (const { schema, values } of samples(round)) {
      for (const surface of ["generate", "conform"] as const) {
        const { grammar } = compile({ kind: "json", schema: JSON.stringify(schema) }, { surface })
        const fsm = new TokenFsm(grammar, vocabulary)
        new Matcher(fsm).fillMask(row)
        for (const value of values) write(fsm, spaced(value), row)
        yield
      }
    }
  }
}

/** Reads `text` as a model would write it: the longest token that is allowed, each time. */
function write(fsm: TokenFsm, text: string, row: Uint32Array): void {
  const matcher = new Matcher(fsm)
  const bytes = encoder.encode(text)
  for (let at = 0; at < bytes.length; ) {
    matcher.fillMask(row)
    const token = longest(fsm.locals, bytes, at, row)
    if (token < 0 || !matcher.accept(token)) return
    at += fsm.vocabulary.bytes(token).length
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

/** JSON with a space after commas and colons, as models like to write it. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${spaced(member)}`)
  return `{${members.join(", ")}}`
}
