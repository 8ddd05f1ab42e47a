/** What is forced, against its definition: every byte tried at every state. */
import { describe, expect, test } from "vitest"
import { compile, type GrammarInput } from "../../../grammar/index.ts"
import { DeadState } from "../../../grammar/state.ts"
import {
  canonicalTokens,
  forcedBytes,
  forcedTokens,
  isAllowed,
  Matcher,
  precompile,
  TokenFsm,
  Vocabulary,
} from "../../../mask/index.ts"
import type { TokenMachine } from "../../../mask/machine.ts"
import { randomOf } from "../../support/oracle.ts"

const pieces = [...'{}[]",:abcdegiorNIt01 \n', "order", "orderI", '"order', '":', "true", "né"]
const vocabulary = Vocabulary.fromBytes(
  [
    ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
    ...pieces.map((piece) => Buffer.from(piece)),
  ],
  { endIds: [256 + pieces.length] },
)
const idOf = (piece: string) => (piece.length === 1 ? piece.charCodeAt(0) : 256 + pieces.indexOf(piece))
const idsOf = (...parts: string[]) => parts.map(idOf)
/** The longest piece first: a tokenizer as simple as can be. */
const encode = (text: string): number[] => {
  const ids: number[] = []
  const sorted = pieces.filter((piece) => piece.length > 1).sort((a, b) => b.length - a.length)
  for (let rest = text; rest.length > 0; ) {
    const piece = sorted.find((each) => rest.startsWith(each))
    const char = piece ?? [...rest][0]
    ids.push(...(piece ? [idOf(piece)] : Buffer.from(char)))
    rest = rest.slice(char.length)
  }
  return ids
}

const machineOf = (input: GrammarInput, options = {}) =>
  new TokenFsm(compile(input, options).grammar, vocabulary)
const object = (...names: string[]) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "boolean" }])),
  required: names,
  additionalProperties: false,
})

const inputs: [GrammarInput, object?][] = [
  [{ kind: "json", schema: object("order", "né") }],
  [{ kind: "json", schema: object("orderId", "orderName") }, { whitespace: "compact" }],
  [{ kind: "json", schema: object("a", "ab") }, { order: "any" }],
  [{ kind: "json", schema: { type: "array", uniqueItems: true, items: { enum: ["aa", "ab", "é"] } } }],
  [
    {
      kind: "json",
      schema: {
        type: "object",
        additionalProperties: true,
        maxProperties: 2,
        propertyNames: { enum: ["aé", "ab"] },
      },
    },
  ],
  [{ kind: "json", schema: { const: { a: [1, "two", "né"] } } }, { whitespace: "compact" }],
  [{ kind: "regex", pattern: "(ab|a)*é?cccc" }],
  [{ kind: "choice", options: ["true", "order", "orderly"] }],
]

/** The definition: as long as exactly one byte may come and the text may not end. */
function naive(machine: TokenMachine, state: number): number[] {
  const bytes: number[] = []
  for (let at = state; !machine.isAccepting(at); ) {
    const next = Array.from({ length: 256 }, (_, byte) => byte).filter(
      (byte) => machine.advance(at, Uint8Array.of(byte)) !== DeadState,
    )
    if (next.length !== 1) break
    bytes.push(next[0])
    at = machine.advance(at, Uint8Array.of(next[0]))
  }
  return bytes
}

/** Matchers along random walks over the masks. */
function* walks(machine: TokenMachine): Generator<{ matcher: Matcher; path: readonly number[] }> {
  const row = new Uint32Array(vocabulary.words)
  for (let seed = 1; seed <= 12; seed++) {
    const random = randomOf(seed)
    const matcher = new Matcher(machine)
    const path: number[] = []
    while (!matcher.isTerminated() && path.length < 60) {
      yield { matcher, path }
      matcher.fillMask(row)
      const ids = Array.from({ length: vocabulary.width }, (_, id) => id).filter((id) => isAllowed(row, id))
      const token = ids[Math.floor(random() * ids.length)]
      expect(matcher.accept(token)).toBe(true)
      path.push(token)
    }
  }
}

describe.each(inputs)("%j %j", (input, options) => {
  test("bytes that may follow, and forced ones, are what trying finds; stored or not", () => {
    const machine = machineOf(input, options)
    let forcedCount = 0
    for (const { matcher } of walks(machine)) {
      const { state } = matcher
      const tried = Array.from({ length: 256 }, (_, byte) => byte).filter(
        (byte) => machine.advance(state, Uint8Array.of(byte)) !== DeadState,
      )
      expect(machine.nextBytes(state)).toEqual(tried)
      expect(machine.nextBytes(state, 2)).toEqual(tried.slice(0, 2))
      expect([...forcedBytes(matcher)]).toEqual(naive(machine, state))
      forcedCount += forcedBytes(matcher).length
    }
    expect(forcedCount).toBeGreaterThan(20)
  })

  test("forced tokens may come, spell what is forced, and are what the tokenizer writes", () => {
    for (const { matcher, path } of walks(machineOf(input, options))) {
      const forced = forcedTokens(matcher, path, encode)
      expect(matcher.validate(forced)).toBe(forced.length)
      if (vocabulary.isEnd(forced[0])) continue
      const spelled = Buffer.concat(forced.map((id) => vocabulary.bytes(id)))
      const isOnly = matcher.fillMask(new Uint32Array(vocabulary.words)) === "single"
      if (!isOnly) expect(Buffer.from(forcedBytes(matcher)).subarray(0, spelled.length)).toEqual(spelled)
    }
  })
})

test("a token that may go on behind what is forced is not forced", () => {
  const matcher = new Matcher(
    machineOf({ kind: "json", schema: { anyOf: [object("orderId"), object("orderName")] } }),
  )
  expect(matcher.acceptBytes(Buffer.from('{"'))).toBe(true)
  expect(Buffer.from(forcedBytes(matcher)).toString()).toBe("order")
  expect(forcedTokens(matcher, idsOf("{", '"'), encode)).toEqual([])
  const other = new Matcher(
    machineOf({ kind: "json", schema: { anyOf: [object("ordera"), object("orderb")] } }),
  )
  expect(other.acceptBytes(Buffer.from("{"))).toBe(true)
  expect(other.acceptBytes(Buffer.from('"'))).toBe(true)
  // The tokenizer joins the quote with what follows: the model has left its way, and nothing is forced.
  expect(forcedTokens(other, idsOf("{", '"'), encode)).toEqual([])
})

test("what is forced ends with whole characters, and begins behind whole ones", () => {
  const matcher = new Matcher(machineOf({ kind: "choice", options: ["aéa", "aèb"] }))
  expect([...forcedBytes(matcher)]).toEqual([0x61, 0xc3])
  expect(forcedTokens(matcher, [], encode)).toEqual(idsOf("a"))
  expect(matcher.acceptBytes(Uint8Array.of(0x61, 0xc3, 0xa9))).toBe(true)
  expect(forcedTokens(matcher, [0x61, 0xc3, 0xa9], encode)).toEqual(idsOf("a"))
})

test("a machine that is closed ahead of time forces the same", () => {
  const machine = machineOf({ kind: "json", schema: object("order", "né") }, { whitespace: "compact" })
  const closed = precompile(machine)
  for (const { matcher, path } of walks(machine)) {
    const twin = new Matcher(closed)
    expect(twin.validate(path)).toBe(path.length)
    for (const token of path) twin.accept(token)
    expect(forcedBytes(twin)).toEqual(forcedBytes(matcher))
    expect(forcedTokens(twin, path, encode)).toEqual(forcedTokens(matcher, path, encode))
    expect(closed.nextBytes(twin.state)).toEqual(machine.nextBytes(matcher.state))
  }
})

test("digits that a tokenizer groups from the right are forced only where no later one moves the groups", () => {
  const groups = Array.from({ length: 1000 }, (_, n) => [
    `${n}`,
    `${n}`.padStart(2, "0"),
    `${n}`.padStart(3, "0"),
  ])
  const words = ["n", "=", " ", ...new Set(groups.flat())]
  const digits = Vocabulary.fromBytes(
    words.map((word) => Buffer.from(word)),
    { endIds: [words.length] },
  )
  const read = (text: string) =>
    (text.match(/\d{1,3}(?=(?:\d{3})*(?!\d))|\D/g) ?? []).map((word) => words.indexOf(word))
  const forced = (pattern: string) => {
    const matcher = new Matcher(
      new TokenFsm(compile({ kind: "regex", pattern: `n=${pattern}` }).grammar, digits),
    )
    const before = read("n=")
    for (const id of before) matcher.accept(id)
    return forcedTokens(matcher, before, read).map((id) => words[id])
  }
  expect(forced("1234567(8|90)")).toEqual([])
  expect(forced("1234567 (8|90)")).toEqual(["1", "234", "567", " "])
})

test("a long constant is forced in parts, which together are what the tokenizer writes", () => {
  const text = `"${"true né, order orderI; ".repeat(300)}"`
  const machine = machineOf({ kind: "json", schema: { const: JSON.parse(text) } })
  const matcher = new Matcher(machine)
  expect(forcedBytes(matcher)).toHaveLength(4096)
  const written: number[] = []
  let parts = 0
  for (; !matcher.isAccepting(); parts++) {
    const forced = forcedTokens(matcher, written, encode)
    expect(forced.length).toBeGreaterThan(0)
    expect(matcher.validate(forced)).toBe(forced.length)
    for (const token of forced) matcher.accept(token)
    written.push(...forced)
  }
  expect(written).toEqual(encode(text))
  expect(parts).toBeGreaterThan(text.length / 600)
  expect(parts).toBeLessThan(text.length / 400)
})

test("runs are remembered, up to 16 MiB: then all are forgotten and found again", () => {
  let asked = 0
  // Endless text of one letter, each state its own: 2,000 long runs of a grammar take ten seconds.
  const endless = Object.assign(Object.create(machineOf({ kind: "regex", pattern: "a*" })), {
    advance: (state: number) => state + 1,
    next: (state: number) => state + 1,
    isAccepting: () => false,
    nextBytes: () => {
      asked++
      return [0x61]
    },
  }) as TokenMachine
  const askedAt = (state: number) => {
    const before = asked
    expect(canonicalTokens(endless, state, [], (text) => [...Buffer.from(text)])).toHaveLength(512)
    return asked - before
  }
  expect(askedAt(1)).toBeGreaterThan(500)
  // A run of 512 bytes is counted as some 8.8 KB.
  for (let state = 2; state < 1_500; state++) askedAt(state)
  expect(askedAt(1)).toBe(0)
  for (let state = 1_500; state < 2_100; state++) askedAt(state)
  expect(askedAt(1)).toBeGreaterThan(500)
  expect(askedAt(1)).toBe(0)
})

test("a Lark text may leave all spelling to the model", () => {
  const text = 'start: "orderI" ":"'
  const tokens = (options: string) => {
    const machine = machineOf({ kind: "lark", text: `${options}${text}` })
    return canonicalTokens(machine, machine.start, [], encode)
  }
  expect(tokens("")).toEqual(idsOf("orderI", ":"))
  expect(tokens('%options {"no_forcing": true}\n')).toEqual([])
})
