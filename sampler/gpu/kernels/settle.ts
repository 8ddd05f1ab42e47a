/**
 * `settle`: sorts a row's slab in pinned order, makes the exact cuts (top-k, then top-p), adds the
 * noise to the kept pairs, and joins the result with the tokens that were surely kept. Rows with
 * more tokens in doubt than can be sorted are left to `radix`.
 *
 * Launch: (rows) workgroups of 256 threads. Reads rows, partials, slab, stats; writes results and
 * the cut, or stats and the launch of `radix`.
 */
import { Threads } from "../layout.ts"
import { argmax, common, floatSum } from "./common.ts"
import { ranked, surprise } from "./ranked.ts"

export const settle = /* wgsl */ `
${common}
${argmax}
${floatSum}
${ranked}
${surprise}
var<workgroup> loaded: Stat;
var<workgroup> shownCount: u32;

@compute @workgroup_size(${Threads})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
  let row = rows[group.x];
  if (thread == 0u) {
    loaded = stats[group.x];
    shownCount = atomicLoad(&slab[group.x * SlabWords]);
  }
  let known = workgroupUniformLoad(&loaded);
  let count = workgroupUniformLoad(&shownCount);
  if (known.phase == Done) { return; }
  if (known.phase == NeedsRow || count > SortSize) {
    if (thread == 0u) {
      stats[group.x].phase = select(NeedsSlab, NeedsRow, known.phase == NeedsRow || count > SlabSize);
      atomicStore(&indirect[3], shape.rows);
      atomicStore(&indirect[4], 1u);
      atomicStore(&indirect[5], 1u);
    }
    return;
  }
  let size = sortSize(count);
  for (var i = thread; i < size; i += Threads) {
    let at = group.x * SlabWords + 2u + 2u * i;
    keys[i] = select(0u, atomicLoad(&slab[at]), i < count);
    ids[i] = select(NoToken, atomicLoad(&slab[at + 1u]), i < count);
  }
  sortPairs(thread, size);
  let hasK = known.hasK == 1u;
  let limit = select(count, min(count, row.k - min(row.k, known.countBefore)), hasK);
  var cut = Nucleus(limit, limit, limit);
  if ((row.flags & TopP) != 0u) {
    cut = nucleus(row, thread, known.zmax, limit, known.countBefore, known.massBefore, known.massAfter);
  }
  let kept = cut.kept;
  var best = drawRange(row, thread, known.zmax, 0u, cut.perhaps);
  var mass = 0.0;
  for (var tile = thread; tile < shape.tiles; tile += Threads) {
    let part = partials[group.x * shape.tiles + tile];
    if (isBetter(part.bestKey, part.bestId, best.x, best.y)) { best = vec2u(part.bestKey, part.bestId); }
    mass += part.mean;
  }
  if ((row.flags & Mirostat) != 0u) { mass = sumFloats(thread, mass); }
  reduceBest(thread, best.x, best.y);
  // Any other drawn token has the best score among the surely kept ones, so the exact position of
  // the cut does not matter.
  let isDoubtful = isAmong(thread, bestIds[0], cut.sure, cut.perhaps);
  if (thread != 0u) { return; }
  stats[group.x].cutKey = NoneKept;
  if (kept > 0u) {
    stats[group.x].cutKey = keys[kept - 1u];
    stats[group.x].cutId = ids[kept - 1u];
  }
  if (isDoubtful) {
    results[group.x] = Result(NoToken, Redo, 0u, 0u);
  } else if ((row.flags & Mirostat) != 0u) {
    results[group.x] = Result(bestIds[0], Ok, surpriseOf(row, bestKeys[0], bestIds[0], mass), known.n);
  } else {
    results[group.x] = Result(bestIds[0], Ok, bitcast<u32>(known.zmax), known.countBefore + kept);
  }
}
`
