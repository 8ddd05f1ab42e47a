/**
 * Stages that the device has only for rows with few legal tokens: dynamic temperature, typical,
 * epsilon and eta cutoffs, XTC, mirostat 1. They depend on entropies, drop tokens from the middle
 * or the head, or fit a distribution to the sorted head. Over sorted pairs in the memory of the
 * workgroup, each is a few sums. Names are those of `truncation.ts`.
 */
import { SortSize } from "../layout.ts"

/** Number of adjacent pairs that mirostat 1 fits its Zipf distribution to. */
const FitCount = 99
const steps = Array.from({ length: FitCount }, (_, i) => Math.fround(Math.log((i + 2) / (i + 1))))

export const rare = /* wgsl */ `
struct RareParams { typicalP: f32, epsilon: f32, eta: f32, xtcThreshold: f32, low: f32, high: f32, exponent: f32 }
/** Exponentials of the sorted pairs. */
var<workgroup> weights: array<f32, ${SortSize}>;
/**
 * ln((i + 2) / (i + 1)). These are constants, since no device's logarithm is precise enough near 1.
 */
var<private> zipfSteps: array<f32, ${FitCount}> = array<f32, ${FitCount}>(${steps.map((x) => x.toPrecision(9)).join(", ")});

/** Returns the two records that follow the row's edits. */
fn rareOf(row: Row) -> RareParams {
  let a = edits[row.editOffset + row.editCount];
  let b = edits[row.editOffset + row.editCount + 1u];
  return RareParams(bitcast<f32>(a.id), bitcast<f32>(a.flags), a.bias, a.sub, bitcast<f32>(b.id), bitcast<f32>(b.flags), b.bias);
}

/**
 * For the first \`limit\` pairs: the sum of exponentials, and their mean distance from the maximum,
 * which is log(sum) − H.
 */
fn momentsOf(thread: u32, zmax: f32, limit: u32) -> vec2f {
  var own = vec2f(0.0);
  for (var i = thread; i < limit; i += Threads) {
    if (keys[i] == 0u) { continue; }
    let gap = valueOf(keys[i]) - zmax;
    let weight = exp(gap);
    own += vec2f(weight, select(0.0, weight * gap, weight > 0.0));
  }
  let mass = sumFloats(thread, own.x);
  return vec2f(mass, sumFloats(thread, own.y) / mass);
}

/**
 * Returns 1 / T for a row whose temperature depends on its entropy, or 0 if the resulting
 * temperature is greedy. The pairs need not be sorted.
 */
fn dynamicInverse(row: Row, thread: u32, zmax: f32, size: u32, live: u32) -> f32 {
  let params = rareOf(row);
  let moments = momentsOf(thread, zmax, size);
  let entropy = max(0.0, log(moments.x) - moments.y);
  var share = 1.0;
  if (live > 1u) { share = min(1.0, entropy / log(f32(live))); }
  let moved = select(0.0, pow(max(share, 1e-30), params.exponent), share > 1e-30);
  let temperature = params.low + (params.high - params.low) * moved;
  if (temperature < 1e-5) { return 0.0; }
  return 1.0 / temperature;
}

/**
 * Returns how many tokens mirostat 1 keeps, from the fit of a Zipf distribution to the head. μ is
 * stored in the field of top-nσ.
 */
fn zipfCount(row: Row, thread: u32, live: u32) -> u32 {
  var own = vec2f(0.0);
  if (thread < ${FitCount}u && thread + 1u < live) {
    let step = zipfSteps[thread];
    own = vec2f(step * (valueOf(keys[thread]) - valueOf(keys[thread + 1u])), step * step);
  }
  let tb = sumFloats(thread, own.x);
  let tt = sumFloats(thread, own.y);
  if (tt == 0.0) { return live; }
  let slope = tb / tt;
  let logWidth = log(f32(shape.width));
  // If all values are equal, the power below is infinite or 0.
  if (slope == 0.0) { return select(1u, live, exp2(row.sigmas) >= f32(shape.width - 1u)); }
  // ε / (1 − V^−ε) = y / (1 − e^−y) / ln V. Near y = 0 its series is used, since numerator and
  // denominator vanish.
  let y = (slope - 1.0) * logWidth;
  var ratio = 1.0 + y * 0.5 + y * y * (0.083333333 - y * y * 0.0013888889);
  if (abs(y) > 0.25) { ratio = y / (1.0 - exp(-min(y, 80.0))); }
  let exponent = (log2(ratio / logWidth) + row.sigmas) / slope;
  return u32(clamp(floor(exp2(min(exponent, 30.0))), 1.0, f32(live)));
}

/** Returns how many of the first \`limit\` pairs have at least this probability. */
fn probableCount(thread: u32, zmax: f32, limit: u32, least: f32) -> u32 {
  let bound = least * momentsOf(thread, zmax, limit).x;
  var own = 0u;
  for (var i = thread; i < limit; i += Threads) {
    if (exp(valueOf(keys[i]) - zmax) >= bound) { own += 1u; }
  }
  return sumCounts(thread, own);
}

fn keepProbable(thread: u32, zmax: f32, limit: u32, least: f32) -> u32 {
  return max(1u, probableCount(thread, zmax, limit, least));
}

fn keepEta(thread: u32, zmax: f32, limit: u32, eta: f32) -> u32 {
  let moments = momentsOf(thread, zmax, limit);
  let entropy = log(moments.x) - moments.y;
  return keepProbable(thread, zmax, limit, min(eta, sqrt(eta) * exp(-entropy)));
}

/**
 * Keeps the share of mass whose surprise is nearest to the mean surprise, and moves the kept pairs
 * together. For each pair, the mass of the nearer ones is summed over all pairs: at most 1,024²
 * additions, and no second sort.
 */
fn keepTypical(thread: u32, zmax: f32, limit: u32, share: f32) -> u32 {
  let moments = momentsOf(thread, zmax, limit);
  for (var i = thread; i < limit; i += Threads) { weights[i] = exp(valueOf(keys[i]) - zmax); }
  workgroupBarrier();
  var kept = vec4u(0u);
  var pairs: array<vec2u, 4>;
  for (var i = 0u; i < 4u; i++) {
    let at = 4u * thread + i;
    if (at >= limit) { break; }
    pairs[i] = vec2u(keys[at], ids[at]);
    let own = abs(valueOf(keys[at]) - zmax - moments.y);
    var before = 0.0;
    var count = 0u;
    for (var j = 0u; j < limit; j++) {
      let other = abs(valueOf(keys[j]) - zmax - moments.y);
      if (other < own || (other == own && j < at)) {
        before += weights[j];
        count += 1u;
      }
    }
    if (count == 0u || before < share * moments.x) { kept[i] = 1u; }
  }
  // Where the pairs of each thread go. Counts up to 1,024 are exact as floats.
  let count = kept.x + kept.y + kept.z + kept.w;
  workgroupBarrier();
  sums[thread] = f32(count);
  addUpSums(thread);
  var to = u32(sums[thread]) - count;
  for (var i = 0u; i < 4u; i++) {
    if (kept[i] == 0u) { continue; }
    keys[to] = pairs[i].x;
    ids[to] = pairs[i].y;
    to += 1u;
  }
  return sumCounts(thread, count);
}
`
