/**
 * `hist`: counts and masses of the values by their distance from the maximum. Level 0 has buckets of 1/32 nat; level 1
 * divides the buckets in doubt once more, for rows where they hold more tokens than the slab.
 *
 * Masses are 24-bit integers relative to the bucket's upper end, summed as two 12-bit halves: integer sums are the same
 * in any order, and floats have no atomics. Launch: (tiles, rows) workgroups of 256 threads. Reads logits, atlas, rows,
 * edits, stats; adds to hist [rows, 2, 3, Buckets].
 */
import { HistWords, Threads } from "../layout.ts"
import { common, tileLoader } from "./common.ts"
import { place } from "./place.ts"

export const hist = /* wgsl */ `
${common}
${tileLoader}
${place}
var<workgroup> bins: array<atomic<u32>, ${HistWords}>;
var<workgroup> loaded: Stat;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let row = rows[group.y];
  if (thread == 0u) { loaded = stats[group.y]; }
  let known = workgroupUniformLoad(&loaded);
  if (known.phase != NeedsLevel0 && known.phase != NeedsLevel1) { return; }
  for (var i = thread; i < HistWords; i += Threads) { atomicStore(&bins[i], 0u); }
  workgroupBarrier();
  prepareTile(row, tile, thread);
  for (var i = 0u; i < 8u; i++) {
    let bits = load(row, tile, i * Threads + thread);
    if (bits >= Bad) { continue; }
    let value = bitcast<f32>(bits);
    if (value < known.threshold) { continue; }
    var bucket = bucketOf(known, value);
    var above = f32(bucket) * 0.03125;
    if (known.phase == NeedsLevel1) {
      if (bucket < known.lo || bucket > known.hi) { continue; }
      bucket = subBucketOf(known, value);
      above = f32(known.lo) * 0.03125;
    }
    let mass = min(16777215u, u32(exp(value - known.zmax + above) * 16777216.0));
    atomicAdd(&bins[bucket], 1u);
    atomicAdd(&bins[Buckets + bucket], mass >> 12u);
    atomicAdd(&bins[2u * Buckets + bucket], mass & 4095u);
  }
  workgroupBarrier();
  let base = (2u * group.y + select(0u, 1u, known.phase == NeedsLevel1)) * HistWords;
  for (var i = thread; i < HistWords; i += Threads) {
    let sum = atomicLoad(&bins[i]);
    if (sum != 0u) { atomicAdd(&hist[base + i], sum); }
  }
}
`
