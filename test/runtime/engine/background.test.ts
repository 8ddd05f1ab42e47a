import { expect, test } from "vitest"
import { open } from "../../../runtime/index.ts"

test("answers of the background begin when no other request waits", async () => {
  const engine = await open({ device: "cpu", slots: 1 })
  const ended: string[] = []
  const begin = async (name: string, background: boolean): Promise<void> => {
    const generation = await engine.start(name, { maxTokens: 4, seed: 1n, background, n: 2 })
    void generation.result.then(() => ended.push(name))
  }
  for (const name of ["back 1", "front 1", "back 2", "front 2"]) await begin(name, name.startsWith("back"))
  while (ended.length < 4) await new Promise((resolve) => setTimeout(resolve, 5))
  // The first one had the slot, and its second answer waited.
  expect(ended.filter((name) => name.startsWith("front"))).toEqual(ended.slice(0, 2))
  expect(ended.slice(2)).toEqual(["back 1", "back 2"])
  await engine.close()
})

test("answers of the background take no place in the queue from others", async () => {
  const engine = await open({ device: "cpu", slots: 1, maxWaiting: 1 })
  const options = { maxTokens: 4, ignoreEos: true }
  const back = await engine.start("a", { ...options, background: true, n: 2 })
  await expect(engine.start("b", { ...options, background: true })).rejects.toMatchObject({
    code: "queue_full",
  })
  const front = await engine.start("c", options)
  await expect(engine.start("d", options)).rejects.toMatchObject({ code: "queue_full" })
  for (const { finishReason } of [await front.result, await back.result].flatMap((each) => each.choices))
    expect(finishReason).toBe("length")
  await engine.close()
})
