/**
 * `short`: samples rows with few legal tokens. The host sends the ids of these tokens instead of a
 * mask. One workgroup runs all stages, with the names and the order of the other kernels, and reads
 * only the logits of these tokens. Stages that the device has only for these rows are in `rare.ts`.
 *
 * Launch: (short rows) workgroups of 256 threads; the rows start at `shape.rows`. Reads logits,
 * atlas (lists of ids), rows, edits (followed by the parameters of rare stages, if the row has
 * any); writes results.
 */
import { Threads } from "../layout.ts"
import { argmax, common, floatSum, loader } from "./common.ts"
import { ranked, surprise } from "./ranked.ts"
import { rare } from "./rare.ts"

export const short = /* wgsl */ `
${common}
${loader}
${argmax}
${floatSum}
${ranked}
${surprise}
${rare}
var<workgroup> liveCount: atomic<u32>;
var<workgroup> badCount: atomic<u32>;
/** Number of values that are candidates, and number of NaNs. */
var<workgroup> counted: vec2u;
var<workgroup> shownInverse: f32;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let index = shape.rows + group.x;
  let row = rows[index];
  let count = row.slot2;
  let size = sortSize(count);
  if (thread == 0u) {
    atomicStore(&liveCount, 0u);
    atomicStore(&badCount, 0u);
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
  var zmax = valueOf(bestKeys[0]);
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
  if ((row.flags & Dynamic) != 0u) {
    let inverse = dynamicInverse(row, thread, zmax, size, live);
    if (thread == 0u) { shownInverse = inverse; }
    let shown = workgroupUniformLoad(&shownInverse);
    if (shown == 0.0) {
      if (thread == 0u) { results[index] = Result(bestIds[0], Ok, bitcast<u32>(zmax), live); }
      return;
    }
    for (var i = thread; i < size; i += Threads) {
      if (keys[i] != 0u) { keys[i] = keyOf(valueOf(keys[i]) * shown + 0.0); }
    }
    zmax *= shown;
  }
  let isSorted = (row.flags & (Threshold | TopK | TopP | Rare)) != 0u;
  if (isSorted) { sortPairs(thread, size); }
  var threshold = -3.4e38;
  var isHuge = abs(zmax) > 1e6;
  if ((row.flags & Sigma) != 0u) {
    var sum = 0.0;
    for (var i = thread; i < live; i += Threads) { sum += valueOf(keys[i]); }
    let mean = sumFloats(thread, sum) / f32(live);
    var square = 0.0;
    for (var i = thread; i < live; i += Threads) { let d = valueOf(keys[i]) - mean; square += d * d; }
    let squares = sumFloats(thread, square);
    threshold = max(threshold, zmax - row.sigmas * sqrt(squares / f32(live)));
    isHuge = isHuge || !(squares < 1e30 && abs(mean) < 1e6);
  }
  if ((row.flags & MinP) != 0u) { threshold = max(threshold, zmax + row.logMinP); }
  if ((row.flags & Mirostat) != 0u) {
    var sum = 0.0;
    for (var i = thread; i < live; i += Threads) { sum += exp(valueOf(keys[i]) - zmax); }
    threshold = zmax + log(sumFloats(thread, sum)) - row.sigmas * 0.69314718;
  }
  // A surprise threshold above every value leaves only the first token; any other threshold also
  // leaves the tokens equal to the first.
  let isFirstAlone = (row.flags & Mirostat) != 0u && threshold > zmax;
  threshold = min(threshold, zmax);
  // If the pairs are sorted, those above a threshold come first; if not, no pair is below it.
  var above = 0u;
  for (var i = thread; i < size; i += Threads) {
    if (keys[i] != 0u && valueOf(keys[i]) >= threshold) { above += 1u; }
  }
  var limit = sumCounts(thread, above);
  if (isFirstAlone) { limit = 1u; }
  if ((row.flags & TopK) != 0u) { limit = min(limit, row.k); }
  if ((row.flags & Mirostat1) != 0u) { limit = zipfCount(row, thread, live); }
  if ((row.flags & Typical) != 0u) { limit = keepTypical(thread, zmax, limit, rareOf(row).typicalP); }
  if ((row.flags & Epsilon) != 0u) { limit = keepProbable(thread, zmax, limit, rareOf(row).epsilon); }
  if ((row.flags & Eta) != 0u) { limit = keepEta(thread, zmax, limit, rareOf(row).eta); }
  var cut = Nucleus(limit, limit, limit);
  if ((row.flags & TopP) != 0u) { cut = nucleus(row, thread, zmax, limit, 0u, 0.0, 0.0); }
  limit = cut.kept;
  var start = 0u;
  // XTC drops the most probable pairs except the last of them.
  if ((row.flags & Xtc) != 0u) { start = max(1u, probableCount(thread, zmax, limit, rareOf(row).xtcThreshold)) - 1u; }
  if (isSorted) {
    best = drawRange(row, thread, zmax, start, cut.perhaps);
  } else {
    best = vec2u(0u, NoToken);
    for (var i = thread; i < size; i += Threads) {
      if (keys[i] == 0u) { continue; }
      let key = keyOf(valueOf(keys[i]) - zmax + gumbel(tokenBits(ids[i], row)) + 0.0);
      if (isBetter(key, ids[i], best.x, best.y)) { best = vec2u(key, ids[i]); }
    }
  }
  let isMirostat = (row.flags & (Mirostat | Mirostat1)) != 0u;
  if (isMirostat) { let own = sumMasses(thread, zmax, limit); }
  reduceBest(thread, best.x, best.y);
  // Any other drawn token has the best score among the surely kept ones, so the exact position of
  // the cut does not matter, except to the head that XTC drops.
  var isDoubtful = isAmong(thread, bestIds[0], cut.sure, cut.perhaps);
  if ((row.flags & Xtc) != 0u && cut.sure < cut.perhaps) { isDoubtful = true; }
  if (thread != 0u) { return; }
  if (isHuge || isDoubtful) {
    results[index] = Result(NoToken, Redo, 0u, 0u);
  } else if (isMirostat) {
    let bits = surpriseOf(row, bestKeys[0], bestIds[0], sums[Threads - 1u]);
    results[index] = Result(bestIds[0], Ok, bits, live);
  } else {
    results[index] = Result(bestIds[0], Ok, bitcast<u32>(zmax), limit);
  }
}
`
