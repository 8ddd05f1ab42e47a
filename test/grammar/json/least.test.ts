/** Schemas whose least value is too deep or too long to be finished are refused when they are compiled. */
import { expect, test } from "vitest"
import { GrammarError } from "../../../grammar/errors.ts"
import { compile } from "../../../grammar/index.ts"
import { Matcher, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { bombText } from "../../support/bombs/bombs.ts"
import { chain } from "../../support/bombs/bombshapes.ts"

const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const vocabulary = Vocabulary.fromBytes([...bytes, null], { endIds: [256] })

function refusal(schema: unknown, limits = {}): { kind: string; path: string; message: string } | null {
  try {
    compile({ kind: "json", schema: schema as string }, { surface: "conform", limits })
    return null
  } catch (error) {
    if (!(error instanceof GrammarError)) throw error
    const { kind, path, message } = error
    return { kind, path, message }
  }
}

test.each(["refChainItems", "refChainProperties", "deepUniqueTuple"])("the bomb %s", (name) => {
  expect(refusal(bombText(name))?.kind).toBe("limit")
})

const items = (next: unknown) => ({ type: "array", items: next, minItems: 1 })
const properties = (next: unknown) => ({ type: "object", properties: { a: next }, required: ["a"] })

test("says where, how deep, the bound and a way out", () => {
  expect(refusal(chain(30, items), { stackDepth: 20 })).toEqual({
    kind: "limit",
    path: "/$defs/d18/items",
    message:
      "/$defs/d18/items: each value nests at least 30 levels deep, above the bound of 20. Raise limits.stackDepth or leave out some of the required levels",
  })
  expect(refusal(chain(25, (next) => ({ type: "array", items: next, minItems: 2 })))?.message).toMatch(
    /its shortest value has \d+ characters or more, above the bound of 1048576\. Lower/,
  )
})

test("a way that is less deep is enough", () => {
  const around = (next: unknown) => ({ anyOf: [items(next), { type: "object", properties: { b: next } }] })
  expect(refusal(chain(30, around), { stackDepth: 20 })).toBeNull()
  const loop = { type: "array", minItems: 1, items: { anyOf: [{ $ref: "#" }, { type: "null" }] } }
  expect(refusal(loop, { stackDepth: 20 })).toBeNull()
})

test.each([
  ["arrays", items],
  ["objects", properties],
])("%s that are as deep as the bound are finished", (_, around) => {
  for (const surface of ["conform", "generate"] as const) {
    let compiled = 0
    for (let depth = 8; depth < 25; depth++) {
      try {
        const schema = JSON.stringify(chain(depth, around))
        const { grammar } = compile({ kind: "json", schema }, { surface, limits: { stackDepth: 16 } })
        const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
        expect(matcher.acceptBytes(matcher.shortest())).toBe(true)
        expect(matcher.isAccepting()).toBe(true)
        compiled++
      } catch (error) {
        expect(error).toBeInstanceOf(GrammarError)
        expect((error as GrammarError).message).toMatch(/: each value nests/)
      }
    }
    // As many levels as the bound, the one around white space aside; a chain has a link more than levels.
    expect(compiled).toBe(surface === "conform" ? 9 : 10)
  }
})
