/**
 * Graphs that are built of GGUF files: they pass the trial, and have the logits of the CPU. With
 * `accuracy_level` 4 the CPU rounds activations to 8 bits, and the device does not, so the CPU gets
 * the graph without it.
 */

import { readFileSync, writeFileSync } from "node:fs"
import { afterAll, describe, expect, test } from "vitest"
import { type Device, openDevice } from "../../../../runtime/device.ts"
import { readModelDirectory } from "../../../../runtime/model/folder.ts"
import type { Feed } from "../../../../runtime/model/model.ts"
import { distance } from "../../../../runtime/model/ort/layout.ts"
import { openWebSession } from "../../../../runtime/model/web/session.ts"
import { TrafficCounter } from "../../../../runtime/model/web/traffic.ts"
import { tryWebSession } from "../../../../runtime/model/web/trial.ts"
import { buildTiny } from "../../../support/builtmodels.ts"
import { openGraph } from "../../../support/ortsession.ts"
import { AdapterVariable } from "../../../support/sampler/adapter.ts"

/** Returns a graph whose products take activations as they are. */
function exact(graph: Buffer): Buffer {
  const [name, field] = [Buffer.from("accuracy_level"), Buffer.of(0x18, 4)]
  let count = 0
  for (let at = graph.indexOf(name); at >= 0; at = graph.indexOf(name, at + 1)) {
    const place = at + name.length
    expect(graph.subarray(place, place + 2)).toEqual(field)
    graph[place + 1] = 0
    count++
  }
  expect(count).toBeGreaterThan(0)
  return graph
}

describe.skipIf(!process.env[AdapterVariable])("built graphs on the device of the sampler", () => {
  let device: Device | undefined
  afterAll(() => device?.close())

  test("a Llama of 4 bits", async () => {
    device ??= await openDevice({ runsModel: true })
    const traffic = new TrafficCounter()
    const { folder } = await buildTiny("llama", { dtype: "q4", provider: "web" })
    const { graphPath, embeddingPath, config } = await readModelDirectory(folder)
    const room = { slotCount: 3, contextLength: 128 }
    const options = { graphPath, embeddingPath, config, ...room, batching: "exact" } as const
    const { session, memory } = await openWebSession(device, options)
    await tryWebSession(session, traffic, room)
    writeFileSync(graphPath, exact(readFileSync(graphPath)))
    const host = await openGraph(folder, { ...room, isSlim: false })
    const token = (slot: number, at: number) => (31 * slot + 7 * at + 3) % 200
    const compare = async (feeds: Feed[]): Promise<void> => {
      const expected = (await host.forward(feeds)).slice()
      const found = await memory.readLogits(await session.forward(feeds))
      expect(distance(expected, found)).toBeLessThan(1e-4)
    }
    const lengths = [3, 20, 40]
    const feed = (slot: number, start: number, count: number): Feed => ({
      ...{ slot, start, logitsCount: 1 },
      tokens: Array.from({ length: count }, (_, at) => token(slot, start + at)),
    })
    await compare(lengths.map((length, slot) => feed(slot, 0, length)))
    for (let step = 0; step < 3; step++)
      await compare(lengths.map((length, slot) => feed(slot, length + step, 1)))
    await session.close()
  }, 200_000)
})
