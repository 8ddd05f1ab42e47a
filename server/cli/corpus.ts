/** A corpus of schemas and the vocabulary that its token ids belong to. */
import type { Vocabulary } from "../../runtime/index.ts"
import { type PackedRow, readMaskRows } from "../suite/maskbench.ts"
import { UnsplitError } from "../suite/rows.ts"
import { readTokenizer, readVocabulary } from "./vocabulary.ts"

/**
 * Reads a corpus, and the tokenizer only if rows lack token ids. Throws `CorpusError`, or
 * `UsageError` if the vocabulary cannot be read.
 */
export async function readCorpus(
  path: string,
  directory: string,
): Promise<{ vocabulary: Vocabulary; rows: PackedRow[] }> {
  const vocabulary = await readVocabulary(directory)
  const { width } = vocabulary
  try {
    return { vocabulary, rows: await readMaskRows(path, { width, encode: null }) }
  } catch (error) {
    if (!(error instanceof UnsplitError)) throw error
    const { encodePart: encode } = await readTokenizer(directory)
    return { vocabulary, rows: await readMaskRows(path, { width, encode }) }
  }
}
