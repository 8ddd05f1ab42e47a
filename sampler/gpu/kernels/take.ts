/**
 * `take`: the last read of a filtered row. Finds the arg-max of value plus noise over the tokens
 * that are surely kept, and appends the tokens in doubt to the row's slab, in any order. For
 * mirostat rows it also sums the mass of the kept tokens.
 *
 * Launch: (tiles, rows) workgroups of 256 threads. Reads logits, atlas, rows, edits, stats; writes
 * partials, slab.
 */
import { Threads } from "../layout.ts"
import { argmax, common, floatSum, tileLoader } from "./common.ts"
import { place } from "./place.ts"

export const take = /* wgsl */ `
${common}
${tileLoader}
${argmax}
${place}
${floatSum}
var<workgroup> loaded: Stat;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let tile = group.x;
  let row = rows[group.y];
  if (thread == 0u) { loaded = stats[group.y]; }
  let known = workgroupUniformLoad(&loaded);
  if (known.phase != Known) { return; }
  prepareTile(row, tile, thread);
  var bestScore = 0.0;
  var bestKey = 0u;
  var bestId = NoToken;
  var mass = 0.0;
  for (var i = 0u; i < 8u; i++) {
    let local = i * Threads + thread;
    let bits = load(row, tile, local);
    if (bits >= Bad) { continue; }
    let value = bitcast<f32>(bits);
    if (value < known.threshold) { continue; }
    let token = tile * Tile + local;
    let side = placeOf(known, value);
    if (side == 0u) {
      let gap = value - known.zmax;
      if ((row.flags & Mirostat) != 0u) { mass += exp(gap); }
      if (bestId != NoToken && gap + 22.875 <= bestScore) { continue; }
      let score = gap + gumbel(tokenBits(token, row));
      let key = keyOf(score + 0.0);
      if (key > bestKey) {
        bestKey = key;
        bestScore = score;
        bestId = token;
      }
    } else if (side == 1u) {
      let base = group.y * SlabWords;
      let index = atomicAdd(&slab[base], 1u);
      if (index < SlabSize) {
        atomicStore(&slab[base + 2u + 2u * index], keyOf(value));
        atomicStore(&slab[base + 3u + 2u * index], token);
      }
    }
  }
  if ((row.flags & Mirostat) != 0u) { mass = sumFloats(thread, mass); }
  reduceBest(thread, bestKey, bestId);
  if (thread == 0u) {
    partials[group.y * shape.tiles + tile] = Partial(bestKeys[0], bestIds[0], 0u, 0u, 0u, mass, 0.0, 0u);
  }
}
`
