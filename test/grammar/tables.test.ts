import { afterEach, expect, test } from "vitest"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { currentWorld, enter } from "../../grammar/tables.ts"
import { beginWorld, bytesByOwner, setTableBytes, tableBytes } from "../../grammar/worlds.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../mask/index.ts"

const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const vocabulary = Vocabulary.fromBytes([...bytes, null], { endIds: [256] })
const encoder = new TextEncoder()

const schema = {
  type: "object",
  properties: {
    a: { type: "string", pattern: "^(?=.*x)([a-z][0-9])+", minLength: 5, maxLength: 20 },
    b: { type: "number", multipleOf: 0.25, maximum: 100 },
    c: { type: "array", uniqueItems: true, items: { type: "string", format: "date" } },
    // Each character is a state of its own, so that the rows take more than the room that an empty table has.
    d: { type: "string", pattern: "^([a-z]|-[0-9]){1,900}$" },
  },
  required: ["a", "b"],
}
const text = `{"c":["2024-02-29","2024-03-01"],"b":99.75,"a":"a1x2b3","d":"${"abc-1".repeat(80)}"}`

const world = currentWorld()

afterEach(() => {
  setTableBytes(Number.POSITIVE_INFINITY)
  enter(world)
})

/** The mask after each byte of `text`. */
function* masksAlong(matcher: Matcher, text: string): Generator<string> {
  matcher.reset()
  for (const byte of encoder.encode(text)) {
    const row = new Uint32Array(vocabulary.words)
    matcher.fillMask(row)
    yield row.join()
    expect(matcher.acceptBytes(Uint8Array.of(byte))).toBe(true)
  }
  expect(matcher.isAccepting()).toBe(true)
}

const machineOf = (input: GrammarInput) =>
  new TokenFsm(compile(input, { surface: "conform" }).grammar, vocabulary)

test("a grammar answers alike after a new world has begun, and while machines of two worlds take turns", () => {
  const first = machineOf({ kind: "json", schema })
  const before = [...masksAlong(new Matcher(first), text)]
  const full = bytesByOwner()
  beginWorld()
  const empty = bytesByOwner()
  for (const name of ["expressions", "derivatives", "lengths", "lexeme states"])
    expect(empty[name], name).toBeLessThan(full[name])
  const second = machineOf({ kind: "json", schema })
  expect(second.grammar.world).not.toBe(first.grammar.world)
  const [one, other, fresh] = [first, second, new TokenFsm(first.grammar, vocabulary)].map((machine) =>
    masksAlong(new Matcher(machine), text),
  )
  for (const mask of before) {
    expect(one.next().value).toBe(mask)
    expect(other.next().value).toBe(mask)
    expect(fresh.next().value).toBe(mask)
  }
  expect([one, other, fresh].map((masks) => masks.next().done)).toEqual([true, true, true])
})

test("a compilation begins a new world once the tables are above their bound, and only then", () => {
  compile({ kind: "regex", pattern: "first" })
  const before = currentWorld()
  setTableBytes(tableBytes() + (1 << 20))
  compile({ kind: "regex", pattern: "second" })
  expect(currentWorld()).toBe(before)
  setTableBytes(0)
  compile({ kind: "regex", pattern: "third" })
  expect(currentWorld()).not.toBe(before)
})

test("a grammar of another world can be part of a turn", () => {
  const { grammar } = compile({ kind: "json", schema: { const: "answer" } })
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]
  const turn = () =>
    compile({ kind: "tools", style: "hermes", tools, response_format: grammar } as GrammarInput).grammar
  const answer = `"answer"`
  const before = [...masksAlong(new Matcher(new TokenFsm(turn(), vocabulary)), answer)]
  beginWorld()
  expect([...masksAlong(new Matcher(new TokenFsm(turn(), vocabulary)), answer)]).toEqual(before)
})
