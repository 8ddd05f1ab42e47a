/**
 * `cut`: prefix sums over a row's buckets say between which of them the cuts of top-k and top-p lie.
 *
 * The k-th token's bucket is certain. Top-p is relative to the mass of the top-k set, which is known only to within that
 * bucket, and masses are float32 here: the range of buckets is widened by both doubts, and `settle` decides inside it.
 * Launch: (rows) workgroups of 256 threads, 4 buckets each. Reads rows, hist; updates stats; results of rows given up.
 */
import { Threads } from "../layout.ts"
import { common } from "./common.ts"

export const cut = /* wgsl */ `
${common}
var<workgroup> loaded: Stat;
var<workgroup> countSums: array<u32, ${Threads}>;
var<workgroup> massSums: array<f32, ${Threads}>;
var<workgroup> kBucket: atomic<u32>;
var<workgroup> pLow: atomic<u32>;
var<workgroup> pHigh: atomic<u32>;
/** Counts and masses up to and including a bucket. */
var<workgroup> countTo: array<u32, ${4 * Threads}>;
var<workgroup> massTo: array<f32, ${4 * Threads}>;
/** Relative doubt of a float32 mass. */
const Doubt = 1e-5f;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = rows[group.x];
  if (thread == 0u) { loaded = stats[group.x]; }
  let known = workgroupUniformLoad(&loaded);
  if (known.phase != NeedsLevel0 && known.phase != NeedsLevel1) { return; }
  let isFine = known.phase == NeedsLevel1;
  let base = (2u * group.x + select(0u, 1u, isFine)) * HistWords;
  if (thread == 0u) {
    atomicStore(&kBucket, Buckets);
    atomicStore(&pLow, Buckets);
    atomicStore(&pHigh, Buckets);
  }
  var count = 0u;
  var mass = 0.0;
  for (var i = 0u; i < 4u; i++) {
    let bucket = 4u * thread + i;
    let above = f32(select(bucket, known.lo, isFine)) * -0.03125;
    let high = f32(atomicLoad(&hist[base + Buckets + bucket])) * 4096.0;
    let low = f32(atomicLoad(&hist[base + 2u * Buckets + bucket]));
    count += atomicLoad(&hist[base + bucket]);
    mass += (high + low) * 5.9604644775390625e-8 * exp(above);
    countTo[bucket] = count;
    massTo[bucket] = mass;
  }
  countSums[thread] = count;
  massSums[thread] = mass;
  workgroupBarrier();
  for (var step = 1u; step < Threads; step *= 2u) {
    var addedCount = 0u;
    var addedMass = 0.0;
    if (thread >= step) {
      addedCount = countSums[thread - step];
      addedMass = massSums[thread - step];
    }
    workgroupBarrier();
    countSums[thread] += addedCount;
    massSums[thread] += addedMass;
    workgroupBarrier();
  }
  var countBefore = known.baseCount;
  var massBefore = known.baseMass;
  if (thread > 0u) {
    countBefore += countSums[thread - 1u];
    massBefore += massSums[thread - 1u];
  }
  for (var i = 0u; i < 4u; i++) {
    countTo[4u * thread + i] += countBefore;
    massTo[4u * thread + i] += massBefore;
  }
  let n = known.baseCount + countSums[Threads - 1u];
  let hasK = select((row.flags & TopK) != 0u && n > row.k, known.hasK == 1u, isFine);
  let hasP = (row.flags & TopP) != 0u;
  workgroupBarrier();
  for (var i = 0u; i < 4u; i++) {
    let bucket = 4u * thread + i;
    if (hasK && countTo[bucket] >= row.k) { atomicMin(&kBucket, bucket); }
  }
  workgroupBarrier();
  let k = atomicLoad(&kBucket);
  var total = select(known.baseMass + massSums[Threads - 1u], known.total, isFine);
  if (hasP) {
    // The mass of the top-k set lies between that above its last bucket and that up to it.
    var least = total;
    var most = total;
    if (hasK && k < Buckets) {
      least = select(0.0, massTo[max(k, 1u) - 1u], k > 0u);
      most = massTo[k];
    }
    for (var i = 0u; i < 4u; i++) {
      let bucket = 4u * thread + i;
      if (massTo[bucket] >= row.p * least * (1.0 - Doubt)) { atomicMin(&pLow, bucket); }
      if (massTo[bucket] >= row.p * most * (1.0 + Doubt)) { atomicMin(&pHigh, bucket); }
    }
  }
  workgroupBarrier();
  if (thread != 0u) { return; }
  var next = known;
  next.hasK = select(0u, 1u, hasK);
  next.total = total;
  let last = Buckets - 1u;
  var lo = Buckets;
  var hi = Buckets;
  if (hasK) { lo = k; hi = k; }
  if (hasP) {
    lo = min(lo, min(atomicLoad(&pLow), last));
    // With top-k, the slab reaches to the k-th token: its mass is what top-p is relative to.
    if (!hasK) { hi = min(atomicLoad(&pHigh), last); }
  }
  if (lo == Buckets) {
    // Top-k alone, and no more than k tokens: nothing is cut.
    next.phase = Known;
    stats[group.x] = next;
    return;
  }
  var before = known.baseCount;
  var beforeMass = known.baseMass;
  if (lo > 0u) {
    before = countTo[lo - 1u];
    beforeMass = massTo[lo - 1u];
  }
  next.countBefore = before;
  next.massBefore = beforeMass;
  if (isFine) {
    next.lo1 = lo;
    next.hi1 = hi;
  } else {
    next.lo = lo;
    next.hi = hi;
  }
  next.phase = Known;
  if (countTo[hi] - before > SlabSize) {
    // Both cuts at once keep their range; one cut alone is looked at more closely once.
    next.phase = select(NeedsLevel1, Done, isFine || (hasK && hasP));
    next.scale = f32(Buckets) / f32(hi - lo + 1u);
    next.baseCount = before;
    next.baseMass = beforeMass;
  }
  if (next.phase == Done) { results[group.x] = Result(NoToken, Redo, 0u, 0u); }
  stats[group.x] = next;
}
`
