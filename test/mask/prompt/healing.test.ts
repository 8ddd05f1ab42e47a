/** Healed prompts: what is given back, against its definition; what then may come, against the grammar of prefix and text in one. */
import { describe, expect, test } from "vitest"
import { compile, type GrammarInput } from "../../../grammar/index.ts"
import { DeadState } from "../../../grammar/state.ts"
import {
  isAllowed,
  Matcher,
  precompile,
  TokenFsm,
  type TokenMachine,
  Vocabulary,
} from "../../../mask/index.ts"
import { sharedLocals } from "../../../mask/local.ts"
import { forcedBytes, forcedTokens } from "../../../mask/prompt/forced.ts"
import { heal, healed } from "../../../mask/prompt/healing.ts"
import { writeRecipe } from "../../../mask/recipe.ts"
import { Stride } from "../../../mask/trie.ts"
import { randomOf } from "../../support/oracle.ts"

const pieces = [
  "http",
  "://",
  "http:",
  "//",
  ":",
  " a",
  " ab",
  "ab",
  "b",
  "né",
  'y "',
  '"a',
  "{",
  ': "',
  "\n{",
  "ab",
  ":[0,0]",
  ":[0,1",
  "0,",
  '{"a":',
  "1]",
]
const end = 256 + pieces.length
const vocabulary = Vocabulary.fromBytes(
  [
    ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
    ...pieces.map((piece) => Buffer.from(piece)),
  ],
  { endIds: [end], specials: { "<|user|>": end + 1 }, width: end + 9 },
)
const idOf = (piece: string) => (pieces.includes(piece) ? 256 + pieces.indexOf(piece) : piece.charCodeAt(0))
const idsOf = (...parts: string[]) => parts.map(idOf)
const machineOf = (input: GrammarInput) => new TokenFsm(compile(input).grammar, vocabulary)

/** Prompts' ends, what follows, and both in one pattern. */
const cases: [prompt: string[], pattern: string, whole: (prefix: string) => string][] = [
  [["http", ":"], "//(a|b)+", (prefix) => `${prefix}//(a|b)+`],
  [["x", ":"], ' "a*"|[0-9]{2,3}', (prefix) => `${prefix}( "a*"|[0-9]{2,3})`],
  [["a", " "], "(ab?|é)*", (prefix) => `${prefix}(ab?|é)*`],
  [["n"], "é[a-c]*", (prefix) => `${prefix}é[a-c]*`],
  [["\n"], "\\{[a-z ]*\\}", (prefix) => `${prefix}\\{[a-z ]*\\}`],
  [["h", "t", "t"], "p:", (prefix) => `${prefix}p:`],
]

/** By definition: the most tokens whose bytes begin a longer token with a rest that may come first. */
function naiveDrop(machine: TokenFsm, prompt: readonly number[]): number {
  let most = 0
  for (let drop = 1; drop <= prompt.length; drop++) {
    const given = Buffer.concat(prompt.slice(-drop).map((id) => vocabulary.bytes(id)))
    for (let id = 0; id < vocabulary.width; id++) {
      const bytes = Buffer.from(vocabulary.bytes(id))
      if (bytes.length <= given.length || !bytes.subarray(0, given.length).equals(given)) continue
      if (machine.advance(machine.start, bytes.subarray(given.length)) !== DeadState) most = drop
    }
  }
  return most
}

/** What a request sees, but for the wording of `explain`. */
function viewOf(matcher: Matcher): unknown {
  const row = new Uint32Array(vocabulary.words)
  const kind = matcher.fillMask(row)
  const next = matcher.isTerminated() ? [] : matcher.fsm.nextBytes(matcher.state)
  const isComplete = [matcher.isAccepting(), matcher.isExhausted(), matcher.isTerminated()]
  return { kind, row: Array.from(row), next, isComplete, forced: Array.from(forcedBytes(matcher)) }
}

describe("heal", () => {
  test.each(cases)("gives back %j before %s as its definition says", (prompt, pattern) => {
    const machine = machineOf({ kind: "regex", pattern })
    const ids = idsOf(...prompt)
    const { drop, prefix } = heal(machine, ids)
    expect(drop).toBe(naiveDrop(machine, ids))
    expect(drop).toBeGreaterThan(0)
    expect(Buffer.from(prefix)).toEqual(Buffer.concat(ids.slice(-drop).map((id) => vocabulary.bytes(id))))
  })

  test.each(cases)(
    "then lets through what prefix and text in one grammar would: %j, %s",
    (prompt, pattern, whole) => {
      const machine = machineOf({ kind: "regex", pattern })
      const { prefix } = heal(machine, idsOf(...prompt))
      const both = machineOf({ kind: "regex", pattern: whole(Buffer.from(prefix).toString()) })
      const closed = precompile(machine)
      if (!closed) throw new Error("the machine is not finite")
      for (let seed = 1; seed <= 20; seed++) {
        const random = randomOf(seed)
        const matchers = [machine, closed].map((each) => new Matcher(heal(each, idsOf(...prompt)).machine))
        const direct = new Matcher(both)
        for (let step = 0; step < 12; step++) {
          const view = viewOf(direct)
          for (const matcher of matchers) {
            expect(viewOf(matcher)).toEqual(view)
            expect(both.advance(direct.state, matcher.shortest())).not.toBe(DeadState)
          }
          if (direct.isTerminated()) break
          const row = new Uint32Array(vocabulary.words)
          direct.fillMask(row)
          const allowed: number[] = []
          for (let id = -2; id < vocabulary.width + 2; id++) {
            const isLegal = id >= 0 && id < vocabulary.width && isAllowed(row, id)
            if (isLegal) allowed.push(id)
            for (const matcher of matchers) expect([id, matcher.fork().accept(id)]).toEqual([id, isLegal])
          }
          const id = allowed[Math.floor(random() * allowed.length)]
          for (const matcher of [direct, ...matchers]) expect(matcher.accept(id)).toBe(true)
        }
      }
    },
  )

  test("gives back nothing where nothing reaches across", () => {
    const machine = machineOf({ kind: "regex", pattern: "[0-9]+" })
    expect(heal(machine, idsOf("http", ":"))).toEqual({ drop: 0, prefix: new Uint8Array(0), machine })
    const digits = new Matcher(machine)
    expect(digits.fsm.isAccepting(digits.state)).toBe(false)
    expect(digits.accept(idOf("1"))).toBe(true)
    expect(heal(machineOf({ kind: "regex", pattern: "" }), idsOf(":")).drop).toBe(0)
    expect(heal(machineOf({ kind: "regex", pattern: "//" }), []).drop).toBe(0)
  })

  test("gives back nothing behind a control token or an id that no token has, and never more than stands behind one", () => {
    const slashes = machineOf({ kind: "regex", pattern: "//.*" })
    for (const id of [end, end + 1, end + 5, 1e9, -1, 0.5])
      expect(heal(slashes, [...idsOf("http", ":"), id]).drop).toBe(0)
    expect(heal(slashes, [...idsOf("http"), end + 1, ...idsOf(":")]).drop).toBe(1)
  })

  test("never begins inside a character", () => {
    const [first, second] = Buffer.from("é")
    const tokens = [
      Uint8Array.of(first),
      Uint8Array.of(second),
      Uint8Array.of(second, 0x61),
      Buffer.from("éa"),
      Buffer.from("a"),
    ]
    const split = Vocabulary.fromBytes(tokens, { endIds: [5] })
    const machine = new TokenFsm(compile({ kind: "regex", pattern: "a+" }).grammar, split)
    expect(heal(machine, [0, 1]).drop).toBe(2)
    const apart = Vocabulary.fromBytes([...tokens.slice(0, 3), null, tokens[4]], { endIds: [5] })
    const other = new TokenFsm(compile({ kind: "regex", pattern: "a+" }).grammar, apart)
    expect(heal(other, [0, 1]).drop).toBe(0)
  })

  test("gives back nothing where a tokenizer drops the first space of a text", () => {
    const wordPiece = Vocabulary.fromBytes(
      pieces.slice(0, 5).map((piece) => Buffer.from(piece)),
      {
        endIds: [9],
        dropsFirstSpace: true,
      },
    )
    const machine = new TokenFsm(compile({ kind: "regex", pattern: "//" }).grammar, wordPiece)
    expect(heal(machine, [4]).drop).toBe(0)
  })

  test("lasts: fork, rollback, reset", () => {
    const { machine, ...taken } = heal(machineOf({ kind: "regex", pattern: "//(a|b)+" }), idsOf("x", ":"))
    expect(taken).toEqual({ drop: 1, prefix: Uint8Array.of(0x3a) })
    const matcher = new Matcher(machine)
    expect(matcher.explain()).toEqual([{ what: "the end of the prompt", example: ":", path: "" }])
    const start = viewOf(matcher)
    const fork = matcher.fork()
    expect(matcher.accept(idOf("://"))).toBe(true)
    expect(matcher.validate(idsOf("a", "b", "/"))).toBe(2)
    matcher.rollback(1)
    expect(viewOf(matcher)).toEqual(start)
    expect(matcher.acceptBytes(Buffer.from("://a"))).toBe(true)
    matcher.reset()
    expect(viewOf(matcher)).toEqual(start)
    expect(viewOf(fork)).toEqual(start)
  })

  test("requests whose prompts end alike share a machine", () => {
    const machine = machineOf({ kind: "regex", pattern: "//(a|b)+" })
    const one = heal(machine, idsOf("http", ":"))
    expect(heal(machine, idsOf("b", "http", ":")).machine).toBe(one.machine)
  })

  test("what is given back is forced, in the tokens that reach across", () => {
    const choice = machineOf({ kind: "choice", options: ["//ab", "//b"] })
    const matcher = new Matcher(heal(choice, idsOf("x", ":")).machine)
    const encode = (text: string) =>
      text.split(/(:\/\/|ab)/).flatMap((part) => (part.length > 1 ? idsOf(part) : idsOf(...part)))
    expect(Buffer.from(forcedBytes(matcher)).toString()).toBe("://")
    expect(forcedTokens(matcher, idsOf("x"), encode)).toEqual(idsOf("://"))
  })
})

test("masks below a node are what their definition says, of machines open, closed and healed", () => {
  const { trie } = sharedLocals(vocabulary)
  const inputs: GrammarInput[] = [
    { kind: "json", schema: { type: "array", uniqueItems: true, items: { enum: [0, 1, "a"] } } },
    { kind: "json", schema: { type: "object", properties: { a: { type: "string", maxLength: 2 } } } },
    { kind: "regex", pattern: "(ab|a)*é?(//)?" },
    { kind: "choice", options: ["ab", "[0,0]", "[0,1]", "0,"] },
  ]
  /** What the nodes spell, but for those that no token goes on from. */
  const begins = new Map<number, Uint8Array>()
  for (let node = 0; node < trie.nodes.length; node += Stride) {
    if (!trie.hasChildren(node)) continue
    let token = node + Stride
    while (trie.token(token) < 0) token += Stride
    begins.set(node, vocabulary.bytes(trie.token(token)).slice(0, trie.depth(node)))
  }
  let found = 0
  const expectMasksBelow = (machine: TokenMachine, state: number) => {
    for (const [node, begin] of begins) {
      const row = new Uint32Array(vocabulary.words)
      writeRecipe(machine.maskBelow(state, node), row)
      for (let id = 0; id < vocabulary.width; id++) {
        const bytes = vocabulary.bytes(id)
        const goesOn = bytes.length > begin.length && begin.every((byte, at) => bytes[at] === byte)
        const isLegal = goesOn && machine.advance(state, bytes.subarray(begin.length)) !== DeadState
        if (isLegal) found++
        if (isLegal !== isAllowed(row, id))
          expect({ node, id, isLegal }).toEqual({ node, id, isLegal: !isLegal })
      }
    }
  }
  for (const input of inputs) {
    const open = machineOf(input)
    const closed = input.kind === "json" ? null : precompile(open)
    for (const machine of [open, healed(open, Buffer.from("a:")), ...(closed ? [closed] : [])]) {
      for (let seed = 1; seed <= 3; seed++) {
        const random = randomOf(seed)
        const matcher = new Matcher(machine)
        for (let step = 0; step < 6 && !matcher.isTerminated(); step++) {
          expectMasksBelow(machine, matcher.state)
          const row = new Uint32Array(vocabulary.words)
          matcher.fillMask(row)
          const ids = Array.from({ length: vocabulary.width }, (_, id) => id).filter((id) =>
            isAllowed(row, id),
          )
          matcher.accept(ids[Math.floor(random() * ids.length)])
        }
      }
    }
  }
  expect(found).toBeGreaterThan(1_000)
})
