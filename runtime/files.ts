/**
 * Files of the package (worker entry, embedded model) have the same specifier whether this code
 * runs from source, from `dist` or installed: the package resolves itself by name. A worker starts
 * only from `dist`, since Node 20 cannot run `.ts` files.
 */

import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/**
 * Returns the absolute path of a file of the package; `path` is relative to the folder of its
 * package.json.
 */
export function packageFile(path: string): string {
  return join(dirname(createRequire(import.meta.url).resolve("tokenrail/package.json")), path)
}
