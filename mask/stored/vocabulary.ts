/**
 * A vocabulary as bytes: what a process needs before its first mask, ready to be used. Reading the
 * tokenizer's own file, decoding its tokens and sorting them takes a hundred times as long.
 *
 * Layout, little-endian: magic [8 bytes], format version, checksum of all that follows; width,
 * flags, number of values, sorted ids, end ids, words of the duplicates, bytes of the names and
 * nodes of the trie (0: none); offsets [V + 1], sorted ids, end ids and duplicates as words; nodes
 * [N, Stride]; values; specials in JSON; zeros up to a multiple of four. The sorted ids are there
 * without the nodes, the duplicates with them.
 */

import { checkOptions, type Fields } from "../../grammar/options.ts"
import { Stride, TokenTrie } from "../trie.ts"
import { Vocabulary } from "../vocabulary.ts"
import { ByteReader, ByteWriter, wordsIn } from "./binary.ts"
import { StoreError } from "./error.ts"
import { checkNodes, duplicatesOf, duplicateWords } from "./trie.ts"

const magic = new TextEncoder().encode("tokenrlv")
const formatVersion = 2
/** Bytes before what the checksum covers. */
const headerBytes = 16

/** What `serializeVocabulary` writes besides the tokens. */
export interface StoredVocabularyOptions {
  /**
   * Stores the nodes of the token trie too, so that a process need not make them: 2.5 times
   * the bytes. For a file on a disk; leave it out if the bytes are downloaded. Default false.
   */
  trie?: boolean
}

const fields = { trie: "boolean" } as const satisfies Fields<StoredVocabularyOptions>

/**
 * Returns a vocabulary as bytes: 1.9 MB for 128,256 tokens, with the trie 4.6 MB. O(bytes of the
 * tokens). Throws OptionError.
 */
export function serializeVocabulary(
  vocabulary: Vocabulary,
  options: StoredVocabularyOptions = {},
): Uint8Array {
  checkOptions(options, fields)
  const { width, offsets, values, endIds, specials, dropsFirstSpace } = vocabulary
  const trie = options.trie ? new TokenTrie(vocabulary) : null
  const sorted = trie === null ? vocabulary.sortedIds() : []
  const duplicates = trie === null ? [] : duplicateWords(trie.duplicates)
  const names = new TextEncoder().encode(JSON.stringify([...specials]))
  const content = new ByteWriter()
  content.words([width, Number(dropsFirstSpace), values.length, sorted.length, endIds.length])
  content.words([duplicates.length, names.length, trie?.nodeCount ?? 0])
  for (const words of [offsets, sorted, endIds, duplicates, trie?.nodes ?? []]) content.words(words)
  content.bytes(values)
  content.bytes(names)
  content.bytes(new Uint8Array(-(values.length + names.length) & 3))
  const bytes = content.finish()
  const file = new ByteWriter()
  file.bytes(magic)
  file.words([formatVersion, checksum(bytes)])
  file.bytes(bytes)
  return file.finish()
}

/**
 * Returns the vocabulary that `serializeVocabulary` wrote. Throws StoreError, which names the wrong
 * part, if the bytes are of another kind or version, or damaged. A few milliseconds for 5 MB.
 */
export function deserializeVocabulary(bytes: Uint8Array): Vocabulary {
  const file = new ByteReader(bytes, (message) => new StoreError("content", message))
  if (file.bytes(magic.length).some((byte, at) => byte !== magic[at])) {
    throw new StoreError("magic", "the bytes are no stored vocabulary: make them by serializeVocabulary")
  }
  const version = file.word()
  if (version !== formatVersion) {
    throw new StoreError("format version", `${version} is not ${formatVersion}: store the vocabulary again`)
  }
  const sum = file.word()
  if (bytes.length % 4 !== 0 || sum !== checksum(bytes.subarray(headerBytes))) {
    throw new StoreError("checksum", "the bytes are damaged: store the vocabulary again")
  }
  try {
    return readContent(file)
  } catch (error) {
    if (error instanceof StoreError || !(error instanceof Error)) throw error
    throw new StoreError("content", `${error.message}: store the vocabulary again`)
  }
}

function readContent(file: ByteReader): Vocabulary {
  const [width, flags, valueCount, sortedCount, endCount, ...counts] = file.words(8)
  const [duplicateCount, nameBytes, nodeCount] = counts
  const offsets = file.words(width + 1)
  const sorted = file.words(sortedCount)
  const endIds = [...file.words(endCount)]
  const duplicates = duplicatesOf(file.words(duplicateCount))
  const nodes = new Int32Array(file.words(Stride * nodeCount).buffer)
  const values = file.bytes(valueCount)
  const specials = new Map<string, number>(JSON.parse(new TextDecoder().decode(file.bytes(nameBytes))))
  const vocabulary = Vocabulary.fromParts({
    ...{ width, offsets, values, endIds, specials, dropsFirstSpace: flags === 1 },
    ...(nodeCount === 0 ? { sorted } : { trie: { nodes, duplicates } }),
  })
  if (vocabulary.storedTrie !== undefined) checkNodes(vocabulary.storedTrie, vocabulary)
  return vocabulary
}

/**
 * Returns a hash of 32 bits, to find damage: MurmurHash3 (Austin Appleby, public domain) over the
 * words, with the length as its seed. SHA-256 would take longer than all the rest.
 */
function checksum(bytes: Uint8Array): number {
  const words = wordsIn(bytes)
  let hash = bytes.length
  // hot
  for (let at = 0; at < words.length; at++) {
    const scattered = Math.imul(words[at], 0xcc9e2d51)
    hash ^= Math.imul((scattered << 15) | (scattered >>> 17), 0x1b873593)
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
