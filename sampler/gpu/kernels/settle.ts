/**
 * `settle`: sorts a row's slab in pinned order, makes the exact cuts, k then p, adds the noise to what is left, and joins
 * it with the tokens that were surely kept. Scores are relative to the maximum: large values would swallow the noise.
 *
 * Launch: (rows) workgroups of 256 threads. Reads rows, partials, slab, stats; writes results.
 */
import { SlabSize, Threads } from "../layout.ts"
import { argmax, common } from "./common.ts"

export const settle = /* wgsl */ `
${common}
${argmax}
var<workgroup> loaded: Stat;
var<workgroup> shownCount: u32;
var<workgroup> keys: array<u32, ${SlabSize}>;
var<workgroup> ids: array<u32, ${SlabSize}>;
var<workgroup> massSums: array<f32, ${Threads}>;
var<workgroup> keptCount: atomic<u32>;

/** Bitonic: 1024 elements, 512 comparisons a stage. Elements past the count are key 0, which sorts last. */
fn sortSlab(thread: u32) {
  for (var size = 2u; size <= SlabSize; size *= 2u) {
    for (var step = size / 2u; step > 0u; step /= 2u) {
      for (var pair = thread; pair < SlabSize / 2u; pair += Threads) {
        let low = 2u * pair - (pair & (step - 1u));
        let high = low + step;
        let isInOrder = isBetter(keys[low], ids[low], keys[high], ids[high]);
        if (isInOrder != ((low & size) == 0u)) {
          let key = keys[low];
          let id = ids[low];
          keys[low] = keys[high];
          ids[low] = ids[high];
          keys[high] = key;
          ids[high] = id;
        }
      }
      workgroupBarrier();
    }
  }
}

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = rows[group.x];
  if (thread == 0u) {
    loaded = stats[group.x];
    shownCount = atomicLoad(&slab[group.x * SlabWords]);
    atomicStore(&keptCount, 0u);
  }
  let known = workgroupUniformLoad(&loaded);
  let count = workgroupUniformLoad(&shownCount);
  if (known.phase != Known) { return; }
  if (count > SlabSize) {
    if (thread == 0u) { results[group.x] = Result(NoToken, Redo, 0u, 0u); }
    return;
  }
  for (var i = thread; i < SlabSize; i += Threads) {
    let at = group.x * SlabWords + 2u + 2u * i;
    keys[i] = select(0u, atomicLoad(&slab[at]), i < count);
    ids[i] = select(NoToken, atomicLoad(&slab[at + 1u]), i < count);
  }
  workgroupBarrier();
  if (count > 1u) { sortSlab(thread); }
  var limit = count;
  if (known.hasK == 1u) { limit = min(count, row.k - min(row.k, known.countBefore)); }
  // Masses of the thread's four elements, and of all before it.
  var masses: array<f32, 4>;
  var sum = 0.0;
  for (var i = 0u; i < 4u; i++) {
    let at = 4u * thread + i;
    masses[i] = select(0.0, exp(valueOf(keys[at]) - known.zmax), at < limit);
    sum += masses[i];
  }
  massSums[thread] = sum;
  workgroupBarrier();
  for (var step = 1u; step < Threads; step *= 2u) {
    var added = 0.0;
    if (thread >= step) { added = massSums[thread - step]; }
    workgroupBarrier();
    massSums[thread] += added;
    workgroupBarrier();
  }
  let total = select(known.total, known.massBefore + massSums[Threads - 1u], known.hasK == 1u);
  let bound = row.p * total;
  var before = known.massBefore;
  if (thread > 0u) { before += massSums[thread - 1u]; }
  var bestKey = 0u;
  var bestId = NoToken;
  var kept = 0u;
  for (var i = 0u; i < 4u; i++) {
    let at = 4u * thread + i;
    let isFirst = at == 0u && known.countBefore == 0u;
    let isCut = (row.flags & TopP) != 0u && before >= bound && !isFirst;
    before += masses[i];
    if (at >= limit || isCut) { continue; }
    kept += 1u;
    let key = keyOf(valueOf(keys[at]) - known.zmax + gumbel(tokenBits(ids[at], row)) + 0.0);
    if (isBetter(key, ids[at], bestKey, bestId)) { bestKey = key; bestId = ids[at]; }
  }
  atomicAdd(&keptCount, kept);
  for (var tile = thread; tile < shape.tiles; tile += Threads) {
    let part = partials[group.x * shape.tiles + tile];
    if (isBetter(part.bestKey, part.bestId, bestKey, bestId)) { bestKey = part.bestKey; bestId = part.bestId; }
  }
  reduceBest(thread, bestKey, bestId);
  if (thread == 0u) {
    results[group.x] = Result(bestIds[0], Ok, bestKeys[0], known.countBefore + atomicLoad(&keptCount));
  }
}
`
