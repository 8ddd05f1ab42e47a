/**
 * `rank`: answers asks tile by tile: the maximum and mass of the tile, its likeliest tokens, and
 * how many of its tokens come before each named token. It does not sort. Each of the 256 threads
 * counts the maxima before its own; then the few values that can be among the first are compared
 * the same way.
 *
 * Launch: (tiles, asks) workgroups of 256 threads, after all other kernels of the batch. Reads
 * asks, results (the drawn token), logits, atlas, rows, edits, stats (the cut); adds to answers,
 * whose words are 0, and writes their scratch.
 */
import { AskFlag, AskWords, MaxTops, ScratchWords } from "../asks.ts"
import { Threads } from "../layout.ts"
import { argmax, common, floatSum, tileLoader } from "./common.ts"
import { place } from "./place.ts"

/** The records of `asks.ts`, and the value of a token under an ask. */
export const asked = /* wgsl */ `
struct Ask {
  row: u32, flags: u32, slot: u32, tops: u32, named: u32, namedCount: u32, answer: u32, law: u32, lawCount: u32,
  key0: u32, key1: u32, key2: u32,
}
@group(0) @binding(11) var<storage, read> asks: array<u32>;
@group(0) @binding(12) var<storage, read_write> answers: array<atomic<u32>>;
const Processed = ${AskFlag.processed}u;
const Judged = ${AskFlag.judged}u;
const MaxTops = ${MaxTops}u;

fn askAt(index: u32) -> Ask {
  let at = index * ${AskWords}u;
  return Ask(asks[at], asks[at + 1u], asks[at + 2u], asks[at + 3u], asks[at + 4u], asks[at + 5u], asks[at + 6u],
    asks[at + 7u], asks[at + 8u], asks[at + 9u], asks[at + 10u], asks[at + 11u]);
}

/**
 * Returns the offset of a tile's scratch memory for an ask. Answers end where the scratch memory
 * ends.
 */
fn scratchAt(index: u32, tile: u32) -> u32 {
  return shape.scratch + (index * shape.tiles + tile) * ${ScratchWords}u;
}
`

/** For kernels that read values. Needs `tileLoader` and `place`. */
export const askedRow = /* wgsl */ `
/** Returns the row that the ask refers to: the row itself, or the raw logits under one mask. */
fn rowOf(ask: Ask) -> Row {
  var row = rows[ask.row];
  if ((ask.flags & Processed) == 0u) {
    row.slot = ask.slot;
    row.slot2 = 0u;
    row.editCount = 0u;
    row.inverseT = 1.0;
  }
  return row;
}

/**
 * Returns the key of a value, or 0 if the row's cuts drop it. For raw values, only tokens that are
 * not allowed have 0.
 */
fn keptKey(ask: Ask, row: Row, known: Stat, bits: u32, id: u32) -> u32 {
  if (bits >= Bad) { return 0u; }
  let value = bitcast<f32>(bits);
  let key = keyOf(value);
  if ((ask.flags & Processed) == 0u || (row.flags & (Threshold | TopK | TopP)) == 0u) { return key; }
  let side = placeOf(known, value);
  let isCut = key < known.cutKey || (key == known.cutKey && id > known.cutId);
  return select(key, 0u, value < known.threshold || side == 2u || (side == 1u && isCut));
}
`

export const rank = /* wgsl */ `
${common}
${asked}
${tileLoader}
${argmax}
${floatSum}
${place}
${askedRow}
const MaxTargets = 129u;
var<workgroup> shownToken: u32;
var<workgroup> targetKeys: array<u32, MaxTargets>;
var<workgroup> targetIds: array<u32, MaxTargets>;
var<workgroup> targetCounts: array<atomic<u32>, MaxTargets>;
var<workgroup> firstCount: atomic<u32>;
var<workgroup> firstKeys: array<u32, 8u * MaxTops>;
var<workgroup> firstIds: array<u32, 8u * MaxTops>;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let ask = askAt(group.y);
  if (thread == 0u) {
    shownToken = select(NoToken, results[ask.row].token, results[ask.row].status == Ok);
    atomicStore(&firstCount, 0u);
  }
  let drawn = workgroupUniformLoad(&shownToken);
  if (drawn == NoToken) { return; }
  let row = rowOf(ask);
  // Only rows of the long path have a stat, and only its cuts are read.
  let known = stats[select(0u, ask.row, ask.row < shape.rows)];
  let targetCount = 1u + ask.namedCount;
  if (thread < targetCount) {
    var token = drawn;
    if (thread > 0u) { token = asks[ask.named + thread - 1u]; }
    var key = 0u;
    if (isAllowed(row, token)) { key = keptKey(ask, row, known, valueBits(row, token, row.editCount > 0u), token); }
    targetKeys[thread] = key;
    targetIds[thread] = token;
    atomicStore(&targetCounts[thread], 0u);
    if (tile == 0u) { atomicStore(&answers[ask.answer + 2u + 2u * thread], key); }
  }
  prepareTile(row, tile, thread);
  var keys: array<u32, 8>;
  var best = vec2u(0u, NoToken);
  for (var i = 0u; i < 8u; i++) {
    let local = i * Threads + thread;
    let id = tile * Tile + local;
    keys[i] = keptKey(ask, row, known, load(row, tile, local), id);
    if (keys[i] != 0u && isBetter(keys[i], id, best.x, best.y)) { best = vec2u(keys[i], id); }
  }
  workgroupBarrier();
  bestKeys[thread] = best.x;
  bestIds[thread] = best.y;
  workgroupBarrier();
  var maxKey = 0u;
  var before = 0u;
  for (var other = 0u; other < Threads; other++) {
    maxKey = max(maxKey, bestKeys[other]);
    before += select(0u, 1u, isBetter(bestKeys[other], bestIds[other], best.x, best.y));
  }
  var own = 0.0;
  for (var i = 0u; i < 8u; i++) {
    if (keys[i] != 0u) { own += exp(valueOf(keys[i]) - valueOf(maxKey)); }
    let id = tile * Tile + i * Threads + thread;
    // If enough maxima come before a thread's maximum, none of its values is among the first.
    if (keys[i] != 0u && before < ask.tops) {
      let at = atomicAdd(&firstCount, 1u);
      firstKeys[at] = keys[i];
      firstIds[at] = id;
    }
  }
  for (var nth = 0u; nth < targetCount; nth++) {
    var count = 0u;
    for (var i = 0u; i < 8u; i++) {
      let id = tile * Tile + i * Threads + thread;
      count += select(0u, 1u, isBetter(keys[i], id, targetKeys[nth], targetIds[nth]));
    }
    if (count > 0u) { atomicAdd(&targetCounts[nth], count); }
  }
  let mass = sumFloats(thread, own);
  let scratch = scratchAt(group.y, tile);
  if (thread == 0u) {
    atomicStore(&answers[scratch], bitcast<u32>(mass));
    atomicStore(&answers[scratch + 1u], maxKey);
  }
  if (thread < targetCount && targetKeys[thread] != 0u) {
    atomicAdd(&answers[ask.answer + 3u + 2u * thread], atomicLoad(&targetCounts[thread]));
  }
  let count = atomicLoad(&firstCount);
  if (thread < ask.tops) { atomicStore(&answers[scratch + 2u + 2u * thread], 0u); }
  workgroupBarrier();
  storageBarrier();
  if (thread >= count) { return; }
  var place = 0u;
  for (var other = 0u; other < count; other++) {
    place += select(0u, 1u, isBetter(firstKeys[other], firstIds[other], firstKeys[thread], firstIds[thread]));
  }
  if (place < ask.tops) {
    atomicStore(&answers[scratch + 2u + 2u * place], firstKeys[thread]);
    atomicStore(&answers[scratch + 3u + 2u * place], firstIds[thread]);
  }
}
`
