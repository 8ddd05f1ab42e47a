/**
 * What a step costs on the device: microseconds by timestamp queries, launches, bytes up, and the ratio to what the same
 * adapter needs to read the logits once, measured by a kernel that does only that. The tokens of some rows are compared
 * with the CPU's.
 *
 * Arguments: numbers of rows (default 1,8,32,64,128,256; 1,8 on a software adapter, whose times say nothing), width
 * (default 128256). `sampler.ts` runs it in an environment in which an adapter is found.
 */
import { performance } from "node:perf_hooks"
import { openDevice } from "../../runtime/device.ts"
import { Selector } from "../../sampler/fast/select.ts"
import { createGpuSampler } from "../../sampler/index.ts"
import { maskOf, normalOf, type RowOptions, randomOf, rowOf } from "../support/sampler/rows.ts"

const width = Number(process.argv[3] ?? 128_256)

const opened = await openDevice({
  timestamps: true,
  flags: ["disable-dawn-features=timestamp_quantization"],
})
const { device } = opened
const batches = (process.argv[2] ?? (opened.isSoftware ? "1,8" : "1,8,32,64,128,256")).split(",").map(Number)
const runs = opened.isSoftware ? 5 : 20
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
const few = Array.from({ length: 64 }, (_, at) => Math.floor((at * width) / 64))
interface Case {
  readonly name: string
  readonly options: RowOptions
  readonly launches: number
  /** At most so many times one read of the logits, from 32 rows up. */
  readonly ratio?: number
}
const cases: readonly Case[] = [
  { name: "greedy", options: { temperature: 0 }, launches: 2, ratio: 1.3 },
  { name: "temperature", options: { temperature: 0.8 }, launches: 2, ratio: 1.6 },
  { name: "min-p .05", options: { minP: 0.05 }, launches: 4, ratio: 2.6 },
  { name: "k 50, p .9", options: { topK: 50, topP: 0.9 }, launches: 7, ratio: 4 },
  { name: "p .9", options: { topP: 0.9 }, launches: 7, ratio: 5 },
  { name: "k 20000", options: { topK: 20_000 }, launches: 7 },
  { name: "greedy, half masked", options: { temperature: 0, mask: half }, launches: 2 },
  { name: "greedy, 1000 edits", options: { temperature: 0, repetitionPenalty: 1.2, prompt }, launches: 2 },
  { name: "p .9, 64 legal", options: { topP: 0.9, mask: few }, launches: 1 },
  { name: "typical .9, 64 legal", options: { typicalP: 0.9, mask: few }, launches: 1 },
  { name: "greedy, 5 logprobs", options: { temperature: 0, logprobs: 5 }, launches: 4 },
]

console.log(`${opened.info}, V ${width}, N(0, 1); medians of ${runs} runs`)
if (opened.isSoftware)
  console.log("software adapter: launches, bytes and tokens count, the times mean nothing")
console.log("rows  case                      µs  ratio  launches  bytes up  wall ms  redone  not the CPU's")
const selector = new Selector()
for (const rowCount of batches) {
  const once = await readTime(rowCount)
  console.log(`${String(rowCount).padStart(4)}  one read            ${once.toFixed(1).padStart(8)}`)
  const logits = new Float32Array(rowCount * width)
  for (let row = 0; row < rowCount; row++) logits.set(sources[row % distinct], row * width)
  for (const { name, options, launches, ratio } of cases) {
    const base = rowOf(width, options)
    const times: number[] = []
    const walls: number[] = []
    let before = { ...sampler.stats }
    let different = 0
    for (let run = 0; run < runs; run++) {
      before = { ...sampler.stats }
      const rows = Array.from({ length: rowCount }, (_, row) => {
        return {
          ...base,
          ...(base.mask ? { maskId: options.mask === few ? 2 : 1 } : {}),
          logitsRow: row,
          position: 100 * run + row,
        }
      })
      const start = performance.now()
      const found = await sampler.sample(logits, width, rows)
      walls.push(performance.now() - start)
      times.push(await lastPass())
      if (run > 0) continue
      for (const [index, row] of rows.slice(0, distinct).entries()) {
        if (selector.select(sources[index], row).token !== found[index].token) different++
      }
    }
    const us = median(times)
    const { dispatches, uploadedBytes, redoneRows } = sampler.stats
    // Without the logits: with a model on the same device they are there already.
    const bytes = uploadedBytes - before.uploadedBytes - 4 * width * rowCount
    const editBytes = options.prompt ? 16 * rowCount * new Set(options.prompt).size : 0
    const rareBytes = options.typicalP === undefined ? 0 : 32 * rowCount
    const askBytes = options.logprobs === undefined ? 0 : 64 * rowCount
    const bars = [
      dispatches - before.dispatches <= launches ? "" : `launches > ${launches}`,
      bytes <= 64 * rowCount + 32 + editBytes + askBytes + rareBytes ? "" : "bytes > 64 a row and edits",
      opened.isSoftware || rowCount < 32 || !ratio || us / once <= ratio ? "" : `ratio > ${ratio}`,
    ]
    const cells = [
      us.toFixed(1).padStart(8),
      (us / once).toFixed(2).padStart(6),
      String(dispatches - before.dispatches).padStart(9),
      String(bytes).padStart(9),
      median(walls).toFixed(1).padStart(8),
      String(redoneRows - before.redoneRows).padStart(7),
      String(different).padStart(7),
      bars.some((bar) => bar !== "") ? ` NOT MET: ${bars.filter((bar) => bar !== "").join(", ")}` : "",
    ]
    console.log(`${String(rowCount).padStart(4)}  ${name.padEnd(21)}${cells.join(" ")}`)
  }
}
sampler.close()
opened.close()

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]
}
