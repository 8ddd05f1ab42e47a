/**
 * Files of the package (worker entry, embedded model) have one address whether this code runs from
 * source, from `dist` or installed: the package resolves itself by name. A worker starts from
 * `dist` only, since Node 20 runs no `.ts`.
 */

import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/**
 * Absolute path of a file that the package holds; `path` is relative to the folder of its
 * package.json.
 */
export function packageFile(path: string): string {
  return join(dirname(createRequire(import.meta.url).resolve("tokenrail/package.json")), path)
}
