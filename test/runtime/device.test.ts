/** What happens without any adapter: the driver list is empty. */
import { spawnSync } from "node:child_process"
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

test.skipIf(process.platform !== "linux")(
  "auto writes nothing to stderr where there is no Vulkan loader",
  () => {
    const program = `
    const { openSampler } = await import("./dist/runtime/device.js")
    const { sampler, description } = await openSampler("auto")
    sampler.close()
    console.log(description)`
    const env = { ...process.env, LD_LIBRARY_PATH: undefined }
    const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], {
      env,
      encoding: "utf8",
    })
    expect(stdout).toMatch(/^(cpu \(no WebGPU adapter|gpu)/)
    // A machine with a loader and no driver is one on which the loader itself complains.
    if (stdout.includes("libvulkan")) expect(stderr).toBe("")
  },
)
