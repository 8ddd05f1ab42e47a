/**
 * Global setup of the GPU tests: finds an adapter before the process that tests is started.
 *
 * A hardware adapter if a child process finds one, else SwiftShader from npm, else none, and the tests are skipped by
 * name. Searching in a child keeps this process free of a driver, whose loader reads the environment only once.
 */
import { spawnSync } from "node:child_process"
import { swiftshaderEnvironment } from "../swiftshader.ts"

/** Name of the adapter that the tests may open; unset when there is none. */
export const AdapterVariable = "TOKENRAIL_TEST_ADAPTER"

const search = `
const { create } = await import("webgpu")
const gpu = create([])
const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" })
const device = await adapter?.requestDevice()
if (device) console.log([adapter.info.vendor, adapter.info.architecture, adapter.info.description].join(" "))
device?.destroy()`

export default function setup(): void {
  const name = findAdapter({})
  if (name) {
    process.env[AdapterVariable] = name
    return
  }
  const environment = swiftshaderEnvironment()
  const software = environment && findAdapter(environment)
  if (!software) {
    console.warn("no WebGPU adapter, hardware or software: the GPU tests are skipped")
    return
  }
  Object.assign(process.env, environment, { [AdapterVariable]: software })
}

function findAdapter(environment: Record<string, string>): string | undefined {
  const env = { ...process.env, ...environment }
  const options = { env, encoding: "utf8", timeout: 30_000 } as const
  const { status, stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", search], options)
  return status === 0 ? stdout.trim() || undefined : undefined
}
