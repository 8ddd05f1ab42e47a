import fc from "fast-check"
import { expect, test } from "vitest"
import { type CompileOptions, compile } from "../../grammar/index.ts"
import { exprLexeme } from "../../grammar/lexeme/raw.ts"
import { parseRegex } from "../../grammar/regex/parse.ts"
import { shortcutNames, shortcuts } from "../../mask/fast/shortcuts.ts"
import { TokenFsm } from "../../mask/fsm.ts"
import { Matcher, Vocabulary } from "../../mask/index.ts"
import { LocalMasks } from "../../mask/local.ts"
import { writeRecipe } from "../../mask/recipe.ts"

const encoder = new TextEncoder()
const pieces = [
  ...[
    '{"',
    '":',
    '": ',
    '": "',
    '","',
    '", "',
    '"}',
    '"]',
    '],"',
    '},{"',
    "[[",
    "]]",
    ", ",
    ",\n  ",
    ": ",
    "  ",
    "\n",
  ],
  ...[
    "a",
    "ab",
    "abc",
    "abcd",
    "name",
    'name":',
    '"name"',
    "kind",
    "on",
    "one",
    "two",
    "ne",
    "na",
    '"a":',
    'a":1',
    'b","a":',
  ],
  ...[
    "true",
    "false",
    "null",
    "1",
    "12",
    "120",
    "1,",
    "1]",
    "1}",
    "-1",
    "0.",
    ".5",
    "e1",
    "E+",
    "00",
    "1.0",
    "12,1",
  ],
  ...[
    "\\",
    '\\"',
    "\\\\",
    "\\n",
    "\\u",
    "\\u0",
    "\\u00",
    "\\u0061",
    "\\ud83d",
    "\\ude00",
    'a\\u0062"',
    "x\\",
    '\\u00e9"',
  ],
  ...[
    "é",
    "éé",
    "x😀",
    "😀y",
    '😀"',
    "abcdefghijkl",
    "longer piece of text",
    '            "',
    "zzzzzzzzzzzzzzzzzzzzzzzz",
  ],
  ...["2024", "-01", "-02-29", "T10:", "@", ".com", '":"",""', '":1,"a"', '":1,"b":', '1,"x":2,"x"'],
]
const tokens: (Uint8Array | null)[] = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
for (const piece of pieces) tokens.push(encoder.encode(piece))
// Halves of characters, a second spelling of a token, and the end.
tokens.push(Uint8Array.of(0xf0, 0x9f), Uint8Array.of(0x98, 0x80, 0x22), encoder.encode("name"), null)
const vocabulary = Vocabulary.fromBytes(tokens, { endIds: [tokens.length - 1], width: tokens.length + 13 })

const plain = new LocalMasks(vocabulary, null)
const ways: [name: string, locals: LocalMasks][] = [
  ["by characters from the first node", new LocalMasks(vocabulary, shortcuts({ minSliceNodes: 0 }))],
  [
    "with a cache of a few kilobytes",
    new LocalMasks(vocabulary, shortcuts({ minSliceNodes: 0, maxBytes: 4_000 })),
  ],
  ["with a cache of nothing", new LocalMasks(vocabulary, shortcuts({ maxBytes: 0 }))],
  [
    "with what is longer than 3 bytes by itself",
    new LocalMasks(vocabulary, shortcuts({ minSliceNodes: 0, farBytes: 3 })),
  ],
  [
    "with what is longer than a byte by itself",
    new LocalMasks(vocabulary, shortcuts({ minSliceNodes: 0, farBytes: 1 })),
  ],
  ...shortcutNames.map((name): [string, LocalMasks] => [
    `without ${name}`,
    new LocalMasks(vocabulary, shortcuts({ minSliceNodes: 0, farBytes: 3, without: [name] })),
  ]),
]

const schemas: [name: string, schema: unknown][] = [
  ["any value", true],
  [
    "open object",
    { type: "object", properties: { name: { type: "string" }, a: { type: "integer" } }, required: ["a"] },
  ],
  [
    "closed object",
    { type: "object", properties: { one: true, on: true, two: true }, additionalProperties: false },
  ],
  ["short string", { type: "string", maxLength: 12 }],
  ["string of one length", { type: "string", minLength: 3, maxLength: 3 }],
  ["long string", { type: "string", minLength: 20 }],
  ["search", { type: "string", pattern: "one|two" }],
  ["search with a length", { type: "string", pattern: "a.c", maxLength: 6 }],
  ["anchored", { type: "string", pattern: "^(ab)+c?$", minLength: 4 }],
  ["counted", { type: "string", pattern: "^[a-z]{2,40}$" }],
  ["chain that forks", { type: "string", pattern: "^[a-z]{3}(b|[n-zé😀]+)$" }],
  ["words", { type: "string", pattern: "^(\\S+\\s+){0,3}\\S+$" }],
  ["paths", { type: "string", pattern: "^(/[^/\\s]+)+$", maxLength: 14 }],
  ["anything but", { type: "string", not: { pattern: "^(na|é)" } }],
  ["nothing that holds a long run", { type: "string", not: { pattern: "[a-f0-9]{9}" } }],
  ["words of a bounded text", { type: "string", pattern: "^(\\S+\\s+){0,9}\\S+$", maxLength: 30 }],
  ["excluded", { type: "string", not: { enum: ["a", "ab", "😀"] } }],
  ["enum", { enum: ["a", "abc", "😀", 'say "é"', 12, 1.5, null, { a: [1] }] }],
  ["unique strings", { type: "array", items: { type: "string", maxLength: 2 }, uniqueItems: true }],
  ["unique anything", { type: "array", items: {}, uniqueItems: true, maxItems: 3 }],
  [
    "map",
    {
      type: "object",
      patternProperties: { "^a": { type: "integer" } },
      additionalProperties: { maxLength: 2 },
    },
  ],
  ["names", { type: "object", propertyNames: { maxLength: 3 }, maxProperties: 2 }],
  ["date", { type: "string", format: "date" }],
  [
    "contains",
    { type: "array", contains: { const: 12 }, maxContains: 1, items: { type: ["integer", "string"] } },
  ],
]
const surfaces: CompileOptions[] = [{}, { surface: "conform" }]

/** A small generator of its own, so that a seed names a walk for ever: xorshift32 (Marsaglia 2003). */
function random(seed: number): () => number {
  let x = seed
  return () => {
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    return (x >>> 0) / 2 ** 32
  }
}

for (const options of surfaces) {
  for (const [name, schema] of schemas) {
    test(`${name}, ${options.surface ?? "generate"}: every way to a mask gives the plain walk's, and accept agrees`, () => {
      const { grammar } = compile({ kind: "json", schema }, options)
      const definition = new TokenFsm(grammar, vocabulary, { locals: plain })
      const machines = ways.map(([way, locals]) => ({
        way,
        fsm: new TokenFsm(grammar, vocabulary, { locals }),
      }))
      const row = new Uint32Array(vocabulary.words)
      const other = new Uint32Array(vocabulary.words)
      for (let seed = 1; seed <= 4; seed++) {
        const next = random(seed * 7919)
        const matcher = new Matcher(definition)
        const followers = machines.map(({ fsm }) => new Matcher(fsm))
        const walk: number[] = []
        while (walk.length < 40 && !matcher.isTerminated()) {
          matcher.fillMask(row)
          for (const [i, follower] of followers.entries()) {
            follower.fillMask(other)
            expect(other, `${machines[i].way}, seed ${seed}, after ${walk}`).toEqual(row)
          }
          const allowed: number[] = []
          for (let token = 0; token < vocabulary.width; token++) {
            const bit = (row[token >>> 5] >>> (token & 31)) & 1
            if (matcher.validate([token]) !== bit)
              expect.fail(`token ${token} has bit ${bit}, seed ${seed}, after ${walk}`)
            if (bit === 1) allowed.push(token)
          }
          expect(allowed.length, `dead end, seed ${seed}, after ${walk}`).toBeGreaterThan(0)
          const token = allowed[Math.floor(next() * allowed.length)]
          walk.push(token)
          for (const each of [matcher, ...followers]) expect(each.accept(token)).toBe(true)
        }
        if (matcher.isTerminated()) continue
        const rest = matcher.shortest()
        expect(rest.length === 0 || matcher.acceptBytes(rest), `shortest, seed ${seed}, after ${walk}`).toBe(
          true,
        )
        expect(matcher.isAccepting()).toBe(true)
      }
    })
  }
}

test("a token that stops in the middle of an escape leaves room for the character", () => {
  const { grammar } = compile({ kind: "json", schema: { type: "string", maxLength: 12 } })
  const matcher = new Matcher(new TokenFsm(grammar, vocabulary, { locals: ways[0][1] }))
  expect(matcher.acceptBytes(encoder.encode('"abcdefghijkl'))).toBe(true)
  const row = new Uint32Array(vocabulary.words)
  matcher.fillMask(row)
  expect((row[0x5c >>> 5] >>> (0x5c & 31)) & 1).toBe(0)
})

test("lists of nodes that lie below each other are read as node by node, one list after the other", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", "1", " "), minLength: 1, maxLength: 7 })
  const states = ["[ab]+", "[ab]{1,2}", "[ab1]*1", "a[ab ]*"].map((pattern) =>
    exprLexeme(parseRegex(`^(?:${pattern})$`, { mode: "match", path: "" })),
  )
  const read = (texts: string[], lists: { pick: number[]; state: number }[]) => {
    const all = [...new Set(texts)].map((each) => encoder.encode(each))
    const small = Vocabulary.fromBytes([...all, null], { endIds: [all.length] })
    const [defined, quick] = [null, shortcuts({ minNestedNodes: 1 })].map(
      (make) => new LocalMasks(small, make),
    )
    const { nodeCount } = quick.trie
    const [row, other] = [new Uint32Array(small.words), new Uint32Array(small.words)]
    for (const { pick, state } of lists) {
      const nodes = [...new Set(pick.map((i) => 3 * (i % nodeCount)))].sort((a, b) => a - b)
      const [expected, found] = [defined, quick].map((locals) =>
        locals.local(locals.lists.intern(nodes), state),
      )
      writeRecipe(expected, row)
      writeRecipe(found, other)
      expect(other).toEqual(row)
      const exitsOf = ({ lists }: LocalMasks, { exits }: typeof found) =>
        Array.from(exits, (each, i) => (i % 2 === 0 ? each : Array.from(lists.view(each))))
      expect(exitsOf(quick, found)).toEqual(exitsOf(defined, expected))
    }
  }
  const list = fc.record({
    pick: fc.array(fc.nat(1_000), { minLength: 1, maxLength: 12 }),
    state: fc.constantFrom(...states),
  })
  const many = fc.array(text, { minLength: 1, maxLength: 60 })
  fc.assert(fc.property(many, fc.array(list, { minLength: 1, maxLength: 8 }), read), { numRuns: 200 })
})
