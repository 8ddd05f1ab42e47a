/** Drafts of masks against their definition, and what they leave to be tried token by token. */
import { expect, test } from "vitest"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { DeadState, States } from "../../grammar/state.ts"
import { LocalMasks } from "../../mask/local.ts"
import { MaskBuilder } from "../../mask/mask.ts"
import { writeRecipe } from "../../mask/recipe.ts"
import { randomOf, vocabularyOf } from "../support/oracle.ts"

const bytes = Array.from({ length: 128 }, (_, byte) => byte)
const vocabulary = vocabularyOf([
  ...bytes,
  '{"',
  '":',
  '"a":',
  'a":1',
  '1,"',
  '","',
  '"a","',
  "ab",
  "[1",
  ",1",
  "ab",
  "true}",
  '":1,"a":',
])
const endIds = Int32Array.from(vocabulary.endIds)
const locals = new LocalMasks(vocabulary)

/** Ids that a row has, ascending. */
function idsOf(row: Uint32Array): number[] {
  return Array.from({ length: 32 * row.length }, (_, id) => id).filter(
    (id) => (row[id >>> 5] >>> (id & 31)) & 1,
  )
}

/** Every token that leads on, and the ends where the text may end. */
function defined(states: States, state: number): number[] {
  const ids = Array.from({ length: vocabulary.width }, (_, id) => id)
  return ids.filter((id) =>
    vocabulary.isEnd(id)
      ? states.isAccepting(state)
      : states.advance(state, vocabulary.bytes(id)) !== DeadState,
  )
}

const inputs: [name: string, input: GrammarInput, isTried: boolean][] = [
  ["a pattern", { kind: "regex", pattern: "(ab|1)*,?" }, false],
  [
    "a closed object",
    { kind: "json", schema: { properties: { a: { type: "integer" } }, additionalProperties: false } },
    false,
  ],
  ["an open object: keys must differ", { kind: "json", schema: { type: "object" } }, true],
  [
    "unique items: they must differ",
    { kind: "json", schema: { type: "array", uniqueItems: true, items: { enum: [1, 11, "a"] } } },
    true,
  ],
]

test.each(inputs)("%s: the draft and the tokens tried are the mask", (_, input, isTried) => {
  const states = new States(compile(input).grammar)
  const builder = new MaskBuilder(states, locals)
  const row = new Uint32Array(vocabulary.words)
  let triedCount = 0
  for (let seed = 1; seed <= 8; seed++) {
    const random = randomOf(seed)
    let state = states.start
    for (let step = 0; step < 10; step++) {
      const { mask, unknown } = builder.build(state, endIds)
      writeRecipe(mask.plain, row)
      const drafted = idsOf(row)
      const tried = Array.from(builder.tryTokens(state, unknown))
      triedCount += tried.length
      expect([...new Set([...drafted, ...tried])].sort((a, b) => a - b)).toEqual(defined(states, state))
      const next = [...drafted, ...tried].filter((id) => !vocabulary.isEnd(id))
      if (next.length === 0) break
      state = states.advance(state, vocabulary.bytes(next[Math.floor(random() * next.length)]))
    }
  }
  expect(triedCount > 0).toBe(isTried)
})

test("states with equal lexemes and stacks have equal drafts, whatever their texts", () => {
  const states = new States(compile({ kind: "json", schema: { type: "object" } }).grammar)
  const builder = new MaskBuilder(states, locals)
  const read = (text: string) => states.advance(states.start, new TextEncoder().encode(text))
  const [a, b] = [read('{"a'), read('{"b')]
  expect(a).not.toBe(b)
  expect(states.shape(a)).toBe(states.shape(b))
  const rows = [a, b].map((state) => {
    const row = new Uint32Array(vocabulary.words)
    writeRecipe(builder.build(state, endIds).mask.plain, row)
    return idsOf(row)
  })
  expect(rows[0]).toEqual(rows[1])
})
