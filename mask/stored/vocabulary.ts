/**
 * A vocabulary as bytes: what a process needs before its first mask, ready to be used. Reading the
 * tokenizer's own file, decoding its tokens and sorting them takes a hundred times as long.
 *
 * Layout, little-endian: magic [8 bytes], format version, checksum of all that follows; width,
 * flags, number of values, sorted ids, end ids and bytes of the names; offsets [V + 1], sorted ids,
 * end ids as words; values; specials in JSON. Words begin at a multiple of four.
 */

import { Vocabulary } from "../vocabulary.ts"
import { ByteReader, ByteWriter, wordsOf } from "./binary.ts"
import { StoreError } from "./error.ts"

const magic = new TextEncoder().encode("tokenrlv")
const formatVersion = 1
/** Bytes before what the checksum covers. */
const headerBytes = 16

/** Returns a vocabulary as bytes: some 3 MB for 128,256 tokens. O(bytes of the tokens). */
export function serializeVocabulary(vocabulary: Vocabulary): Uint8Array {
  const { width, offsets, values, endIds, specials, dropsFirstSpace } = vocabulary
  const sorted = vocabulary.sortedIds()
  const names = new TextEncoder().encode(JSON.stringify([...specials]))
  const content = new ByteWriter()
  content.words([width, Number(dropsFirstSpace), values.length, sorted.length, endIds.length, names.length])
  for (const words of [offsets, sorted, endIds]) content.words(words)
  content.bytes(values)
  content.bytes(names)
  const bytes = content.finish()
  const file = new ByteWriter()
  file.bytes(magic)
  file.words([formatVersion, checksum(bytes)])
  file.bytes(bytes)
  return file.finish()
}

/**
 * Returns the vocabulary that `serializeVocabulary` wrote. Throws StoreError, which names the wrong
 * part, if the bytes are of another kind or version, or damaged. A few milliseconds for 3 MB.
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
  if (file.word() !== checksum(bytes.subarray(headerBytes))) {
    throw new StoreError("checksum", "the bytes are damaged: store the vocabulary again")
  }
  const [width, dropsFirstSpace, valueCount, sortedCount, endCount, nameBytes] = file.words(6)
  const offsets = file.words(width + 1)
  const sorted = file.words(sortedCount)
  const endIds = [...file.words(endCount)]
  const values = file.bytes(valueCount)
  const specials = new Map<string, number>(JSON.parse(new TextDecoder().decode(file.bytes(nameBytes))))
  return Vocabulary.fromParts({
    ...{ width, offsets, values, endIds, specials, sorted },
    dropsFirstSpace: dropsFirstSpace === 1,
  })
}

/**
 * Returns a hash of 32 bits, to find damage: MurmurHash3 (Austin Appleby, public domain) over the
 * words, the last one filled with zeros, with the length as its seed. SHA-256 would take longer
 * than all the rest.
 */
function checksum(bytes: Uint8Array): number {
  const padded = new Uint8Array((bytes.length + 3) & ~3)
  padded.set(bytes)
  const words = wordsOf(padded)
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
