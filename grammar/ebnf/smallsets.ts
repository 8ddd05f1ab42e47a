/** Lists of integers as sets, most of them of a few. */

/** So few are compared with each other: a set of them takes longer to be made. */
const Few = 16

/** `values`, each once, in their order; the list itself where none stands twice. */
export function distinct(values: number[]): number[] {
  if (values.length > Few) return [...new Set(values)]
  for (let i = 1; i < values.length; i++)
    if (values.indexOf(values[i]) < i) return values.filter((value, at) => values.indexOf(value) === at)
  return values
}

/** `values`, put in order in their place. */
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
