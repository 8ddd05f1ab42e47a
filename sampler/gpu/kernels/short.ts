/**
 * `short`: rows of few legal tokens. The host sends their ids instead of a mask; one workgroup does all stages, with the
 * names and in the order of the other kernels, and nothing but these tokens' logits is read.
 *
 * Launch: (short rows) workgroups of 256 threads; the rows are those from `shape.rows` on. Reads logits, atlas (lists of
 * ids), rows, edits; writes results.
 */
import { Threads } from "../layout.ts"
import { argmax, common, floatSum, loader } from "./common.ts"
import { ranked, surprise } from "./ranked.ts"

export const short = /* wgsl */ `
${common}
${loader}
${argmax}
${floatSum}
${ranked}
${surprise}
var<workgroup> liveCount: atomic<u32>;
var<workgroup> badCount: atomic<u32>;
var<workgroup> limitCount: atomic<u32>;
/** live, bad */
var<workgroup> counted: vec2u;
var<workgroup> shownLimit: u32;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = shape.rows + group.x;
  let row = rows[index];
  let count = row.slot2;
  let size = sortSize(count);
  if (thread == 0u) {
    atomicStore(&liveCount, 0u);
    atomicStore(&badCount, 0u);
    atomicStore(&limitCount, 0u);
  }
  workgroupBarrier();
  var best = vec2u(0u, NoToken);
  for (var i = thread; i < size; i += Threads) {
    var key = 0u;
    var id = NoToken;
    if (i < count) {
      id = atlas[row.slot * shape.words + i];
      let bits = valueBits(row, id, row.editCount > 0u);
      if (bits == Bad) { atomicAdd(&badCount, 1u); }
      if (bits < Bad) {
        key = keyOf(bitcast<f32>(bits));
        atomicAdd(&liveCount, 1u);
        if (isBetter(key, id, best.x, best.y)) { best = vec2u(key, id); }
      }
    }
    keys[i] = key;
    ids[i] = id;
  }
  reduceBest(thread, best.x, best.y);
  if (thread == 0u) { counted = vec2u(atomicLoad(&liveCount), atomicLoad(&badCount)); }
  let seen = workgroupUniformLoad(&counted);
  let zmax = valueOf(bestKeys[0]);
  if (thread == 0u) {
    if (seen.y > 0u) {
      results[index] = Result(NoToken, ModelOutput, 0u, 0u);
    } else if (seen.x == 0u) {
      results[index] = Result(NoToken, EmptyMask, 0u, 0u);
    } else if ((row.flags & Greedy) != 0u) {
      results[index] = Result(bestIds[0], Ok, bitcast<u32>(zmax), seen.x);
    }
  }
  if (seen.y > 0u || seen.x == 0u || (row.flags & Greedy) != 0u) { return; }
  let live = seen.x;
  var squares = 0.0;
  var threshold = -3.4e38;
  var isHuge = abs(zmax) > 1e6;
  if ((row.flags & (Threshold | TopK | TopP)) != 0u) { sortPairs(thread, size); }
  if ((row.flags & Sigma) != 0u) {
    var sum = 0.0;
    for (var i = thread; i < live; i += Threads) { sum += valueOf(keys[i]); }
    let mean = sumFloats(thread, sum) / f32(live);
    var square = 0.0;
    for (var i = thread; i < live; i += Threads) { let d = valueOf(keys[i]) - mean; square += d * d; }
    squares = sumFloats(thread, square);
    threshold = max(threshold, zmax - row.sigmas * sqrt(squares / f32(live)));
    isHuge = isHuge || !(squares < 1e30 && abs(mean) < 1e6);
  }
  if ((row.flags & MinP) != 0u) { threshold = max(threshold, zmax + row.logMinP); }
  if ((row.flags & Mirostat) != 0u) {
    var sum = 0.0;
    for (var i = thread; i < live; i += Threads) { sum += exp(valueOf(keys[i]) - zmax); }
    threshold = zmax + log(sumFloats(thread, sum)) - row.sigmas * 0.69314718;
  }
  // Above every value, a threshold by surprise leaves the first alone, any other also its equals.
  let isFirstAlone = (row.flags & Mirostat) != 0u && threshold > zmax;
  threshold = min(threshold, zmax);
  // Of sorted pairs, those above a threshold are the first; of others, none is below.
  for (var i = thread; i < size; i += Threads) {
    if (keys[i] != 0u && valueOf(keys[i]) >= threshold) { atomicAdd(&limitCount, 1u); }
  }
  workgroupBarrier();
  if (thread == 0u) { shownLimit = atomicLoad(&limitCount); }
  var limit = workgroupUniformLoad(&shownLimit);
  if (isFirstAlone) { limit = 1u; }
  if ((row.flags & TopK) != 0u) { limit = min(limit, row.k); }
  if ((row.flags & (Threshold | TopK | TopP)) != 0u) {
    best = drawSorted(row, thread, zmax, limit, 0u, 0.0, 0.0);
  } else {
    best = vec2u(0u, NoToken);
    for (var i = thread; i < size; i += Threads) {
      if (keys[i] == 0u) { continue; }
      let key = keyOf(valueOf(keys[i]) - zmax + gumbel(tokenBits(ids[i], row)) + 0.0);
      if (isBetter(key, ids[i], best.x, best.y)) { best = vec2u(key, ids[i]); }
    }
  }
  reduceBest(thread, best.x, best.y);
  if (thread != 0u) { return; }
  if (isHuge) {
    results[index] = Result(NoToken, Redo, 0u, 0u);
  } else if ((row.flags & Mirostat) != 0u) {
    let bits = surpriseOf(row, bestKeys[0], bestIds[0], massSums[Threads - 1u]);
    results[index] = Result(bestIds[0], Ok, bits, live);
  } else {
    results[index] = Result(bestIds[0], Ok, bitcast<u32>(zmax), limit);
  }
}
`
