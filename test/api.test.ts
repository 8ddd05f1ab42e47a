/** docs/api.md is what the declarations say, and every public name has a contract. */
import { expect, test } from "vitest"
import { printEntries, readEntries } from "./api/reference.ts"

const entries = readEntries(".")
const names = entries.flatMap(({ specifiers, names }) =>
  names.map((name) => ({ ...name, from: specifiers[0] })),
)

test("the eight entry points are there, each with names", () => {
  expect(entries.flatMap(({ specifiers }) => specifiers)).toEqual([
    "tokenrail",
    "tokenrail/runtime",
    "tokenrail/grammar",
    "tokenrail/mask",
    "tokenrail/sampler",
    "tokenrail/adapters",
    "tokenrail/server",
    "tokenrail/browser",
  ])
  for (const { specifiers, names } of entries) expect(names.length, specifiers[0]).toBeGreaterThan(5)
})

test.each(entries)(
  "what $specifiers exports at run time is among its names",
  async ({ specifiers, names }) => {
    const entry = specifiers.at(-1)!.split("/")[1]
    const apart: Record<string, () => Promise<object>> = {
      adapters: () => import("../runtime/adapters/index.ts"),
      browser: () => import("../server/browser/index.ts"),
    }
    const exported = Object.keys(await (apart[entry]?.() ?? import(`../${entry}/index.ts`)))
    expect(exported.length).toBeGreaterThan(0)
    expect(exported.filter((name) => !names.some((found) => found.name === name))).toEqual([])
  },
)

test("every public name has a doc comment, in whole sentences", () => {
  const isContract = (doc: string) => /^[A-Z0-9`−][\s\S]*\.$/.test(doc) && doc.split(/\s+/).length > 2
  expect(names.filter(({ doc }) => !isContract(doc)).map(({ name, file, doc }) => [name, file, doc])).toEqual(
    [],
  )
})

test("no two names have the same heading, but for the two functions `open`", () => {
  const declared = new Set(names.map(({ name, file }) => `${file} ${name}`))
  const headings = new Set(names.map(({ name }) => name.toLowerCase()))
  const opens = [...declared].filter((name) => name.endsWith(" open"))
  expect(opens.length).toBe(2)
  expect(headings.size).toBe(declared.size - 1)
})

// After a change: npm run build && npx vitest run test/api.test.ts --update
test("docs/api.md is current", async () => {
  await expect(printEntries(entries)).toMatchFileSnapshot("../docs/api.md")
})
