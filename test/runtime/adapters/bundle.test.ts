/** What a page ships that uses an adapter over masks: nothing of Node, and little code. */
import { build } from "vite"
import { describe, expect, test } from "vitest"

const entry = "\0entry"

/** The script of a page that uses `names` of the adapters, without its comments and spaces. */
async function bundle(names: string): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "silent",
    plugins: [
      {
        name: "entry",
        resolveId: (id) => (id === "entry" ? entry : null),
        load: (id) => (id === entry ? `export { ${names} } from "/runtime/adapters/index.ts"` : null),
      },
    ],
    build: {
      write: false,
      rolldownOptions: { input: "entry", preserveEntrySignatures: "strict", output: { format: "es" } },
    },
  })
  if (!("output" in output)) throw new Error("the bundle is not one output")
  return output.output.map((part) => ("code" in part ? part.code : "")).join("")
}

/** The bounds are some 20 % above today's sizes. */
describe.each([
  ["webllmProcessor", 10_000],
  ["transformersProcessor, transformersVocabulary", 23_000],
])("%s", (names, bound) => {
  test(`is a bundle of at most ${bound} bytes without a module of Node`, async () => {
    const code = await bundle(names)
    expect(code.length).toBeGreaterThan(1_000)
    expect(code.length).toBeLessThan(bound)
    expect(code).not.toMatch(/["']node:|__vite-browser-external|\bprocess\.|\bBuffer\b/)
  })
})
