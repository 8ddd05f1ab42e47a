/**
 * `hist`: makes the histogram of the rows for which `scan` has not made it: counts and masses of
 * the values by their distance from the maximum.
 *
 * Integer sums are the same in any order. Launch: (tiles, rows) workgroups of 256 threads, indirect
 * if all rows started warm. Reads logits, atlas, rows, edits, stats; adds to hist [rows, 3,
 * Buckets].
 */
import { Threads } from "../layout.ts"
import { common, tileLoader } from "./common.ts"
import { binning, place } from "./place.ts"

export const hist = /* wgsl */ `
${common}
${tileLoader}
${place}
${binning}
var<workgroup> loaded: Stat;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let row = rows[group.y];
  if (thread == 0u) { loaded = stats[group.y]; }
  let known = workgroupUniformLoad(&loaded);
  if (known.phase != NeedsHist) { return; }
  clearBins(thread);
  prepareTile(row, tile, thread);
  for (var i = 0u; i < 8u; i++) {
    let bits = load(row, tile, i * Threads + thread);
    if (bits >= Bad) { continue; }
    let value = bitcast<f32>(bits);
    if (value >= known.threshold) { addToBin(bucketOf(known, value), value); }
  }
  flushBins(thread, group.y * HistWords);
}
`
