/** Graphs that are built of the tiny GGUF files in test/decoders, each in a folder of its own. */
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Decoder, decoderOfGguf, writeDecoder } from "../../runtime/model/build/decoder.ts"
import type { Provider } from "../../runtime/model/build/providers.ts"
import type { Dtype } from "../../runtime/model/weights/blocks.ts"
import { openGguf } from "../../runtime/model/weights/gguf.ts"

const decoders = "test/decoders"

/** What llama.cpp answers greedily, and some logits of the first token: [id, logit]. */
interface Expected {
  readonly prompt: readonly number[]
  readonly tokens: readonly number[]
  readonly logits: readonly (readonly [number, number])[]
}

export const expectedAnswers: Readonly<Record<string, readonly Expected[]>> = JSON.parse(
  readFileSync(join(decoders, "expected.json"), "utf8"),
)

export function ggufPath(name: string): string {
  return join(decoders, `${name}.gguf`)
}

/** Builds the graph of a tiny file. Returns the folder, in which a tokenizer stands in for the real one. */
export async function buildTiny(
  name: string,
  { dtype = "q8", provider = "cpu" }: { dtype?: Dtype; provider?: Provider } = {},
): Promise<{ folder: string; decoder: Decoder }> {
  const folder = mkdtempSync(join(tmpdir(), `built-${name}-`))
  const gguf = await openGguf(ggufPath(name))
  try {
    const decoder = decoderOfGguf(gguf)
    await writeDecoder(decoder, gguf, folder, { dtype, provider, endIds: [285] })
    writeFileSync(join(folder, "tokenizer.json"), "{}")
    return { folder, decoder }
  } finally {
    gguf.close()
  }
}
