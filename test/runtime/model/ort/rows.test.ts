import { Tensor } from "onnxruntime-node"
import { expect, test } from "vitest"
import type { CacheArray, TensorConstructor } from "../../../../runtime/model/ort/graph.ts"
import { HostMemory } from "../../../../runtime/model/ort/host.ts"
import { CacheRows } from "../../../../runtime/model/ort/rows.ts"
import type { CacheShape } from "../../../../runtime/model/ort/signature.ts"
import { KeptStates } from "../../../../runtime/model/ort/states.ts"

const slotCount = 3
const [heads, dim] = [2, 4]

function rowsOf(type: "float32" | "float16"): CacheRows<CacheArray> {
  const caches = ["key", "value"].map(
    (part): CacheShape => ({
      ...{
        past: `past_key_values.0.${part}`,
        present: `present.0.${part}`,
        fresh: `present.0.${part}.fresh`,
      },
      ...{ type, state: null, heads, dim },
    }),
  )
  const kept = new KeptStates<CacheArray>(slotCount, 0)
  const memory = new HostMemory(Tensor as unknown as TensorConstructor)
  return new CacheRows(caches, memory, { slotCount, contextLength: 128, layout: "aligned", kept })
}

/** New places of one row: all of `value`, but one number. */
function outputs(type: "float32" | "float16", count: number, value: number, other = value): Tensor[] {
  return [value, other].map((last) => {
    const size = heads * count * dim
    const data = type === "float32" ? new Float32Array(size) : new Uint16Array(size)
    data.fill(value)
    data[size - 1] = last
    return { data, dims: [1, heads, count, dim] } as unknown as Tensor
  })
}

test.each([
  ["float32", 1, Number.NaN],
  ["float32", 1, Number.POSITIVE_INFINITY],
  ["float16", 0x3c00, 0x7c00],
] as const)(
  "%s: a token that is no number leaves nothing in the cache, and its slot is broken until it is empty",
  (type, one, wrong) => {
    const rows = rowsOf(type)
    rows.append([{ slot: 0, count: 5, row: 0, at: 0 }], outputs(type, 5, one))
    rows.append([{ slot: 1, count: 5, row: 0, at: 0 }], outputs(type, 5, one, wrong))
    rows.append([{ slot: 1, count: 60, row: 0, at: 0 }], outputs(type, 60, one))
    expect([0, 1, 2].map((slot) => rows.isBroken(slot))).toEqual([false, true, false])
    rows.copy(1, 2, 3)
    expect(rows.isBroken(2)).toBe(true)
    for (const capacity of [64, 128])
      for (const cache of [0, 1])
        for (const value of rows.past(cache, capacity, 0, rows.slotsOf(capacity).length).tensor
          .data as CacheArray)
          expect([0, one]).toContain(value)
    for (const slot of [1, 2]) rows.truncate(slot, 0)
    expect([0, 1, 2].map((slot) => rows.isBroken(slot))).toEqual([false, false, false])
  },
)
