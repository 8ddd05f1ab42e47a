/** Names that are close to another one, for messages about misspelt names. */

/**
 * Returns the name that was probably meant: equal except for case, `_` and `-`, or a few edits
 * away. Returns undefined if none is close.
 */
export function nearestName(given: string, names: readonly string[]): string | undefined {
  const plain = plainName(given)
  const most = Math.max(1, Math.min(3, Math.floor(plain.length / 3)))
  let best: string | undefined
  let least = most + 1
  for (const name of names) {
    const distance = editDistance(plain, plainName(name), most)
    if (distance >= least) continue
    best = name
    least = distance
  }
  return best
}

function plainName(name: string): string {
  return name
    .slice(0, 80)
    .toLowerCase()
    .replace(/[_\s-]/g, "")
}

/**
 * Returns the count of edits from `a` to `b` (insert, delete, replace, swap two neighbours), or
 * `most + 1` if there are more.
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    let least = i
    for (let j = 1; j <= b.length; j++) {
      const replaced = row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)
      let distance = Math.min(next[j - 1] + 1, row[j] + 1, replaced)
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        distance = Math.min(distance, before[j - 2] + 1)
      next.push(distance)
      least = Math.min(least, distance)
    }
    // No later row has less than the least of two rows, except for a swap, which adds one to the
    // row before.
    if (least > most + 1) return most + 1
    before = row
    row = next
  }
  return Math.min(row[b.length], most + 1)
}
