/**
 * Decodes compressed bodies of requests piece by piece.
 *
 * A few kilobytes can decode to gigabytes, and endless input to nothing. So input and output are
 * both counted while they flow, and decoding stops when either exceeds the bound of a body. The
 * decoders of Node run outside the event loop and are loaded with the first compressed body. A
 * platform without decoders refuses the encoding by name.
 */
import { Refusal } from "../errors.ts"
import { quote } from "./quote.ts"

type Transform = import("node:stream").Transform

/** Only newer versions of Node decode zstd. */
interface Zlib
  extends Pick<typeof import("node:zlib"), "createGunzip" | "createInflate" | "createBrotliDecompress"> {
  createZstdDecompress?: (options: object) => Transform
  constants: { ZSTD_d_windowLogMax?: number }
}

/**
 * Logarithm of the largest window of a zstd decoder, from RFC 8878; a frame that needs more is
 * refused.
 */
const maxWindowLog = 23

/** Decoders by the name of an encoding. Some versions of Node lack one of them. */
const decoders: Readonly<Record<string, (zlib: Zlib) => Transform | undefined>> = {
  gzip: (zlib) => zlib.createGunzip(),
  "x-gzip": (zlib) => zlib.createGunzip(),
  deflate: (zlib) => zlib.createInflate(),
  br: (zlib) => zlib.createBrotliDecompress(),
  zstd: ({ createZstdDecompress, constants: { ZSTD_d_windowLogMax: windowLog } }) =>
    windowLog === undefined ? undefined : createZstdDecompress?.({ params: { [windowLog]: maxWindowLog } }),
}

/**
 * Returns the encoding of a body, or null if it has none. Throws `Refusal` (415) if the encoding
 * cannot be decoded.
 */
export function encodingOf(request: Request): string | null {
  const given = (request.headers.get("content-encoding") ?? "").trim().toLowerCase()
  if (given === "" || given === "identity") return null
  if (Object.hasOwn(decoders, given)) return given
  throw unsupported(given)
}

/**
 * Yields the decoded pieces. Throws the errors of reading `body`, `tooLarge()` if more than
 * `maxBytes` come in, and `Refusal` if the bytes are not valid in the encoding. The caller counts
 * the output. Leaving the loop early ends the decoder and the body.
 */
export async function* decoded(
  body: AsyncIterable<Uint8Array>,
  encoding: string,
  maxBytes: number,
  tooLarge: () => Refusal,
): AsyncGenerator<Uint8Array> {
  const node = await nodeModules()
  const decoder = node && decoders[encoding](node.zlib)
  if (!node || !decoder) throw unsupported(encoding)
  let failure: unknown
  async function* counted(): AsyncGenerator<Uint8Array> {
    let count = 0
    try {
      for await (const piece of body) {
        count += piece.length
        if (count > maxBytes) throw tooLarge()
        yield piece
      }
    } catch (error) {
      failure = error
      throw error
    }
  }
  const source = node.stream.Readable.from(counted(), { objectMode: false })
  // Errors of either stream are thrown by the read of the decoder.
  node.stream.pipeline(source, decoder, () => {})
  try {
    yield* decoder as AsyncIterable<Uint8Array>
  } catch (error) {
    if (failure !== undefined) throw failure
    const why = error instanceof Error ? error.message : String(error)
    throw new Refusal("invalid_json", `content-encoding is ${encoding}, and the body is not: ${why}`, {
      hint: "Send the body as the header says, or both without the encoding",
    })
  }
}

async function nodeModules(): Promise<{
  zlib: Zlib
  stream: Pick<typeof import("node:stream"), "Readable" | "pipeline">
} | null> {
  try {
    const [zlib, stream] = await Promise.all([import("node:zlib"), import("node:stream")])
    return { zlib: zlib as Zlib, stream }
  } catch {
    return null
  }
}

function unsupported(encoding: string): Refusal {
  return new Refusal("unsupported_encoding", `content-encoding ${quote(encoding)} cannot be decoded here`, {
    hint: "Send the body without an encoding, or as gzip, deflate or br",
    headers: { "accept-encoding": "gzip, deflate, br" },
  })
}
