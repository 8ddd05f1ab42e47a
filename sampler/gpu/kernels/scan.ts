/**
 * `scan`: reads a tile once. Finds the arg-max of the value (greedy rows) or of value plus noise
 * (rows without filters), the maximum, mean and squares for top-nσ, and exponentials for mirostat.
 * For rows that start warm it also fills the histogram.
 *
 * Launch: (tiles, rows) workgroups of 256 threads. Reads logits [R, V], atlas [slots, W], rows,
 * edits; writes partials [rows, tiles]; adds to hist.
 */
import { Threads } from "../layout.ts"
import { argmax, common, floatSum, tileLoader } from "./common.ts"
import { binning, place } from "./place.ts"

export const scan = /* wgsl */ `
${common}
${tileLoader}
${argmax}
${floatSum}
${place}
${binning}
var<workgroup> maxKeys: array<u32, ${Threads}>;
var<workgroup> counts: array<u32, ${Threads}>;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let row = rows[group.y];
  prepareTile(row, tile, thread);
  let isDrawn = (row.flags & (Greedy | Threshold | TopK | TopP | Hot)) == 0u;
  var values: array<u32, 8>;
  var bestScore = 0.0;
  var bestKey = 0u;
  var bestId = NoToken;
  var maxKey = 0u;
  var state = 0u;
  for (var i = 0u; i < 8u; i++) {
    let local = i * Threads + thread;
    let bits = load(row, tile, local);
    values[i] = bits;
    if (bits == Bad) { state |= 1u << 16u; continue; }
    if (bits == Dead) { continue; }
    state += 1u;
    let value = bitcast<f32>(bits);
    maxKey = max(maxKey, keyOf(value));
    var score = value;
    if (isDrawn) {
      // The noise is below 22.875, so a value that is further below the best score cannot win.
      if (bestId != NoToken && value + 22.875 <= bestScore) { continue; }
      score += gumbel(tokenBits(tile * Tile + local, row));
    }
    let key = keyOf(score + 0.0);
    if (key > bestKey) {
      bestKey = key;
      bestScore = score;
      bestId = tile * Tile + local;
    }
  }
  bestKeys[thread] = bestKey;
  bestIds[thread] = bestId;
  maxKeys[thread] = maxKey;
  counts[thread] = state;
  workgroupBarrier();
  for (var step = Threads / 2u; step > 0u; step /= 2u) {
    if (thread < step) {
      let other = thread + step;
      keepBetter(thread, other);
      maxKeys[thread] = max(maxKeys[thread], maxKeys[other]);
      counts[thread] += counts[other];
    }
    workgroupBarrier();
  }
  // A tile has at most 2048 values, so the count and the number of NaNs share a word.
  let total = counts[0];
  let n = total & 0xffffu;
  var mean = 0.0;
  var squares = 0.0;
  if ((row.flags & Sigma) != 0u) {
    var sum = 0.0;
    for (var i = 0u; i < 8u; i++) { if (values[i] < Bad) { sum += bitcast<f32>(values[i]); } }
    mean = sumFloats(thread, sum) / f32(max(n, 1u));
    var square = 0.0;
    for (var i = 0u; i < 8u; i++) {
      if (values[i] < Bad) { let d = bitcast<f32>(values[i]) - mean; square += d * d; }
    }
    squares = sumFloats(thread, square);
  }
  if ((row.flags & Mirostat) != 0u) {
    let tileMax = valueOf(maxKeys[0]);
    var sum = 0.0;
    for (var i = 0u; i < 8u; i++) { if (values[i] < Bad) { sum += exp(bitcast<f32>(values[i]) - tileMax); } }
    mean = sumFloats(thread, sum);
  }
  if ((row.flags & Warm) != 0u) {
    let edge = lineOf(row.sigmas) + WarmMargin;
    clearBins(thread);
    for (var i = 0u; i < 8u; i++) {
      if (values[i] >= Bad) { continue; }
      let value = bitcast<f32>(values[i]);
      addToBin(u32(clamp(edge - lineOf(value), 0.0, f32(Buckets - 1u))), value);
    }
    flushBins(thread, group.y * HistWords);
  }
  if (thread == 0u) {
    partials[group.y * shape.tiles + tile] =
      Partial(bestKeys[0], bestIds[0], maxKeys[0], n, total >> 16u, mean, squares, 0u);
  }
}
`
