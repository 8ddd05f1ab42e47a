/**
 * The parts that all kernels share: the records, the bindings, and the path from a logit to a
 * value.
 *
 * WGSL may assume that no float is NaN or infinite. So these are recognised by their bits, and "not
 * allowed" is a bit pattern of its own, never −∞. The source of each kernel is this text and its
 * own; a pipeline binds only what it uses.
 */
import {
  Buckets,
  EditFlag,
  HistWords,
  LogitFormat,
  Reach,
  ResultStatus,
  RowFlag,
  SlabSize,
  SlabWords,
  SortSize,
  Threads,
  Tile,
  WarmMargin,
} from "../layout.ts"

export const common = /* wgsl */ `
/**
 * rows: number of rows on the long path; short rows follow them. stride: logits from one row to the
 * next. scratch: offset of the scratch memory of answers.
 */
struct Shape { width: u32, words: u32, tiles: u32, rows: u32, stride: u32, format: u32, scratch: u32, pad: u32 }
struct Row {
  flags: u32, slot: u32, slot2: u32, editOffset: u32,
  editCount: u32, inverseT: f32, k: u32, p: f32,
  logMinP: f32, sigmas: f32, penalty: f32, inversePenalty: f32,
  key0: u32, key1: u32, key2: u32, logitsRow: u32,
}
struct Edit { id: u32, flags: u32, bias: f32, sub: f32 }
/**
 * bestKey, bestId: arg-max of the score. n: number of values; bad: a NaN was found. mean, squares:
 * mean of the values and sum of squares about it. In a mirostat row, mean is the sum of
 * exponentials relative to the maximum of the tile, and after \`take\` relative to that of the row.
 */
struct Partial { bestKey: u32, bestId: u32, maxKey: u32, n: u32, bad: u32, mean: f32, squares: f32, pad: u32 }
/**
 * top: grid line of the maximum; shift: how far above it the histogram's window begins. n: number
 * of values. lo, hi: the buckets between which the cut lies. massBefore, countBefore: mass and
 * count above bucket lo; massAfter: mass below bucket hi. cutKey, cutId: the last kept pair in
 * these buckets.
 */
struct Stat {
  phase: u32, zmax: f32, threshold: f32, massAfter: f32,
  lo: u32, hi: u32, top: f32, shift: u32,
  massBefore: f32, countBefore: u32, hasK: u32, n: u32,
  cutKey: u32, cutId: u32, pad0: u32, pad1: u32,
}
struct Result { token: u32, status: u32, value: u32, survivors: u32 }

@group(0) @binding(0) var<uniform> shape: Shape;
@group(0) @binding(1) var<storage, read> logits: array<u32>;
@group(0) @binding(2) var<storage, read> atlas: array<u32>;
@group(0) @binding(3) var<storage, read> rows: array<Row>;
@group(0) @binding(4) var<storage, read> edits: array<Edit>;
@group(0) @binding(5) var<storage, read_write> partials: array<Partial>;
@group(0) @binding(6) var<storage, read_write> stats: array<Stat>;
@group(0) @binding(7) var<storage, read_write> hist: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> slab: array<atomic<u32>>;
@group(0) @binding(9) var<storage, read_write> results: array<Result>;
/** Number of workgroups of \`hist\`, then of \`radix\`, if those are launched indirectly. */
@group(0) @binding(10) var<storage, read_write> indirect: array<atomic<u32>>;

const Tile = ${Tile}u;
const Threads = ${Threads}u;
const Buckets = ${Buckets}u;
const Reach = ${Reach}u;
const WarmMargin = ${WarmMargin}f;
const HistWords = ${HistWords}u;
const SlabSize = ${SlabSize}u;
const SortSize = ${SortSize}u;
const SlabWords = ${SlabWords}u;
const Greedy = ${RowFlag.greedy}u;
const Threshold = ${RowFlag.threshold}u;
const Sigma = ${RowFlag.sigma}u;
const MinP = ${RowFlag.minP}u;
const TopK = ${RowFlag.topK}u;
const TopP = ${RowFlag.topP}u;
const Hot = ${RowFlag.hot}u;
const Warm = ${RowFlag.warm}u;
const Mirostat = ${RowFlag.mirostat}u;
const Typical = ${RowFlag.typical}u;
const Epsilon = ${RowFlag.epsilon}u;
const Eta = ${RowFlag.eta}u;
const Xtc = ${RowFlag.xtc}u;
const Mirostat1 = ${RowFlag.mirostat1}u;
const Dynamic = ${RowFlag.dynamic}u;
/** Stages that need sorted pairs. */
const Rare = Typical | Epsilon | Eta | Xtc | Mirostat1;
const Float16 = ${LogitFormat.float16}u;
const BFloat16 = ${LogitFormat.bfloat16}u;
const Ban = ${EditFlag.ban}u;
const Repeated = ${EditFlag.repeated}u;
const Ok = ${ResultStatus.ok}u;
const EmptyMask = ${ResultStatus.emptyMask}u;
const ModelOutput = ${ResultStatus.modelOutput}u;
const Redo = ${ResultStatus.redo}u;
/**
 * Phases of a row: the result is written; a histogram is needed; the histogram is complete; the cut
 * is known to lie within the slab; the cut has to be found by the digits of the slab's pairs, or of
 * all pairs of the row.
 */
const Done = 0u;
const NeedsHist = 1u;
const NeedsCut = 2u;
const Known = 3u;
const NeedsSlab = 4u;
const NeedsRow = 5u;
/** Bit patterns that no clamped value has: a token that is not allowed, and NaN. */
const Dead = 0xffffffffu;
const Bad = 0xfffffffeu;
const NoToken = 0xffffffffu;
/** A cutKey that is larger than every key, so that nothing is kept. */
const NoneKept = 0xffffffffu;
const MaxLogit = 1e30f;

/**
 * Returns a key that grows with the float; 0 is below every key. The argument must not be NaN or
 * −0.
 */
fn keyOf(value: f32) -> u32 {
  let bits = bitcast<u32>(value);
  return bits ^ select(0x80000000u, 0xffffffffu, (bits >> 31u) == 1u);
}

fn valueOf(key: u32) -> f32 {
  return bitcast<f32>(key ^ select(0xffffffffu, 0x80000000u, (key >> 31u) == 1u));
}

fn tokenBits(token: u32, row: Row) -> u32 {
  var x = (token * 0x9e3779b9u) ^ row.key0;
  x ^= x >> 16u;
  x *= 0x7feb352du;
  x ^= x >> 15u;
  x += row.key1;
  x *= 0x846ca68bu;
  x ^= x >> 16u;
  return x ^ row.key2;
}

/**
 * −ln(−log1p(−v)), v = (m + ½)·2^−32. WGSL has no log1p: a series is used for small v, else the log
 * of 1 − v.
 */
fn gumbel(m: u32) -> f32 {
  if (m < 0x10000000u) {
    let v = (f32(m) + 0.5) * 2.3283064365386963e-10;
    return -log(v * (1.0 + v * (0.5 + v * (0.33333333 + v * (0.25 + v * (0.2 + v * 0.16666667))))));
  }
  return -log(-log((f32(~m) + 0.5) * 2.3283064365386963e-10));
}
`

/** Computes the value after temperature from a token's logit: stages 1 and 5 to 13. */
export const loader = /* wgsl */ `
/**
 * Returns the bits of a logit as float32. Half precision is widened by its bits, also subnormals,
 * infinities and NaNs.
 */
fn logitBits(row: Row, token: u32) -> u32 {
  let at = row.logitsRow * shape.stride + token;
  if (shape.format != Float16 && shape.format != BFloat16) { return logits[at]; }
  let half = (logits[at >> 1u] >> (16u * (at & 1u))) & 0xffffu;
  if (shape.format == BFloat16) { return half << 16u; }
  let sign = (half & 0x8000u) << 16u;
  let exponent = (half >> 10u) & 31u;
  let fraction = half & 1023u;
  if (exponent == 31u) { return sign | 0x7f800000u | (fraction << 13u); }
  if (exponent == 0u) { return sign | bitcast<u32>(f32(fraction) * 5.9604644775390625e-8); }
  return sign | ((exponent + 112u) << 23u) | (fraction << 13u);
}

/** Returns the first edit whose id is not below the token's. */
fn findEdit(row: Row, token: u32) -> Edit {
  var low = row.editOffset;
  var high = row.editOffset + row.editCount - 1u;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (edits[middle].id < token) { low = middle + 1u; } else { high = middle; }
  }
  return edits[low];
}

/**
 * Returns the bits of the value of an allowed token after temperature, or Dead, or Bad. mayEdit:
 * the row may have an edit of this token.
 */
fn valueBits(row: Row, token: u32, mayEdit: bool) -> u32 {
  let bits = logitBits(row, token);
  if ((bits & 0x7fffffffu) > 0x7f800000u) { return Bad; }
  if (bits == 0xff800000u) { return Dead; }
  var value = MaxLogit;
  if (bits == 0x80000000u) { value = 0.0; } else if (bits != 0x7f800000u) {
    value = clamp(bitcast<f32>(bits), -MaxLogit, MaxLogit);
  }
  if (mayEdit) {
    let edit = findEdit(row, token);
    if (edit.id == token) {
      if ((edit.flags & Ban) != 0u) { return Dead; }
      value += edit.bias;
      if ((edit.flags & Repeated) != 0u) {
        value *= select(row.penalty, row.inversePenalty, value > 0.0);
        value = clamp(value, -MaxLogit, MaxLogit);
      }
      value -= edit.sub;
    }
  }
  value *= row.inverseT;
  return select(bitcast<u32>(value), 0u, value == 0.0);
}
`

/**
 * For kernels that read tiles of logits: all threads call `prepareTile`, then each calls `load` for
 * one token at a time.
 */
export const tileLoader = /* wgsl */ `
${loader}
/** One bit for each token of the tile, set if the token has an edit. */
var<workgroup> edited: array<atomic<u32>, ${Tile / 32}>;

fn prepareTile(row: Row, tile: u32, thread: u32) {
  if (row.editCount == 0u) { return; }
  workgroupBarrier();
  if (thread < Tile / 32u) { atomicStore(&edited[thread], 0u); }
  workgroupBarrier();
  for (var e = thread; e < row.editCount; e += Threads) {
    let local = edits[row.editOffset + e].id - tile * Tile;
    if (local < Tile) { atomicOr(&edited[local >> 5u], 1u << (local & 31u)); }
  }
  workgroupBarrier();
}

fn isAllowed(row: Row, token: u32) -> bool {
  let at = token >> 5u;
  let word = atlas[row.slot * shape.words + at] & atlas[row.slot2 * shape.words + at];
  return (word & (1u << (token & 31u))) != 0u;
}

/** Returns the bits of the token's value after temperature, or Dead, or Bad. Stages 1 to 13. */
fn load(row: Row, tile: u32, local: u32) -> u32 {
  let token = tile * Tile + local;
  if (token >= shape.width || !isAllowed(row, token)) { return Dead; }
  let mayEdit = row.editCount > 0u && (atomicLoad(&edited[local >> 5u]) & (1u << (local & 31u))) != 0u;
  return valueBits(row, token, mayEdit);
}
`

/** Arg-max over the workgroup: the highest key, and the lowest id among equal keys. */
export const argmax = /* wgsl */ `
var<workgroup> bestKeys: array<u32, ${Threads}>;
var<workgroup> bestIds: array<u32, ${Threads}>;

fn isBetter(key: u32, id: u32, otherKey: u32, otherId: u32) -> bool {
  return key > otherKey || (key == otherKey && id < otherId);
}

/** Stores the better of two elements at \`at\`. */
fn keepBetter(at: u32, other: u32) {
  if (isBetter(bestKeys[other], bestIds[other], bestKeys[at], bestIds[at])) {
    bestKeys[at] = bestKeys[other];
    bestIds[at] = bestIds[other];
  }
}

/** Reduces to the best pair. The result is in element 0, after a barrier. */
fn reduceBest(thread: u32, key: u32, id: u32) {
  workgroupBarrier();
  bestKeys[thread] = key;
  bestIds[thread] = id;
  workgroupBarrier();
  for (var step = Threads / 2u; step > 0u; step /= 2u) {
    if (thread < step) { keepBetter(thread, thread + step); }
    workgroupBarrier();
  }
}
`

/** Float sums in a fixed tree, which have the same bits in any batch. */
export const floatSum = /* wgsl */ `
var<workgroup> sums: array<f32, ${Threads}>;

fn sumFloats(thread: u32, value: f32) -> f32 {
  workgroupBarrier();
  sums[thread] = value;
  workgroupBarrier();
  for (var step = Threads / 2u; step > 0u; step /= 2u) {
    if (thread < step) { sums[thread] += sums[thread + step]; }
    workgroupBarrier();
  }
  return sums[0];
}
`

/**
 * Counts and masses of the threads. `addUpBoth` replaces each by the sum of all up to and including
 * it.
 */
export const runningSums = /* wgsl */ `
var<workgroup> countSums: array<u32, ${Threads}>;
var<workgroup> massSums: array<f32, ${Threads}>;

fn addUpBoth(thread: u32) {
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
}
`
