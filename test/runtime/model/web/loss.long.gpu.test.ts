/** A device that is lost in the middle of a step: no logits and no token of it come out. */

import { mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openDevice } from "../../../../runtime/device.ts"
import { readModelDirectory } from "../../../../runtime/model/folder.ts"
import type { Answer } from "../../../../runtime/model/web/protocol.ts"
import { Serving } from "../../../../runtime/model/web/serving.ts"
import { openWebSession } from "../../../../runtime/model/web/session.ts"
import { TrafficCounter } from "../../../../runtime/model/web/traffic.ts"
import { GpuPipeline } from "../../../../sampler/gpu/pipeline.ts"
import { writeTinyModel } from "../../../support/onnx.ts"
import { AdapterVariable } from "../../../support/sampler/adapter.ts"

test.skipIf(!process.env[AdapterVariable])("an error that no call reports counts as a loss", async () => {
  const device = await openDevice({ runsModel: true })
  device.device.createBuffer({ size: 16, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.STORAGE })
  await device.device.queue.onSubmittedWorkDone()
  expect(device.lossReason()).toMatch(/^it reported an error: /)
  device.close()
})

test.skipIf(!process.env[AdapterVariable])(
  "a lost device gives no answer, and one error",
  async () => {
    const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")), { isGrouped: true })
    const { graphPath, config } = await readModelDirectory(directory)
    // The tiny graph does not need cleared memory, and kernels compile ten times faster without it.
    const flags = ["enable-dawn-features=disable_workgroup_init"]
    const device = await openDevice({ runsModel: true, flags })
    const traffic = new TrafficCounter()
    const options = { graphPath, config, slotCount: 2, contextLength: 512, batching: "exact" } as const
    const { session, memory } = await openWebSession(device, options)
    const pipeline = await GpuPipeline.create(device.device)
    const answers: Answer[] = []
    const errors: string[] = []
    const serving = new Serving(
      { device, session, memory, pipeline, traffic },
      { post: (answer) => answers.push(answer), fail: ({ message }) => errors.push(message) },
    )
    const feeds = [{ slot: 0, start: 0, tokens: [1, 2, 3], logitsCount: 1 }]
    const place = (buffer: number) => ({ buffer, format: "float32", stride: 261 }) as const
    await serving.handle({ kind: "forward", id: 1, feeds, logits: 1 })
    await serving.handle({ kind: "row", id: 2, place: place(1), index: 0, width: 261 })
    expect(answers.map(({ kind }) => kind)).toEqual(["forward", "row"])
    const running = serving.handle({ kind: "forward", id: 3, feeds, logits: 2 })
    device.device.destroy()
    await running
    await serving.handle({ kind: "row", id: 4, place: place(1), index: 0, width: 261 })
    expect(answers.length).toBe(2)
    expect(errors).toEqual([expect.stringMatching(/^the GPU cannot be used any more: /)])
    device.close()
  },
  120_000,
)
