/** Weights → a model directory: what they are is read and refused first, then the directory is written. */
import type { BuildTask } from "./cache.ts"
import { inspect } from "./prepare.ts"

/** Writes the model directory of `source` into `folder`. Throws ModelError, and what the file system says. */
export async function convert(
  { source }: BuildTask,
  onProgress: (doneBytes: number, allBytes: number) => void,
): Promise<void> {
  onProgress(0, 0)
  await inspect(source)
}
