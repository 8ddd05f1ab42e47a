/**
 * Returns the path of an error: the place of the pattern, or the offset in a pattern without a
 * place.
 */
export function errorPath(path: string, offset: number): string {
  return path === "" ? `offset ${offset}` : path
}
