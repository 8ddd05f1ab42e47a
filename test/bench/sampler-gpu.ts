/**
 * What a step costs on the device: microseconds by timestamp queries, launches, bytes up, and the ratio to what the same
 * adapter needs to read the logits once, measured by a kernel that does only that.
 *
 * Arguments: numbers of rows (default 1,8,32,64,128,256), width (default 128256). A software adapter proves nothing about
 * speed: there, ask for few rows. Run like `sampler.ts`, in an environment in which an adapter is found.
 */
import { performance } from "node:perf_hooks"
import { openDevice } from "../../runtime/device.ts"
import { createGpuSampler } from "../../sampler/index.ts"
import { maskOf, normalOf, type RowOptions, randomOf, rowOf } from "../sampler/rows.ts"

const batches = (process.argv[2] ?? "1,8,32,64,128,256").split(",").map(Number)
const width = Number(process.argv[3] ?? 128_256)
const runs = 20

const opened = await openDevice({
  timestamps: true,
  flags: ["disable-dawn-features=timestamp_quantization"],
})
const { device } = opened
if (!device.features.has("timestamp-query")) throw new Error(`no timestamp queries on ${opened.info}`)
const querySet = device.createQuerySet({ type: "timestamp", count: 2 })
const resolved = device.createBuffer({
  size: 16,
  usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
})
const readable = device.createBuffer({ size: 16, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ })
const timestampWrites = { querySet, beginningOfPassWriteIndex: 0, endOfPassWriteIndex: 1 }
const sampler = await createGpuSampler(device, { timestampWrites, shortRows: 0 })

/** Microseconds of the last pass. */
async function lastPass(): Promise<number> {
  const encoder = device.createCommandEncoder()
  encoder.resolveQuerySet(querySet, 0, 2, resolved, 0)
  encoder.copyBufferToBuffer(resolved, 0, readable, 0, 16)
  device.queue.submit([encoder.finish()])
  await readable.mapAsync(GPUMapMode.READ)
  const [begin, end] = new BigUint64Array(readable.getMappedRange())
  readable.unmap()
  return Number(end - begin) / 1000
}

/** Reads every word once; the sum keeps the reads from being removed. */
const reader = /* wgsl */ `
@group(0) @binding(0) var<storage, read> words: array<vec4u>;
@group(0) @binding(1) var<storage, read_write> sums: array<u32>;
@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u, @builtin(local_invocation_index) thread: u32) {
  var sum = vec4u(0u);
  let start = (group.y * groups.x + group.x) * 512u + thread;
  sum = words[start] ^ words[start + 256u];
  sums[(group.y * groups.x + group.x) * 256u + thread] = sum.x ^ sum.y ^ sum.z ^ sum.w;
}`

async function readTime(rowCount: number): Promise<number> {
  const groups = Math.ceil(width / 2048)
  const words = device.createBuffer({ size: 8192 * groups * rowCount, usage: GPUBufferUsage.STORAGE })
  const sums = device.createBuffer({ size: 1024 * groups * rowCount, usage: GPUBufferUsage.STORAGE })
  const module = device.createShaderModule({ code: reader })
  const pipeline = await device.createComputePipelineAsync({
    layout: "auto",
    compute: { module, entryPoint: "main" },
  })
  const group = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: [words, sums].map((buffer, binding) => ({ binding, resource: { buffer } })),
  })
  const times: number[] = []
  for (let run = 0; run < runs; run++) {
    const encoder = device.createCommandEncoder()
    const pass = encoder.beginComputePass({ timestampWrites })
    pass.setPipeline(pipeline)
    pass.setBindGroup(0, group)
    pass.dispatchWorkgroups(groups, rowCount)
    pass.end()
    device.queue.submit([encoder.finish()])
    times.push(await lastPass())
  }
  words.destroy()
  sums.destroy()
  return median(times)
}

const normal = normalOf(randomOf(1))
const distinct = 8
const sources = Array.from({ length: distinct }, () => Float32Array.from({ length: width }, normal))
const half = maskOf(
  width,
  Array.from({ length: width }, (_, id) => id).filter((id) => id % 2 === 0),
)
const prompt = Array.from({ length: 1000 }, (_, at) => (at * 127) % width)
const cases: [string, RowOptions][] = [
  ["greedy", { temperature: 0 }],
  ["temperature", { temperature: 0.8 }],
  ["min-p .05", { minP: 0.05 }],
  ["k 50, p .9", { topK: 50, topP: 0.9 }],
  ["p .9", { topP: 0.9 }],
  ["greedy, half masked", { temperature: 0, mask: half }],
  ["greedy, 1000 edits", { temperature: 0, repetitionPenalty: 1.2, prompt }],
]

console.log(`${opened.info}, V ${width}, N(0, 1); medians of ${runs} runs`)
console.log("rows  case                    µs  ratio  launches  bytes up  wall ms  redone")
for (const rowCount of batches) {
  const once = await readTime(rowCount)
  console.log(`${String(rowCount).padStart(4)}  one read          ${once.toFixed(1).padStart(8)}`)
  const logits = new Float32Array(rowCount * width)
  for (let row = 0; row < rowCount; row++) logits.set(sources[row % distinct], row * width)
  for (const [name, options] of cases) {
    const base = rowOf(width, options)
    const times: number[] = []
    const walls: number[] = []
    let before = { ...sampler.stats }
    for (let run = 0; run < runs; run++) {
      before = { ...sampler.stats }
      const rows = Array.from({ length: rowCount }, (_, row) => {
        return { ...base, ...(base.mask ? { maskId: 1 } : {}), logitsRow: row, position: 100 * run + row }
      })
      const start = performance.now()
      await sampler.sample(logits, width, rows)
      walls.push(performance.now() - start)
      times.push(await lastPass())
    }
    const us = median(times)
    const { dispatches, uploadedBytes, redoneRows } = sampler.stats
    // Without the logits: with a model on the same device they are there already.
    const bytes = uploadedBytes - before.uploadedBytes - 4 * width * rowCount
    const cells = [
      us.toFixed(1).padStart(8),
      (us / once).toFixed(2).padStart(6),
      String(dispatches - before.dispatches).padStart(9),
      String(bytes).padStart(9),
      median(walls).toFixed(1).padStart(8),
      String(redoneRows - before.redoneRows).padStart(7),
    ]
    console.log(`${String(rowCount).padStart(4)}  ${name.padEnd(19)}${cells.join(" ")}`)
  }
}
sampler.close()
opened.close()

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
