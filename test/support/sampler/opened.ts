/** A suite of GPU tests: skipped by name where there is no adapter, else with a device and a sampler of its own. */
import { afterAll, beforeAll, describe } from "vitest"
import { type Device, openDevice } from "../../../runtime/device.ts"
import { createGpuSampler, type GpuSampler } from "../../../sampler/gpu/sampler.ts"
import { AdapterVariable } from "./adapter.ts"

/** Those of the suite that runs: importers see what is assigned here before its tests. */
export let device: Device
export let gpu: GpuSampler

/** `body` says the tests of the suite `name`, which use `device` and `gpu`. Rows of few tokens take the long way too. */
export function describeGpu(name: string, body: () => void): void {
  const adapter = process.env[AdapterVariable]
  describe.skipIf(!adapter)(`${name} (${adapter ?? "no adapter"})`, () => {
    beforeAll(async () => {
      device = await openDevice()
      gpu = await createGpuSampler(device.device, { shortRows: 0 })
    }, 180_000)
    afterAll(() => {
      gpu.close()
      device.close()
    })
    body()
  })
}
