/**
 * Lists of integers as sets. Most of them have few members.
 */

/** Lists of at most this length are compared pairwise, because building a `Set` takes longer. */
const Few = 16

/** Returns `values` without duplicates, in their order; the list itself if it has none. */
export function distinct(values: number[]): number[] {
  if (values.length > Few) return [...new Set(values)]
  for (let i = 1; i < values.length; i++)
    if (values.indexOf(values[i]) < i) return values.filter((value, at) => values.indexOf(value) === at)
  return values
}

/** Sorts `values` in place and returns them. */
export function ascending(values: number[]): number[] {
  if (values.length > Few) return values.sort((a, b) => a - b)
  for (let i = 1; i < values.length; i++) {
    const value = values[i]
    let at = i
    for (; at > 0 && values[at - 1] > value; at--) values[at] = values[at - 1]
    values[at] = value
  }
  return values
}
