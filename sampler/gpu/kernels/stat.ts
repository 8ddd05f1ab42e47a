/**
 * `stat`: joins a row's tiles into one answer. Greedy and unfiltered rows end here; filtered rows
 * get their maximum and threshold. If a histogram was started from a guess of the maximum, the
 * guess is verified; after a bad guess the histogram is cleared and made again.
 *
 * Launch: (rows) workgroups of 256 threads. Reads rows, partials; writes stats, results of rows
 * that end, counters of slabs, the launch of `hist`; clears hist.
 */
import { Threads } from "../layout.ts"
import { argmax, common, floatSum } from "./common.ts"
import { place } from "./place.ts"

export const stat = /* wgsl */ `
${common}
${argmax}
${floatSum}
${place}
var<workgroup> isBadGuess: u32;
var<workgroup> maxKeys: array<u32, ${Threads}>;
var<workgroup> counts: array<u32, ${Threads}>;
var<workgroup> bads: array<u32, ${Threads}>;
var<workgroup> means: array<f32, ${Threads}>;
var<workgroup> squares: array<f32, ${Threads}>;

/** Returns mean and sum of squares of the union of two sets. Chan, Golub, LeVeque 1979. */
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
  let zmax = valueOf(maxKeys[0]);
  var mass = 0.0;
  if ((row.flags & Mirostat) != 0u) {
    var sum = 0.0;
    for (var tile = thread; tile < shape.tiles; tile += Threads) {
      let part = partials[group.x * shape.tiles + tile];
      if (part.n > 0u) { sum += part.mean * exp(valueOf(part.maxKey) - zmax); }
    }
    mass = sumFloats(thread, sum);
  }
  if (thread == 0u) {
    isBadGuess = select(0u, 1u, decide(group.x, row, zmax, mass));
    atomicStore(&slab[group.x * SlabWords], 0u);
  }
  if (workgroupUniformLoad(&isBadGuess) == 0u) { return; }
  for (var i = thread; i < HistWords; i += Threads) { atomicStore(&hist[group.x * HistWords + i], 0u); }
}

/**
 * Run by one thread: writes the result, or what the next kernels need. Returns true if the row's
 * histogram was made in the wrong window.
 */
fn decide(index: u32, row: Row, zmax: f32, mass: f32) -> bool {
  var next: Stat;
  next.phase = Done;
  var isBad = false;
  if (bads[0] > 0u) {
    results[index] = Result(NoToken, ModelOutput, 0u, 0u);
  } else if (counts[0] == 0u) {
    results[index] = Result(NoToken, EmptyMask, 0u, 0u);
  } else if ((row.flags & (Threshold | TopK | TopP | Hot)) == 0u) {
    // Added to values this large, the noise loses the bits that decide.
    let isCoarse = (row.flags & Greedy) == 0u && abs(zmax) > 256.0;
    results[index] = Result(bestIds[0], select(Ok, Redo, isCoarse), bitcast<u32>(zmax), counts[0]);
  } else {
    let sigma = sqrt(squares[0] / f32(counts[0]));
    var threshold = -3.4e38;
    if ((row.flags & Sigma) != 0u) { threshold = max(threshold, zmax - row.sigmas * sigma); }
    if ((row.flags & MinP) != 0u) { threshold = max(threshold, zmax + row.logMinP); }
    if ((row.flags & Mirostat) != 0u) { threshold = zmax + log(mass) - row.sigmas * 0.69314718; }
    // If every surprise exceeds μ, only the first token of the pinned order is kept, even if others
    // are equal to it. Its probability is then 1 and its surprise 0.
    let isFirstAlone = (row.flags & Mirostat) != 0u && threshold > zmax;
    next.zmax = zmax;
    next.threshold = min(threshold, zmax);
    next.top = lineOf(zmax);
    next.n = counts[0];
    next.phase = select(Known, NeedsHist, (row.flags & (TopK | TopP)) != 0u);
    // Without a cut by rank or mass, every value above the threshold is surely kept, so no bucket
    // is in doubt.
    next.lo = Buckets;
    next.hi = Buckets;
    if ((row.flags & Warm) != 0u) {
      let shift = lineOf(row.sigmas) + WarmMargin - next.top;
      isBad = !(shift >= 0.0 && shift < f32(Buckets - Reach));
      if (!isBad) {
        next.phase = NeedsCut;
        next.shift = u32(shift);
      }
    }
    // Squares of such values overflow float32, and noise added to them loses bits that the
    // definition still distinguishes.
    let isHuge = abs(zmax) > 1e6 || ((row.flags & Sigma) != 0u && !(squares[0] < 1e30 && abs(means[0]) < 1e6));
    if (isFirstAlone) {
      results[index] = Result(bestIds[0], Ok, 0u, counts[0]);
      next.phase = Done;
      next.lo = 0u;
      next.hi = Reach;
      next.cutKey = maxKeys[0];
      next.cutId = bestIds[0];
    } else if (isHuge) {
      results[index] = Result(NoToken, Redo, 0u, 0u);
      next.phase = Done;
    }
    if (next.phase == NeedsHist) {
      atomicStore(&indirect[0], shape.tiles);
      atomicStore(&indirect[1], shape.rows);
      atomicStore(&indirect[2], 1u);
    }
  }
  stats[index] = next;
  return isBad;
}
`
