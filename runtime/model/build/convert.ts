/** Converts weights into a model directory: checks the weights first, then writes the directory. */
import { mkdir, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { checkRoom, makeFolder } from "../room.ts"
import { type BuildTask, checkDigests } from "./cache.ts"
import { writeDecoder } from "./decoder.ts"
import { inFile, prepare } from "./prepare.ts"

/** Maximum bytes of the graph and of config.json. */
const graphBytes = 2 ** 22

/**
 * Writes the model directory of `source` into `folder`. Throws ModelError, and errors of the file
 * system.
 */
export async function convert(
  { source, dtype, provider, disk, folder }: BuildTask,
  onProgress: (doneBytes: number, allBytes: number) => void,
): Promise<void> {
  const { decoder, dataBytes, weights, texts, endIds, fileType } = await prepare(source, dtype)
  try {
    const textBytes = [...texts.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    await checkRoom(`${source.path}: its converted copy`, disk, dataBytes + textBytes + graphBytes)
    await checkDigests(source)
    await mkdir(folder)
    await writeDecoder(decoder, weights, folder, { dtype, provider, endIds, fileType, onProgress })
    // These files are written last, so that a directory without them counts as incomplete.
    for (const [file, text] of texts) {
      await makeFolder(dirname(join(folder, file)))
      await writeFile(join(folder, file), text)
    }
  } catch (error) {
    throw inFile(source.path, error)
  } finally {
    weights.close()
  }
}
