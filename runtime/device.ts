/**
 * Opens a GPU in this process, through Dawn's binding for Node.
 *
 * `openDevice` finds an adapter, asks it for the limits that the sampler needs, and returns all
 * objects that have to stay alive together: using a device whose `gpu` object was collected is a
 * segmentation fault. `openSampler` turns the user's choice into a sampler and one line that says
 * which was chosen and why; "auto" never fails, "gpu" never falls back to the CPU.
 */
import { createCpuSampler, createGpuSampler, type Sampler } from "../sampler/index.ts"
import { ModelError } from "./errors.ts"

export type DeviceChoice = "auto" | "gpu" | "cpu"

export interface DeviceOptions {
  /** Whether an adapter that computes on the CPU is accepted. Default true. */
  software?: boolean
  /** Dawn's flags, such as `enable-dawn-features=…`. */
  flags?: readonly string[]
  /** Whether to ask for timestamp queries if the adapter supports them. Used by benchmarks. */
  timestamps?: boolean
  /** Whether a model also runs on the device, so that it gets all that its kernels can use. */
  runsModel?: boolean
}

export interface Device {
  /** Keeps the driver alive. Hold a reference to it while `device` is used. */
  readonly gpu: GPU
  readonly adapter: GPUAdapter
  readonly device: GPUDevice
  /** Vendor, architecture and driver, in one line. */
  readonly info: string
  readonly isSoftware: boolean
  /** Returns why the device can no longer be used, or undefined if it still can. */
  lossReason(): string | undefined
  /**
   * Destroys the device, so that it no longer keeps the process running. Later calls do nothing.
   */
  close(): void
}

// Our kernels write workgroup memory before they read it. Clearing it for them costs a software
// adapter ten times the compile time: 26 s against 2 s for the sampler's six kernels (SwiftShader,
// two cores). Those of a model rely on zeros: its products of 4-bit weights would be wrong.
const ownFlags = ["enable-dawn-features=disable_workgroup_init"]

/** The smallest width of subgroups that a model's kernels compute rightly with. */
const leastSubgroup = 16

/** Limits that a model's kernels use more of than a device has without asking. */
const modelLimits = [
  ...["maxComputeWorkgroupStorageSize", "maxComputeInvocationsPerWorkgroup", "maxComputeWorkgroupSizeX"],
  ...["maxComputeWorkgroupSizeY", "maxComputeWorkgroupSizeZ", "maxComputeWorkgroupsPerDimension"],
  ...["maxStorageBuffersPerShaderStage", "maxBindGroups"],
] as const

/** Opens a device. Throws ModelError with a message that says what is missing. */
export async function openDevice(options: DeviceOptions = {}): Promise<Device> {
  // Without this check Dawn would report the same, and also write a warning to stderr at every
  // start.
  if (options.software === false && !hasVulkanLoader()) {
    throw new ModelError(`no WebGPU adapter: ${vulkanLoader}, the Vulkan loader, is not installed`)
  }
  const { runsModel = false, flags = [] } = options
  const gpu = await createGpu(runsModel ? [...flags] : [...ownFlags, ...flags])
  const adapter = await gpu.requestAdapter({ powerPreference: "high-performance" })
  if (!adapter) throw new ModelError("no WebGPU adapter: a Vulkan driver and its loader have to be installed")
  const info = describeAdapter(adapter)
  const isSoftware = isSoftwareAdapter(adapter)
  if (isSoftware && options.software === false) {
    throw new ModelError(`no WebGPU adapter but a software one (${info})`)
  }
  const limits = ["maxStorageBufferBindingSize", "maxBufferSize", ...(runsModel ? modelLimits : [])] as const
  const device = await adapter.requestDevice({
    requiredLimits: Object.fromEntries(limits.map((name) => [name, adapter.limits[name]])),
    requiredFeatures: featuresOf(adapter, options),
  })
  const opened = new OpenedDevice(gpu, adapter, device, info, isSoftware)
  if (runsModel) opened.watchErrors()
  return opened
}

function featuresOf(
  { features, info }: GPUAdapter,
  { timestamps = false, runsModel = false }: DeviceOptions,
): GPUFeatureName[] {
  const wanted: GPUFeatureName[] = timestamps ? ["timestamp-query"] : []
  if (runsModel) wanted.push("shader-f16")
  // A model's kernels use subgroups if the device has them, and are wrong where these are narrow.
  if (runsModel && (info.subgroupMinSize ?? 0) >= leastSubgroup) wanted.push("subgroups")
  return wanted.filter((name) => features.has(name))
}

class OpenedDevice implements Device {
  readonly gpu: GPU
  readonly adapter: GPUAdapter
  readonly device: GPUDevice
  readonly info: string
  readonly isSoftware: boolean
  private reason: string | undefined

  constructor(gpu: GPU, adapter: GPUAdapter, device: GPUDevice, info: string, isSoftware: boolean) {
    this.gpu = gpu
    this.adapter = adapter
    this.device = device
    this.info = info
    this.isSoftware = isSoftware
    void device.lost.then(({ message }) => {
      this.reason ??= message || "the device was lost"
    })
  }

  /** Counts an error that no call reports as a loss: later results would be wrong. */
  watchErrors(): void {
    this.device.addEventListener("uncapturederror", ({ error }) => {
      this.reason ??= `it reported an error: ${error.message}`
    })
  }

  lossReason(): string | undefined {
    return this.reason
  }

  close(): void {
    if (this.reason === "closed") return
    this.reason = "closed"
    this.device.destroy()
  }
}

/**
 * Returns the factory of adapters. The globals (GPUBufferUsage and others) are set once a process.
 */
async function createGpu(flags: string[]): Promise<GPU> {
  let binding: typeof import("webgpu")
  try {
    binding = await import("webgpu")
  } catch (cause) {
    throw new ModelError(
      "webgpu cannot be loaded: npm install --ignore-scripts webgpu, or choose the device cpu",
      { cause },
    )
  }
  if (!("GPUBufferUsage" in globalThis)) Object.assign(globalThis, binding.globals)
  return binding.create(flags)
}

const vulkanLoader = "libvulkan.so.1"

/**
 * Returns false if this process cannot load the library through which Dawn reaches a GPU on Linux,
 * and true if that is unknown. It asks the dynamic loader to load the library as a Node module.
 * That fails in any case, but the error tells whether the loader found the library.
 */
function hasVulkanLoader(): boolean {
  if (process.platform !== "linux") return true
  try {
    process.dlopen({ exports: {} }, vulkanLoader)
  } catch (error) {
    return !(error as Error).message.includes("No such file or directory")
  }
  return true
}

function describeAdapter({ info }: GPUAdapter): string {
  const parts = [info.vendor, info.architecture, info.device, info.description]
  return parts.filter((part) => part !== "").join(" ")
}

function isSoftwareAdapter({ info }: GPUAdapter): boolean {
  const names = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`
  return info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i.test(names)
}

/** A sampler, and its description for the log. */
export interface OpenedSampler {
  readonly sampler: Sampler
  /** A line such as `cpu (no WebGPU adapter …)` or `gpu (nvidia …)`. */
  readonly description: string
}

/**
 * Opens the sampler of a choice. `auto` takes a hardware GPU if there is one, else the CPU; `gpu`
 * also accepts a software adapter, and throws ModelError if there is none. If a GPU is lost in use,
 * the CPU replaces it and repeats the step. The random numbers are the same, so the tokens are too.
 */
export async function openSampler(
  choice: DeviceChoice,
  log: (line: string) => void = () => {},
): Promise<OpenedSampler> {
  if (choice === "cpu") return { sampler: createCpuSampler(), description: "cpu" }
  let device: Device | undefined
  try {
    device = await openDevice({ software: choice === "gpu" })
    const gpu = await createGpuSampler(device.device)
    return { sampler: new DeviceSampler(device, gpu, log), description: `gpu (${device.info})` }
  } catch (cause) {
    device?.close()
    const { message } = cause as Error
    if (choice === "auto") return { sampler: createCpuSampler(), description: `cpu (${message})` }
    throw cause instanceof ModelError ? cause : new ModelError(`the GPU cannot sample: ${message}`, { cause })
  }
}

class DeviceSampler implements Sampler {
  readonly name = "gpu"
  private readonly device: Device
  private readonly gpu: Sampler
  private readonly log: (line: string) => void
  private substitute: Sampler | undefined

  constructor(device: Device, gpu: Sampler, log: (line: string) => void) {
    this.device = device
    this.gpu = gpu
    this.log = log
  }

  async sample(...step: Parameters<Sampler["sample"]>): ReturnType<Sampler["sample"]> {
    if (this.substitute) return this.substitute.sample(...step)
    try {
      return await this.gpu.sample(...step)
    } catch (error) {
      // The loss is reported asynchronously, possibly after the failure that it caused.
      await new Promise((resolve) => setImmediate(resolve))
      const reason = this.device.lossReason()
      if (reason === undefined || reason === "closed") throw error
      this.log(`device: lost (${reason}), the CPU samples from now on`)
      this.substitute = createCpuSampler()
      return this.substitute.sample(...step)
    }
  }

  close(): void {
    this.gpu.close()
    this.device.close()
  }
}
