/** Where an error is: the place of the pattern, or the offset in a pattern that stands alone. */
export function errorPath(path: string, offset: number): string {
  return path === "" ? `offset ${offset}` : path
}
