/**
 * Maps values to buckets. Buckets are a grid of 1/32 nat over all values, so the result for a
 * bucket does not depend on where a histogram's window begins. Monotone in the value.
 */
import { Buckets } from "../layout.ts"

export const place = /* wgsl */ `
/** Returns the grid line below a value, in units of 1/32 nat. An integer. */
fn lineOf(value: f32) -> f32 {
  return floor(value * 32.0);
}

/** Returns the bucket, counted from the maximum's down; Reach holds all the rest. */
fn bucketOf(known: Stat, value: f32) -> u32 {
  return u32(clamp(known.top - lineOf(value), 0.0, f32(Reach)));
}

/**
 * Returns 0 if the value is surely kept, 1 if it is in doubt and goes into the slab, and 2 if it is
 * surely dropped.
 */
fn placeOf(known: Stat, value: f32) -> u32 {
  let bucket = bucketOf(known, value);
  if (bucket < known.lo) { return 0u; }
  return select(1u, 2u, bucket > known.hi);
}
`

/**
 * Sums by bucket: first in the memory of the workgroup, then, once for each tile, in the histogram
 * of the row.
 */
export const binning = /* wgsl */ `
var<workgroup> binCounts: array<atomic<u32>, ${Buckets}>;
/** In units of 2^-24, so that 2048 deficits of at most 1/32 in a tile fit a word. */
var<workgroup> binDeficits: array<atomic<u32>, ${Buckets}>;

fn clearBins(thread: u32) {
  for (var i = thread; i < Buckets; i += Threads) {
    atomicStore(&binCounts[i], 0u);
    atomicStore(&binDeficits[i], 0u);
  }
  workgroupBarrier();
}

/**
 * The exponential of a value is that of its bucket's upper edge less this deficit. The deficit is
 * an integer, since WGSL has no float atomics.
 */
fn addToBin(bin: u32, value: f32) {
  let deficit = 1.0 - exp(value - (lineOf(value) + 1.0) * 0.03125);
  atomicAdd(&binCounts[bin], 1u);
  atomicAdd(&binDeficits[bin], u32(clamp(deficit, 0.0, 0.03125) * 16777216.0 + 0.5));
}

fn flushBins(thread: u32, base: u32) {
  workgroupBarrier();
  for (var i = thread; i < Buckets; i += Threads) {
    let count = atomicLoad(&binCounts[i]);
    if (count == 0u) { continue; }
    let deficit = atomicLoad(&binDeficits[i]);
    atomicAdd(&hist[base + i], count);
    atomicAdd(&hist[base + Buckets + i], deficit >> 12u);
    atomicAdd(&hist[base + 2u * Buckets + i], deficit & 4095u);
  }
}
`
