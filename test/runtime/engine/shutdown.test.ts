/** A request that the end of its engine cuts off before its answer begins is told so. */
import { expect, test } from "vitest"
import { type Engine, open } from "../../../runtime/index.ts"

const long = "word ".repeat(4_000)

test.each<[string, (engine: Engine, signal?: AbortSignal) => Promise<unknown>]>([
  ["tokenised", (engine, signal) => engine.start(long, { raw: true, signal })],
  ["tokenised alone", (engine, signal) => engine.tokenize(long, { raw: true, signal })],
  ["compiled", (engine, signal) => engine.start("a", { regex: "(a|b){1,300}c", signal })],
  ["searched", (engine, signal) => engine.start("a", { useBeamSearch: true, n: 2, maxTokens: 50, signal })],
  ["scored", (engine, signal) => engine.score("a", ["a text of some tokens"], { signal })],
  [
    "decided",
    (engine, signal) => engine.decide("a", [{ type: "predicate", instructions: "Is it?" }], { signal }),
  ],
])("a request that is being %s when the engine closes", async (_, ask) => {
  const engine = await open({ device: "cpu", slots: 1 })
  const { signal, abort } = steered()
  const asked = ask(engine)
  const left = ask(engine, signal)
  const outcomes = Promise.allSettled([asked, left])
  await new Promise((resolve) => setImmediate(resolve))
  abort()
  await engine.close()
  expect(await outcomes).toMatchObject([
    { status: "rejected", reason: { code: "shutting_down" } },
    { status: "rejected", reason: { name: "AbortError" } },
  ])
})

function steered(): { signal: AbortSignal; abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
