/**
 * Sorts pairs of key and id in pinned order, in the memory of the workgroup, and draws from the
 * pairs that top-k and top-p keep. Scores are relative to the maximum, since adding noise to large
 * values would round the noise away. Sums are in the array of `floatSum`.
 */
import { SortSize } from "../layout.ts"

export const ranked = /* wgsl */ `
var<workgroup> keys: array<u32, ${SortSize}>;
var<workgroup> ids: array<u32, ${SortSize}>;
var<workgroup> countSum: atomic<u32>;
var<workgroup> shownCountSum: u32;

/** Returns the smallest power of two that is at least the count. */
fn sortSize(count: u32) -> u32 {
  var size = 1u;
  while (size < count) { size *= 2u; }
  return size;
}

/**
 * Sorts the first \`size\` pairs by a bitonic sort; \`size\` is a power of two. Pairs past the
 * count have key 0, which sorts last.
 */
fn sortPairs(thread: u32, size: u32) {
  workgroupBarrier();
  for (var run = 2u; run <= size; run *= 2u) {
    for (var step = run / 2u; step > 0u; step /= 2u) {
      for (var pair = thread; pair < size / 2u; pair += Threads) {
        let low = 2u * pair - (pair & (step - 1u));
        let high = low + step;
        let isInOrder = isBetter(keys[low], ids[low], keys[high], ids[high]);
        if (isInOrder != ((low & run) == 0u)) {
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

/** Replaces each of \`sums\` by the sum of all up to and including it. */
fn addUpSums(thread: u32) {
  workgroupBarrier();
  for (var step = 1u; step < Threads; step *= 2u) {
    var added = 0.0;
    if (thread >= step) { added = sums[thread - step]; }
    workgroupBarrier();
    sums[thread] += added;
    workgroupBarrier();
  }
}

/**
 * Computes masses of the first \`limit\` sorted pairs: returns those of the thread's own four
 * pairs, and leaves in \`sums\` the sums up to and including them.
 */
fn sumMasses(thread: u32, zmax: f32, limit: u32) -> vec4f {
  var masses = vec4f(0.0);
  for (var i = 0u; i < 4u; i++) {
    if (4u * thread + i < limit) { masses[i] = exp(valueOf(keys[4u * thread + i]) - zmax); }
  }
  workgroupBarrier();
  sums[thread] = masses.x + masses.y + masses.z + masses.w;
  addUpSums(thread);
  return masses;
}

/** Returns the sum of the counts of all threads. */
fn sumCounts(thread: u32, own: u32) -> u32 {
  workgroupBarrier();
  if (thread == 0u) { atomicStore(&countSum, 0u); }
  workgroupBarrier();
  atomicAdd(&countSum, own);
  workgroupBarrier();
  if (thread == 0u) { shownCountSum = atomicLoad(&countSum); }
  return workgroupUniformLoad(&shownCountSum);
}

/** Relative error bound of a float32 mass. */
const Doubt = 1e-5f;

/** Number of sorted pairs that top-p keeps: surely, by the float32 sums, and possibly. */
struct Nucleus { sure: u32, kept: u32, perhaps: u32 }

/**
 * Returns how many of the first \`limit\` sorted pairs top-p keeps. \`countBefore\` tokens with
 * mass \`massBefore\` come before these pairs and are surely kept. massAfter: mass of the tokens
 * after all these pairs.
 */
fn nucleus(row: Row, thread: u32, zmax: f32, limit: u32, countBefore: u32, massBefore: f32, massAfter: f32) -> Nucleus {
  let masses = sumMasses(thread, zmax, limit);
  let bound = row.p * (massBefore + sums[Threads - 1u] + massAfter);
  var before = massBefore;
  if (thread > 0u) { before += sums[thread - 1u]; }
  var kept = 0u;
  // Two counts share one word; neither reaches 2^16.
  var around = 0u;
  for (var i = 0u; i < 4u; i++) {
    let at = 4u * thread + i;
    let isFirst = at == 0u && countBefore == 0u;
    if (at < limit) {
      if (before < bound || isFirst) { kept += 1u; }
      if (before < bound * (1.0 - Doubt) || isFirst) { around += 1u; }
      if (before < bound * (1.0 + Doubt) || isFirst) { around += 65536u; }
    }
    before += masses[i];
  }
  let counts = sumCounts(thread, around);
  return Nucleus(counts & 0xffffu, sumCounts(thread, kept), counts >> 16u);
}

/** Returns whether token \`id\` is one of the sorted pairs from \`start\` to below \`end\`. */
fn isAmong(thread: u32, id: u32, start: u32, end: u32) -> bool {
  var own = 0u;
  for (var at = start + thread; at < end; at += Threads) {
    if (ids[at] == id) { own = 1u; }
  }
  return sumCounts(thread, own) > 0u;
}

/**
 * Returns the thread's best score and its id among the sorted pairs from \`start\` to below
 * \`end\`.
 */
fn drawRange(row: Row, thread: u32, zmax: f32, start: u32, end: u32) -> vec2u {
  var best = vec2u(0u, NoToken);
  for (var at = start + thread; at < end; at += Threads) {
    let key = keyOf(valueOf(keys[at]) - zmax + gumbel(tokenBits(ids[at], row)) + 0.0);
    if (isBetter(key, ids[at], best.x, best.y)) { best = vec2u(key, ids[at]); }
  }
  return best;
}
`

/**
 * Computes the bits of a drawn token's surprise among tokens of this total mass, from the score
 * with which the token was drawn.
 */
export const surprise = /* wgsl */ `
fn surpriseOf(row: Row, key: u32, id: u32, mass: f32) -> u32 {
  let gap = valueOf(key) - gumbel(tokenBits(id, row));
  return bitcast<u32>(max(0.0, (log(mass) - gap) * 1.44269504));
}
`
