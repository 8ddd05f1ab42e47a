/**
 * `describe`: joins what `rank` found in the tiles of an ask into one answer: maximum, mass, and
 * the likeliest tokens. Tiles ascend by id, so among equal maxima that of the lower tile comes
 * first. Only tiles whose maximum is among the likeliest can hold one of them.
 *
 * Launch: (asks) workgroups of 256 threads. Reads asks, the scratch of answers; writes answers.
 */
import { MaxTops } from "../asks.ts"
import { Threads } from "../layout.ts"
import { argmax, common, floatSum } from "./common.ts"
import { asked } from "./rank.ts"

/** Number of tiles of the widest row. */
const MaxTiles = 512

export const describe = /* wgsl */ `
${common}
${asked}
${argmax}
${floatSum}
var<workgroup> tileKeys: array<u32, ${MaxTiles}>;
var<workgroup> firstCount: atomic<u32>;
var<workgroup> firstKeys: array<u32, ${MaxTops * MaxTops}>;
var<workgroup> firstIds: array<u32, ${MaxTops * MaxTops}>;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let ask = askAt(group.x);
  if (thread == 0u) { atomicStore(&firstCount, 0u); }
  var best = 0u;
  for (var tile = thread; tile < shape.tiles; tile += Threads) {
    tileKeys[tile] = atomicLoad(&answers[scratchAt(group.x, tile) + 1u]);
    best = max(best, tileKeys[tile]);
  }
  reduceBest(thread, best, thread);
  let maxKey = bestKeys[0];
  var own = 0.0;
  for (var tile = thread; tile < shape.tiles; tile += Threads) {
    let scratch = scratchAt(group.x, tile);
    if (tileKeys[tile] == 0u) { continue; }
    own += bitcast<f32>(atomicLoad(&answers[scratch])) * exp(valueOf(tileKeys[tile]) - valueOf(maxKey));
    var before = 0u;
    for (var other = 0u; other < shape.tiles; other++) {
      before += select(0u, 1u, isBetter(tileKeys[other], other, tileKeys[tile], tile));
    }
    if (before >= ask.tops) { continue; }
    for (var i = 0u; i < ask.tops; i++) {
      let key = atomicLoad(&answers[scratch + 2u + 2u * i]);
      if (key == 0u) { break; }
      let at = atomicAdd(&firstCount, 1u);
      firstKeys[at] = key;
      firstIds[at] = atomicLoad(&answers[scratch + 3u + 2u * i]);
    }
  }
  let mass = sumFloats(thread, own);
  if (thread == 0u) {
    atomicStore(&answers[ask.answer], bitcast<u32>(mass));
    atomicStore(&answers[ask.answer + 1u], maxKey);
  }
  let count = atomicLoad(&firstCount);
  let tops = ask.answer + 4u + 2u * ask.namedCount;
  for (var i = thread; i < count; i += Threads) {
    var place = 0u;
    for (var other = 0u; other < count; other++) {
      place += select(0u, 1u, isBetter(firstKeys[other], firstIds[other], firstKeys[i], firstIds[i]));
    }
    if (place < ask.tops) {
      atomicStore(&answers[tops + 2u * place], firstKeys[i]);
      atomicStore(&answers[tops + 2u * place + 1u], firstIds[i]);
    }
  }
}
`
