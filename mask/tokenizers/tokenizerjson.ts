/**
 * The vocabulary of a `tokenizer.json`: how its pieces spell bytes. Reads parsed JSON and does no
 * I/O.
 *
 * The spelling depends on the tokenizer's decoder, never on the kind of model: ByteLevel maps 256
 * code points to bytes (Radford et al. 2019, GPT-2), byte fallback spells `<0x41>` (Kudo and
 * Richardson 2018, SentencePiece), WordPiece marks continuations.
 */
import { checkOptions } from "../../grammar/options.ts"
import { Vocabulary } from "../vocabulary.ts"

/**
 * Returns the vocabulary of a parsed `tokenizer.json` and its parsed `tokenizer_config.json` (null
 * if there is none). Special tokens outside `width` are ignored, because text models of multimodal
 * families share a tokenizer with the models that read images. Throws RangeError naming the field:
 * an unknown model or decoder, an id that is not an integer, a text token or an end id outside
 * `width`.
 */
export function parseVocabulary(
  tokenizerJson: unknown,
  tokenizerConfig: unknown,
  options: { width?: number; endIds: readonly number[] },
): Vocabulary {
  checkOptions(options, { width: "number", endIds: "list" })
  const model = member(tokenizerJson, "model")
  const spelling = readSpelling(tokenizerJson)
  const tokens: (Uint8Array | null)[] = []
  for (const [piece, id] of pieces(model)) {
    if (!Number.isInteger(id) || id < 0) {
      throw new RangeError(`model.vocab: id ${id} of ${JSON.stringify(piece)} is not an integer ≥ 0`)
    }
    while (tokens.length < id) tokens.push(null)
    tokens[id] = spelling.spell(piece)
  }
  const { width = Number.POSITIVE_INFINITY } = options
  const specials = new Map<string, number>()
  // The unknown token stands for text that the vocabulary cannot write: it has no bytes, whether it
  // is listed or not.
  const unknown = unknownId(model)
  if (unknown) specials.set(unknown.piece, unknown.id)
  for (const { id, content, special } of addedTokens(tokenizerJson, tokenizerConfig)) {
    if (special && id >= width && !options.endIds.includes(id)) continue
    while (tokens.length < id) tokens.push(null)
    // Added tokens are literal text and never pass through the byte map, since they are matched
    // before the tokenizer's model runs.
    tokens[id] = encoder.encode(content)
    if (special) specials.set(content, id)
  }
  const text = new TextDecoder()
  for (const id of options.endIds) {
    if (tokens[id]?.length && ![...specials.values()].includes(id)) specials.set(text.decode(tokens[id]), id)
  }
  return Vocabulary.fromBytes(tokens, {
    width: options.width ?? tokens.length,
    endIds: options.endIds,
    specials,
    dropsFirstSpace: spelling.dropsFirstSpace,
  })
}

const encoder = new TextEncoder()

/** Returns a member of parsed JSON; undefined if there is none. */
export function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[key] : undefined
}

/**
 * Returns the entries of `model.vocab`: an object piece → id (BPE, WordPiece) or a list of [piece,
 * score] (Unigram).
 */
function pieces(model: unknown): Iterable<[piece: string, id: number]> {
  const vocab = member(model, "vocab")
  if (Array.isArray(vocab)) return vocab.map((entry, id): [string, number] => [String(entry[0]), id])
  if (typeof vocab === "object" && vocab !== null) return Object.entries(vocab as Record<string, number>)
  throw new RangeError(
    "model.vocab is missing: tokenizer.json must hold a BPE, Unigram or WordPiece vocabulary",
  )
}

function unknownId(model: unknown): { piece: string; id: number } | undefined {
  const vocab = member(model, "vocab")
  if (Array.isArray(vocab)) {
    const id = member(model, "unk_id")
    return typeof id === "number" && vocab[id] ? { piece: String(vocab[id][0]), id } : undefined
  }
  const piece = member(model, "unk_token")
  if (typeof piece !== "string" || !Object.hasOwn(vocab as object, piece)) return undefined
  return { piece, id: (vocab as Record<string, number>)[piece] }
}

/**
 * A token that is matched before the tokenizer's model runs. If it is not special, its bytes are
 * the UTF-8 of its content.
 */
export interface AddedToken {
  id: number
  content: string
  special: boolean
}

/**
 * Both files list added tokens. Where they differ, tokenizer.json wins, since the tokenizer itself
 * reads it.
 */
function addedTokens(tokenizerJson: unknown, tokenizerConfig: unknown): AddedToken[] {
  const byId = new Map<number, AddedToken>()
  const listed = Object.entries(member(tokenizerConfig, "added_tokens_decoder") ?? {})
  const own = (member(tokenizerJson, "added_tokens") ?? []) as unknown[]
  for (const [id, token] of [...listed, ...own.map((token) => [member(token, "id"), token])]) {
    const content = member(token, "content")
    if (typeof content !== "string" || !Number.isInteger(Number(id)) || Number(id) < 0) {
      throw new RangeError(`added_tokens: ${JSON.stringify(token)} has no id ≥ 0 or no content`)
    }
    byId.set(Number(id), { id: Number(id), content, special: member(token, "special") === true })
  }
  return [...byId.values()]
}

interface Spelling {
  dropsFirstSpace: boolean
  spell(piece: string): Uint8Array
}

/**
 * Returns how the tokenizer's pieces spell bytes, from its decoder or, if it has none, from its
 * pre-tokenizer.
 */
function readSpelling(tokenizerJson: unknown): Spelling {
  const model = member(tokenizerJson, "model")
  const decoder = steps(member(tokenizerJson, "decoder"), "decoders")
  const source = decoder.length > 0 ? decoder : steps(member(tokenizerJson, "pre_tokenizer"), "pretokenizers")
  const named = (type: string) => source.find((step) => member(step, "type") === type)
  for (const step of decoder) {
    if (!knownDecoders.includes(String(member(step, "type")))) {
      throw new RangeError(
        `decoder ${member(step, "type")} is not supported. Supported decoders: ${knownDecoders.join(", ")}`,
      )
    }
  }
  if (named("ByteLevel")) return { dropsFirstSpace: false, spell: spellByteLevel }
  const wordPiece = named("WordPiece")
  if (wordPiece || member(model, "type") === "WordPiece") {
    const prefix = String(member(wordPiece, "prefix") ?? member(model, "continuing_subword_prefix") ?? "##")
    const spell = (piece: string): Uint8Array =>
      encoder.encode(piece.startsWith(prefix) ? piece.slice(prefix.length) : ` ${piece}`)
    return { dropsFirstSpace: true, spell }
  }
  const replacements: [from: string, to: string][] = []
  for (const step of source) {
    if (member(step, "type") === "Metaspace") {
      replacements.push([String(member(step, "replacement") ?? "▁"), " "])
    } else if (member(step, "type") === "Replace" && decoder.length > 0) {
      const from = member(member(step, "pattern"), "String")
      if (typeof from !== "string" || from === "") {
        throw new RangeError("decoder Replace: only a pattern of kind String is supported")
      }
      replacements.push([from, String(member(step, "content") ?? "")])
    }
  }
  const fallback = named("ByteFallback") !== undefined || member(model, "byte_fallback") === true
  const spell = (piece: string): Uint8Array => {
    const byte = fallback ? /^<0x([0-9A-Fa-f]{2})>$/.exec(piece) : null
    if (byte) return Uint8Array.of(Number.parseInt(byte[1], 16))
    return encoder.encode(replacements.reduce((text, [from, to]) => text.replaceAll(from, () => to), piece))
  }
  return { dropsFirstSpace: false, spell }
}

// Strip removes a space at the start of a whole text, Fuse joins pieces: neither changes the bytes
// of a single token.
const knownDecoders = ["ByteLevel", "ByteFallback", "Metaspace", "Replace", "WordPiece", "Fuse", "Strip"]

function steps(step: unknown, list: string): unknown[] {
  if (step === null || step === undefined) return []
  const inner = member(step, "type") === "Sequence" ? member(step, list) : undefined
  return Array.isArray(inner) ? inner.flatMap((each) => steps(each, list)) : [step]
}

/** Byte of each code point of the byte-level alphabet; −1 outside it. Shape [324]. */
export const byteOfCodePoint = new Int16Array(324).fill(-1)
for (let byte = 0, next = 256; byte < 256; byte++) {
  const printable = (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174
  byteOfCodePoint[printable ? byte : next++] = byte
}

function spellByteLevel(piece: string): Uint8Array {
  const bytes = new Uint8Array(piece.length)
  for (let at = 0; at < piece.length; at++) {
    const byte = byteOfCodePoint[piece.charCodeAt(at)] ?? -1
    // A code point outside the alphabet means that the piece was never mapped: it is literal text.
    if (byte < 0) return encoder.encode(piece)
    bytes[at] = byte
  }
  return bytes
}
