/** What happens without any adapter: the process is started with a driver list that is empty. */
import { expect, test } from "vitest"
import { openDevice, openSampler } from "../../runtime/device.ts"

const environment = { VK_DRIVER_FILES: "/nonexistent.json", VK_ICD_FILENAMES: "/nonexistent.json" }
Object.assign(process.env, environment)

// Only Vulkan can be told to find nothing.
test.skipIf(process.platform !== "linux")(
  "without an adapter auto is the CPU and says why, and gpu is refused",
  async () => {
    await expect(openDevice()).rejects.toThrow(/^no WebGPU adapter: a Vulkan driver and its loader/)
    const { sampler, description } = await openSampler("auto")
    expect(sampler.name).toBe("cpu")
    expect(description).toMatch(/^cpu \(no WebGPU adapter/)
    await expect(openSampler("gpu")).rejects.toThrow(/no WebGPU adapter/)
  },
)
