/** The setup in an address, and the request that is made of it. */
import { expect, test } from "vitest"
import { gallery } from "../../../server/playground/gallery.ts"
import { requestBody, seedProblem, tracedBody } from "../../../server/playground/request.ts"
import { fromFragment, type Setup, toFragment } from "../../../server/playground/setup.ts"
import { snippetNames, snippetOf } from "../../../server/playground/snippets.ts"

const [{ setup }] = gallery

function withSeed(seed: string): Setup {
  return { ...setup, options: { ...setup.options, seed } }
}

test.each(gallery.map((each) => [each.name, each.setup] as const))(
  "%s returns from its address",
  (_, each) => {
    expect(fromFragment(toFragment(each))).toEqual(each)
  },
)

test("text of every kind returns from an address, and what cannot be read is none", () => {
  const odd = { ...setup, text: 'é漢\u{1f600}\n"\\', check: "\u0000" }
  expect(fromFragment(toFragment(odd))).toEqual(odd)
  for (const broken of ["", "#", "#s=", "#s=%%", "#s=AAAA", "#s=eyJrIjoieCJ9", "#x=1"])
    expect(fromFragment(broken)).toBeNull()
  const coded = (value: unknown): string => `#s=${Buffer.from(JSON.stringify(value)).toString("base64url")}`
  const read = fromFragment(
    coded({
      k: "json",
      t: "{}",
      m: [1, { role: "root", content: "x" }],
      o: { temperature: "9", order: "no" },
    }),
  )
  expect(read).toMatchObject({
    messages: [{ role: "user", content: "" }],
    options: { temperature: 1, order: "schema" },
  })
})

test("a seed is sent as it was written, or not at all", () => {
  for (const [text, seed] of [
    ["1", 1],
    [" -7 ", -7],
    ["9007199254740991", 9007199254740991],
  ] as const) {
    expect([requestBody("m", withSeed(text)).seed, seedProblem(text)]).toEqual([seed, null])
  }
  expect("seed" in requestBody("m", withSeed(""))).toBe(false)
  expect(seedProblem("")).toBeNull()
  for (const wrong of ["9007199254740992", "1.5", "1e3", "0x10", "one"]) {
    expect("seed" in requestBody("m", withSeed(wrong))).toBe(false)
    expect(seedProblem(wrong)).toMatch(/whole number/)
  }
})

test("every program names the model and the constraint, and curl's data are the request", () => {
  for (const { setup: each } of gallery) {
    const body = requestBody("some-model", each)
    for (const name of Object.keys(snippetNames) as (keyof typeof snippetNames)[]) {
      const code = snippetOf(name, "http://localhost:8080", body, each)
      expect(code).toContain(name === "library" ? 'from "tokenrail"' : "some-model")
      if (name !== "curl") continue
      const data = code.slice(code.indexOf("-d '") + 4, code.lastIndexOf("'")).replaceAll("'\\''", "'")
      expect(JSON.parse(data)).toEqual(body)
    }
  }
})

test("a traced request keeps the options of the request", () => {
  const body = requestBody("m", { ...setup, options: { ...setup.options, onLength: "close" } })
  expect(tracedBody(body, { trace: 5, firstTokens: [3] })).toMatchObject({
    stream: true,
    tokenrail: { on_length: "close", trace: 5, fields: true, first_tokens: [3] },
  })
})
