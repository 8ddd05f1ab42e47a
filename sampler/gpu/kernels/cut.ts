/**
 * `cut`: finds by prefix sums over a row's buckets between which buckets the cuts of top-k and
 * top-p lie.
 *
 * The bucket of the k-th token is exact. Top-p is relative to the mass of the top-k set, which is
 * known only to within that bucket, and masses are float32 here. So the range of buckets is widened
 * by both uncertainties, and `settle` decides inside it. If the range holds more tokens than a
 * slab, `radix` decides. Buckets are counted from the maximum's down, wherever the histogram's
 * window began, so a guess changes no bit. Launch: (rows) workgroups of 256 threads, 4 buckets
 * each. Reads rows, hist; updates stats.
 */
import { Threads } from "../layout.ts"
import { common, runningSums } from "./common.ts"

export const cut = /* wgsl */ `
${common}
${runningSums}
var<workgroup> loaded: Stat;
var<workgroup> kBucket: atomic<u32>;
var<workgroup> pLow: atomic<u32>;
var<workgroup> pHigh: atomic<u32>;
/** Counts and masses up to and including a bucket. */
var<workgroup> countTo: array<u32, ${4 * Threads}>;
var<workgroup> massTo: array<f32, ${4 * Threads}>;
/** Relative error bound of a float32 mass. */
const Doubt = 1e-5f;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = rows[group.x];
  if (thread == 0u) {
    loaded = stats[group.x];
    atomicStore(&kBucket, Reach);
    atomicStore(&pLow, Reach);
    atomicStore(&pHigh, Reach);
  }
  let known = workgroupUniformLoad(&loaded);
  if (known.phase != NeedsHist && known.phase != NeedsCut) { return; }
  let base = group.x * HistWords;
  var count = 0u;
  var mass = 0.0;
  for (var i = 0u; i < 4u; i++) {
    let bucket = 4u * thread + i;
    let at = base + bucket + known.shift;
    if (bucket + known.shift < Buckets) {
      let own = atomicLoad(&hist[at]);
      count += own;
      if (bucket < Reach && own > 0u) {
        let high = f32(atomicLoad(&hist[at + Buckets])) * 4096.0;
        let deficit = (high + f32(atomicLoad(&hist[at + 2u * Buckets]))) * 5.9604644775390625e-8;
        mass += (f32(own) - deficit) * exp((known.top - f32(bucket) + 1.0) * 0.03125 - known.zmax);
      }
    }
    countTo[bucket] = count;
    massTo[bucket] = mass;
  }
  countSums[thread] = count;
  massSums[thread] = mass;
  addUpBoth(thread);
  if (thread > 0u) {
    for (var i = 0u; i < 4u; i++) {
      countTo[4u * thread + i] += countSums[thread - 1u];
      massTo[4u * thread + i] += massSums[thread - 1u];
    }
  }
  let n = countSums[Threads - 1u];
  let total = massSums[Threads - 1u];
  let hasK = (row.flags & TopK) != 0u && n > row.k;
  let hasP = (row.flags & TopP) != 0u;
  workgroupBarrier();
  for (var i = 0u; i < 4u; i++) {
    let bucket = 4u * thread + i;
    if (hasK && countTo[bucket] >= row.k) { atomicMin(&kBucket, bucket); }
  }
  workgroupBarrier();
  let k = atomicLoad(&kBucket);
  if (hasP) {
    // The mass of the top-k set lies between the mass above its last bucket and the mass up to and
    // including that bucket.
    var least = total;
    var most = total;
    if (hasK) {
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
  next.phase = Known;
  next.hasK = select(0u, 1u, hasK);
  if (hasK || hasP) {
    next.lo = select(Reach, k, hasK);
    // Top-p is relative to the mass of the first k tokens, so the slab reaches to the k-th.
    next.hi = next.lo;
    if (hasP) {
      next.lo = min(next.lo, atomicLoad(&pLow));
      if (!hasK) { next.hi = atomicLoad(&pHigh); }
    }
    if (next.lo > 0u) {
      next.countBefore = countTo[next.lo - 1u];
      next.massBefore = massTo[next.lo - 1u];
    }
    // Masses inside the slab are summed exactly there, so that equal values keep exactly equal
    // shares.
    if (!hasK && next.hi < Reach) { next.massAfter = max(0.0, total - massTo[next.hi]); }
    let last = select(countTo[next.hi], n, next.hi == Reach);
    if (last - next.countBefore > SlabSize) { next.phase = NeedsRow; }
  }
  stats[group.x] = next;
}
`
