/** Draws from masks, and texts cut at random places: what the soaks share. */
import { isAllowed, type Matcher, type Vocabulary } from "../../mask/index.ts"

export type Random = () => number

/** How a token is drawn: each allowed one alike, or first its first byte and then one of those that begin with it. */
export type Draw = "uniform" | "byte"

/** A token drawn from `row`; -1 when it is empty. */
export function drawToken(row: Uint32Array, vocabulary: Vocabulary, draw: Draw, random: Random): number {
  if (draw === "uniform") return nthAllowed(row, Math.floor(random() * countBits(row)))
  const byFirst = new Map<number, number[]>()
  for (let token = 0; token < vocabulary.width; token++) {
    if (!isAllowed(row, token)) continue
    const first = vocabulary.bytes(token)[0] ?? -1
    const group = byFirst.get(first)
    if (group === undefined) byFirst.set(first, [token])
    else group.push(token)
  }
  const groups = [...byFirst.values()]
  const group = groups[Math.floor(random() * groups.length)] ?? [-1]
  return group[Math.floor(random() * group.length)]
}

function countBits(row: Uint32Array): number {
  let count = 0
  for (let i = 0; i < row.length; i++) count += bitCount(row[i])
  return count
}

function bitCount(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/** The token of the n-th set bit, from 0; -1 when there are fewer. */
function nthAllowed(row: Uint32Array, n: number): number {
  let left = n
  for (let i = 0; i < row.length; i++) {
    const count = bitCount(row[i])
    if (left >= count) {
      left -= count
      continue
    }
    let word = row[i]
    for (; left > 0; left--) word &= word - 1
    return 32 * i + 31 - Math.clz32(word & -word)
  }
  return -1
}

/** The longest beginning of `bytes` that the matcher takes; the matcher stands after it. */
export function acceptPrefix(matcher: Matcher, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length; at++) if (!matcher.acceptBytes(bytes.subarray(at, at + 1))) return at
  return bytes.length
}

export const shown = (bytes: Uint8Array | readonly number[]): string =>
  JSON.stringify(Buffer.from(bytes).toString("latin1"))
