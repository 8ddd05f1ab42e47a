/**
 * `radix`: makes the cuts of a row that has more tokens in doubt than can be sorted, for example if
 * all values are equal or no value is near the maximum. Finds the last kept pair digit by digit, 8
 * bits at a time from the highest: digits of the key by count (top-k), of the key by mass (top-p),
 * then of the id among pairs with that key. A last pass draws.
 *
 * The pairs are those of the slab. If they do not fit, the kernel reads the whole row again for
 * each digit: at most 8 reads for one cut. Masses are 48-bit integers in four limbs of 12 bits, so
 * that their sums are the same in any order. Launch: indirect, (rows) workgroups of 256 threads, or
 * none. Reads logits, atlas, rows, edits, stats, slab, partials; writes results, and the cut into
 * stats.
 */
import { Threads } from "../layout.ts"
import { argmax, common, runningSums, tileLoader } from "./common.ts"

export const radix = /* wgsl */ `
${common}
${tileLoader}
${argmax}
${runningSums}
/**
 * kind: the action of a pass on each pair. prefix: the digits found so far; shift: the position of
 * the next digit. floor: keys below it are skipped.
 */
struct Step { kind: u32, prefix: u32, shift: u32, floor: u32, cutKey: u32, cutId: u32 }
/** The digit at which a sum crosses its bound. */
struct Digit { bin: u32, count: u32, countBefore: u32, massBefore: f32, massOfAll: f32 }
const ByRank = 0u;
const ByShare = 1u;
const ById = 2u;
const Draw = 3u;

var<workgroup> loaded: Stat;
var<workgroup> shownCount: u32;
var<workgroup> digitCounts: array<atomic<u32>, ${Threads}>;
/** Shape [4, 256]: limbs of 12 bits each, from 2^-12 down. */
var<workgroup> limbs: array<atomic<u32>, ${4 * Threads}>;
var<workgroup> crossing: atomic<u32>;
var<workgroup> lastBin: atomic<u32>;
var<workgroup> found: Digit;
var<private> best: vec2u;
var<private> kept: u32;

fn visit(row: Row, known: Stat, step: Step, key: u32, id: u32) {
  if (step.kind <= ByShare) {
    // The highest digit has no prefix.
    if (key < step.floor || (step.shift < 24u && (key >> (step.shift + 8u)) != step.prefix)) { return; }
    // Larger keys come first.
    let bin = 255u - ((key >> step.shift) & 255u);
    atomicAdd(&digitCounts[bin], 1u);
    if ((row.flags & TopP) == 0u) { return; }
    var rest = exp(valueOf(key) - known.zmax);
    for (var limb = 0u; limb < 4u && rest > 0.0; limb++) {
      rest *= 4096.0;
      let whole = floor(rest);
      if (whole > 0.0) { atomicAdd(&limbs[limb * Threads + bin], u32(whole)); }
      rest -= whole;
    }
  } else if (step.kind == ById) {
    if (key != step.cutKey || (id >> (step.shift + 8u)) != step.prefix) { return; }
    atomicAdd(&digitCounts[(id >> step.shift) & 255u], 1u);
  } else {
    if (key < step.cutKey || (key == step.cutKey && id > step.cutId)) { return; }
    kept += 1u;
    let score = keyOf(valueOf(key) - known.zmax + gumbel(tokenBits(id, row)) + 0.0);
    if (isBetter(score, id, best.x, best.y)) { best = vec2u(score, id); }
  }
}

/** Visits each pair once. */
fn visitAll(index: u32, row: Row, known: Stat, thread: u32, count: u32, step: Step) {
  atomicStore(&digitCounts[thread], 0u);
  for (var limb = 0u; limb < 4u; limb++) { atomicStore(&limbs[limb * Threads + thread], 0u); }
  if (thread == 0u) {
    atomicStore(&crossing, Threads);
    atomicStore(&lastBin, 0u);
  }
  workgroupBarrier();
  if (known.phase == NeedsSlab) {
    for (var i = thread; i < count; i += Threads) {
      let at = index * SlabWords + 2u + 2u * i;
      visit(row, known, step, atomicLoad(&slab[at]), atomicLoad(&slab[at + 1u]));
    }
  } else {
    for (var tile = 0u; tile < shape.tiles; tile++) {
      prepareTile(row, tile, thread);
      for (var i = 0u; i < 8u; i++) {
        let local = i * Threads + thread;
        let bits = load(row, tile, local);
        if (bits >= Bad) { continue; }
        let value = bitcast<f32>(bits);
        if (value >= known.threshold) { visit(row, known, step, keyOf(value), tile * Tile + local); }
      }
    }
  }
  workgroupBarrier();
}

/**
 * Returns the first digit up to which there are \`count\` pairs. By mass, returns the first digit
 * up to which the mass reaches \`bound\` plus this share of the mass of these pairs.
 */
fn findDigit(thread: u32, count: u32, byMass: bool, bound: f32, share: f32) -> Digit {
  let own = atomicLoad(&digitCounts[thread]);
  countSums[thread] = own;
  var mass = 0.0;
  var unit = 0.000244140625;
  for (var limb = 0u; limb < 4u; limb++) {
    mass += f32(atomicLoad(&limbs[limb * Threads + thread])) * unit;
    unit *= 0.000244140625;
  }
  massSums[thread] = mass;
  if (own > 0u) { atomicMax(&lastBin, thread); }
  addUpBoth(thread);
  let enough = bound + share * massSums[Threads - 1u];
  if (select(countSums[thread] >= count, massSums[thread] >= enough, byMass)) { atomicMin(&crossing, thread); }
  workgroupBarrier();
  if (thread == 0u) {
    let bin = min(atomicLoad(&crossing), atomicLoad(&lastBin));
    let size = atomicLoad(&digitCounts[bin]);
    found = Digit(bin, size, countSums[bin] - size, 0.0, massSums[Threads - 1u]);
    if (bin > 0u) { found.massBefore = massSums[bin - 1u]; }
  }
  return workgroupUniformLoad(&found);
}

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = rows[group.x];
  if (thread == 0u) {
    loaded = stats[group.x];
    shownCount = atomicLoad(&slab[group.x * SlabWords]);
  }
  let known = workgroupUniformLoad(&loaded);
  let count = workgroupUniformLoad(&shownCount);
  if (known.phase != NeedsSlab && known.phase != NeedsRow) { return; }
  let isSlab = known.phase == NeedsSlab;
  let countBase = select(0u, known.countBefore, isSlab);
  let massBase = select(0.0, known.massBefore, isSlab);
  let hasK = known.hasK == 1u;
  let hasP = (row.flags & TopP) != 0u;
  var step = Step(select(ByShare, ByRank, hasK), 0u, 24u, 0u, 0u, NoToken);
  /**
   * For pairs whose key is the cut's: their number, how many are kept, and how many of these by
   * rank.
   */
  var ties = 0u;
  var keep = row.k - countBase;
  var keepByRank = 0u;
  var mass = massBase;
  /** Mass that may still be kept. The first pass by share adds the share of the pairs' own mass. */
  var bound = row.p * (massBase + select(0.0, known.massAfter, isSlab)) - massBase;
  best = vec2u(0u, NoToken);
  kept = 0u;
  // One loop runs all passes. One loop for each kind would be slower to compile, because drivers
  // inline every call: 1.1 s against 0.4.
  loop {
    visitAll(group.x, row, known, thread, count, step);
    if (step.kind == Draw) { break; }
    let byShare = step.kind == ByShare;
    let share = select(0.0, row.p, byShare && step.shift == 24u && !hasK);
    let digit = findDigit(thread, keep, byShare, bound, share);
    // Larger keys come first, but smaller ids.
    step.prefix = (step.prefix << 8u) | select(255u - digit.bin, digit.bin, step.kind == ById);
    if (byShare) {
      bound += share * digit.massOfAll - digit.massBefore;
    } else {
      keep -= digit.countBefore;
      mass += digit.massBefore;
    }
    if (step.shift > 0u) {
      step.shift -= 8u;
      continue;
    }
    if (step.kind == ById) {
      step.cutId = step.prefix;
      step.kind = Draw;
      continue;
    }
    ties = digit.count;
    step.cutKey = step.prefix;
    step.prefix = 0u;
    let unit = max(exp(valueOf(step.cutKey) - known.zmax), 1e-37);
    if (step.kind == ByRank && hasP) {
      step.kind = ByShare;
      step.shift = 24u;
      step.floor = step.cutKey;
      keepByRank = keep;
      bound = row.p * (mass + f32(keep) * unit) - massBase;
      continue;
    }
    if (byShare) {
      let most = select(ties, keepByRank, hasK && step.cutKey == step.floor);
      keep = u32(clamp(ceil(bound / unit), 1.0, f32(most)));
    }
    step.kind = select(Draw, ById, keep < ties);
    step.shift = 16u;
  }
  if (isSlab) {
    for (var tile = thread; tile < shape.tiles; tile += Threads) {
      let part = partials[group.x * shape.tiles + tile];
      if (isBetter(part.bestKey, part.bestId, best.x, best.y)) { best = vec2u(part.bestKey, part.bestId); }
    }
  }
  atomicAdd(&digitCounts[0], kept);
  reduceBest(thread, best.x, best.y);
  if (thread == 0u) {
    stats[group.x].cutKey = step.cutKey;
    stats[group.x].cutId = step.cutId;
    if (!isSlab) {
      // The cut applies to all pairs, in every bucket.
      stats[group.x].lo = 0u;
      stats[group.x].hi = Reach;
    }
    let all = countBase + atomicLoad(&digitCounts[0]);
    results[group.x] = Result(bestIds[0], Ok, bitcast<u32>(known.zmax), all);
  }
}
`
