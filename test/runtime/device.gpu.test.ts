/** Opening, losing and closing real devices, hardware or software. */
import { describe, expect, test } from "vitest"
import { openDevice, openSampler } from "../../runtime/device.ts"
import { rowOf } from "../support/sampler/rows.ts"

const adapter = process.env.TOKENRAIL_TEST_ADAPTER
const logits = Float32Array.of(0.5, 3, 1, 2.5)
const rows = [rowOf(4, { temperature: 0 }), rowOf(4, { seed: 5, topP: 0.9 })]

describe.skipIf(!adapter)(`device (${adapter ?? "no adapter"})`, () => {
  test("opens with the adapter's own limits and closes twice", async () => {
    const opened = await openDevice()
    expect(opened.info).not.toBe("")
    expect(opened.lossReason()).toBeUndefined()
    expect(opened.device.limits.maxBufferSize).toBe(opened.adapter.limits.maxBufferSize)
    opened.close()
    opened.close()
    expect(opened.lossReason()).toBe("closed")
  })

  test("a software adapter is refused by those who want hardware, and does for the device gpu", async () => {
    const { isSoftware, close } = await openDevice().then((opened) => {
      opened.close()
      return opened
    })
    if (isSoftware)
      await expect(openDevice({ software: false })).rejects.toThrow(/no WebGPU adapter but a software one/)
    expect(close).toBeDefined()
    const auto = await openSampler("auto")
    expect(auto.sampler.name).toBe(isSoftware ? "cpu" : "gpu")
    expect(auto.description).toMatch(isSoftware ? /^cpu \(no WebGPU adapter but a software one/ : /^gpu \(/)
    auto.sampler.close()
    const cpu = await openSampler("cpu")
    expect(cpu.description).toBe("cpu")
  })

  test("a device that is lost is replaced by the CPU, with one log line and the same tokens", async () => {
    const lines: string[] = []
    const { sampler, description } = await openSampler("gpu", (line) => lines.push(line))
    expect(description).toMatch(/^gpu \(/)
    const before = await sampler.sample(logits, 4, rows)
    expect(before[0].token).toBe(1)
    ;(sampler as unknown as { device: { device: GPUDevice } }).device.device.destroy()
    const after = await sampler.sample(logits, 4, rows)
    expect(after).toEqual(before)
    expect(await sampler.sample(logits, 4, rows)).toEqual(before)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatch(/^device: lost \(.+\), the CPU samples from now on$/)
    sampler.close()
  })

  test("twenty devices open and close", async () => {
    for (let count = 0; count < 20; count++) (await openDevice()).close()
  })
})
