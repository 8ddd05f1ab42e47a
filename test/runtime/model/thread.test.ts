import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Worker } from "node:worker_threads"
import { expect, test } from "vitest"
import { hostLogits, type StepLogits } from "../../../runtime/model/logits.ts"
import type { Feed } from "../../../runtime/model/model.ts"
import { ModelThread } from "../../../runtime/model/thread.ts"
import { writeTinyModel } from "../../support/onnx.ts"

type Asked = { readonly kind: "forward"; readonly id: number; readonly feeds: readonly Feed[] }

/** A client that does not wait for a restart, as the sampler of the model runtime web. */
class Impatient extends ModelThread<Asked, Asked> {
  readonly description = ""
  readonly contextLength = 512
  readonly slotCount = 1

  async forward(feeds: readonly Feed[]): Promise<StepLogits> {
    await this.ask<"forward">({ kind: "forward", feeds })
    return hostLogits(new Float32Array(this.width), this.width)
  }
}

test("a question to a new thread that cannot load its graph is rejected", async () => {
  const directory = writeTinyModel(mkdtempSync(join(tmpdir(), "tiny-")))
  const graphPath = join(directory, "onnx/model.onnx")
  const data = {
    ...{ graphPath, provider: "cpu", threads: 1, slotCount: 1, contextLength: 512 },
    ...{ batching: "exact", readsAhead: false },
    config: JSON.parse(readFileSync(join(directory, "config.json"), "utf8")),
  }
  const thread = new Impatient({ path: "dist/runtime/model/ort/worker.js", data, graphPath })
  await thread.start()
  rmSync(graphPath)
  const { worker } = thread as unknown as { worker: Worker }
  const ended = once(worker, "error")
  worker.postMessage(null)
  await ended
  expect([thread.isRestarting, thread.epoch]).toEqual([true, 1])
  await expect(thread.forward([])).rejects.toThrow(/could not be started again/)
  expect(thread.isDead).toBe(true)
  await thread.close()
})
