/**
 * The token that replaces a refused draft token: a Gumbel draw from max(0, p − q). p is the row's
 * distribution and q that of the draft. The host decides whether the draft token is refused, from
 * its p, which `rank` computed.
 *
 * `residual`: (tiles, asks) workgroups of 256 threads, after `describe`. Reads asks, logits, atlas,
 * rows, edits, stats, the answers; writes each tile's best score and id over its scratch.
 * `replace`: (asks) workgroups; joins the tiles' results.
 */
import { Threads } from "../layout.ts"
import { argmax, common, tileLoader } from "./common.ts"
import { place } from "./place.ts"
import { asked, askedRow } from "./rank.ts"

export const residual = /* wgsl */ `
${common}
${asked}
${tileLoader}
${argmax}
${place}
${askedRow}
var<workgroup> shownMax: u32;

/** Returns the probability of the token in the draft distribution. */
fn draftShare(ask: Ask, id: u32) -> f32 {
  var low = 0u;
  var high = ask.lawCount;
  while (low < high) {
    let middle = (low + high) / 2u;
    if (asks[ask.law + 2u * middle] < id) { low = middle + 1u; } else { high = middle; }
  }
  if (low == ask.lawCount || asks[ask.law + 2u * low] != id) { return 0.0; }
  return bitcast<f32>(asks[ask.law + 2u * low + 1u]);
}

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let ask = askAt(group.y);
  if ((ask.flags & Judged) == 0u) { return; }
  if (thread == 0u) { shownMax = atomicLoad(&answers[ask.answer + 1u]); }
  let maxKey = workgroupUniformLoad(&shownMax);
  if (maxKey == 0u) { return; }
  let mass = bitcast<f32>(atomicLoad(&answers[ask.answer]));
  let row = rowOf(ask);
  let known = stats[select(0u, ask.row, ask.row < shape.rows)];
  var noise = row;
  noise.key0 = ask.key0;
  noise.key1 = ask.key1;
  noise.key2 = ask.key2;
  prepareTile(row, tile, thread);
  var best = vec2u(0u, NoToken);
  for (var i = 0u; i < 8u; i++) {
    let local = i * Threads + thread;
    let id = tile * Tile + local;
    let key = keptKey(ask, row, known, load(row, tile, local), id);
    if (key == 0u) { continue; }
    let rest = exp(valueOf(key) - valueOf(maxKey)) / mass - draftShare(ask, id);
    if (rest <= 0.0) { continue; }
    let score = keyOf(log(rest) + gumbel(tokenBits(id, noise)) + 0.0);
    if (isBetter(score, id, best.x, best.y)) { best = vec2u(score, id); }
  }
  reduceBest(thread, best.x, best.y);
  if (thread == 0u) {
    let scratch = scratchAt(group.y, tile);
    atomicStore(&answers[scratch], bestKeys[0]);
    atomicStore(&answers[scratch + 1u], bestIds[0]);
  }
}
`

export const replace = /* wgsl */ `
${common}
${asked}
${argmax}
var<workgroup> shownMax: u32;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let ask = askAt(group.x);
  if ((ask.flags & Judged) == 0u) { return; }
  if (thread == 0u) { shownMax = atomicLoad(&answers[ask.answer + 1u]); }
  if (workgroupUniformLoad(&shownMax) == 0u) { return; }
  var best = vec2u(0u, NoToken);
  for (var tile = thread; tile < shape.tiles; tile += Threads) {
    let scratch = scratchAt(group.x, tile);
    let key = atomicLoad(&answers[scratch]);
    let id = atomicLoad(&answers[scratch + 1u]);
    if (isBetter(key, id, best.x, best.y)) { best = vec2u(key, id); }
  }
  reduceBest(thread, best.x, best.y);
  if (thread != 0u) { return; }
  let at = ask.answer + 4u + 2u * (ask.namedCount + ask.tops);
  atomicStore(&answers[at], bestKeys[0]);
  atomicStore(&answers[at + 1u], bestIds[0]);
}
`
