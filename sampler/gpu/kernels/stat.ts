/**
 * `stat`: a row's tiles become one answer. Greedy and unfiltered rows end here; filtered rows get maximum and threshold.
 *
 * Launch: (rows) workgroups of 256 threads. Reads rows, partials; writes stats, results of rows that end, counters of slabs.
 */
import { Threads } from "../layout.ts"
import { argmax, common } from "./common.ts"

export const stat = /* wgsl */ `
${common}
${argmax}
var<workgroup> maxKeys: array<u32, ${Threads}>;
var<workgroup> counts: array<u32, ${Threads}>;
var<workgroup> bads: array<u32, ${Threads}>;
var<workgroup> means: array<f32, ${Threads}>;
var<workgroup> squares: array<f32, ${Threads}>;

/** Mean and squares of two sets from those of each. Chan, Golub, LeVeque 1979. */
fn join(n: u32, mean: f32, square: f32, n2: u32, mean2: f32, square2: f32) -> vec2f {
  if (n2 == 0u) { return vec2f(mean, square); }
  if (n == 0u) { return vec2f(mean2, square2); }
  let share = f32(n2) / f32(n + n2);
  let gap = mean2 - mean;
  return vec2f(mean + gap * share, square + square2 + gap * gap * f32(n) * share);
}

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = rows[group.x];
  var bestKey = 0u;
  var bestId = NoToken;
  var maxKey = 0u;
  var n = 0u;
  var bad = 0u;
  var moments = vec2f(0.0);
  for (var tile = thread; tile < shape.tiles; tile += Threads) {
    let part = partials[group.x * shape.tiles + tile];
    if (isBetter(part.bestKey, part.bestId, bestKey, bestId)) { bestKey = part.bestKey; bestId = part.bestId; }
    maxKey = max(maxKey, part.maxKey);
    moments = join(n, moments.x, moments.y, part.n, part.mean, part.squares);
    n += part.n;
    bad += part.bad;
  }
  bestKeys[thread] = bestKey;
  bestIds[thread] = bestId;
  maxKeys[thread] = maxKey;
  counts[thread] = n;
  bads[thread] = bad;
  means[thread] = moments.x;
  squares[thread] = moments.y;
  workgroupBarrier();
  for (var step = Threads / 2u; step > 0u; step /= 2u) {
    if (thread < step) {
      let other = thread + step;
      keepBetter(thread, other);
      maxKeys[thread] = max(maxKeys[thread], maxKeys[other]);
      let both = join(counts[thread], means[thread], squares[thread], counts[other], means[other], squares[other]);
      means[thread] = both.x;
      squares[thread] = both.y;
      counts[thread] += counts[other];
      bads[thread] += bads[other];
    }
    workgroupBarrier();
  }
  if (thread != 0u) { return; }
  atomicStore(&slab[group.x * SlabWords], 0u);
  var next: Stat;
  next.phase = Done;
  if (bads[0] > 0u) {
    results[group.x] = Result(NoToken, ModelOutput, 0u, 0u);
  } else if (counts[0] == 0u) {
    results[group.x] = Result(NoToken, EmptyMask, 0u, 0u);
  } else if ((row.flags & (Threshold | TopK | TopP | Hot)) == 0u) {
    // Beside values this large the noise loses the bits that decide.
    let isCoarse = (row.flags & Greedy) == 0u && abs(valueOf(maxKeys[0])) > 256.0;
    results[group.x] = Result(bestIds[0], select(Ok, Redo, isCoarse), maxKeys[0], counts[0]);
  } else {
    let zmax = valueOf(maxKeys[0]);
    let sigma = sqrt(squares[0] / f32(counts[0]));
    var threshold = -3.4e38;
    if ((row.flags & Sigma) != 0u) { threshold = max(threshold, zmax - row.sigmas * sigma); }
    if ((row.flags & MinP) != 0u) { threshold = max(threshold, zmax + row.logMinP); }
    next.zmax = zmax;
    next.threshold = min(threshold, zmax);
    next.phase = select(Known, NeedsLevel0, (row.flags & (TopK | TopP)) != 0u);
    // Without a cut by rank or mass everything above the threshold is surely kept: no bucket is in doubt.
    next.lo = Buckets;
    next.hi = Buckets;
    next.lo1 = Buckets;
    next.hi1 = Buckets;
    // Squares of such values leave float32, and differences of them lose what the buckets are made of.
    let isHuge = abs(zmax) > 1e6 || ((row.flags & Sigma) != 0u && !(squares[0] < 1e30 && abs(means[0]) < 1e6));
    if (isHuge) {
      results[group.x] = Result(NoToken, Redo, 0u, 0u);
      next.phase = Done;
    }
  }
  stats[group.x] = next;
}
`
