/**
 * What a lexeme may continue with, in words: its few texts, the text that is forced next, or the
 * characters that may come next.
 */
import { describeSample } from "./frame.ts"
import { Dead, lexemes } from "./lexeme/table.ts"

/** Maximum number of texts that are listed, and of states that are searched for them. */
const MostTexts = 8
const MostStates = 300
/** Maximum number of ranges of characters that are listed. */
const MostRanges = 12

const decoder = new TextDecoder("utf-8", { fatal: true })

/**
 * Describes what may follow in state `lexeme`, whose shortest end is `sample`. The end itself is
 * not among it.
 */
export function describeText(lexeme: number, sample: string): string {
  if (lexeme === Dead) return describeSample(sample)
  const texts = fewTexts(lexeme)
  if (texts !== null) return inQuotes(texts) ?? describeSample(sample)
  const forced = forcedText(lexeme)
  if (forced.length > 0) return inQuotes([forced]) ?? describeSample(sample)
  return charactersOf(nextBytes(lexeme)) ?? describeSample(sample)
}

/** Returns `a, b or c`. */
export function joined(texts: readonly string[], word: "or" | "and" = "or"): string {
  if (texts.length < 2) return texts.join("")
  return `${texts.slice(0, -1).join(", ")} ${word} ${texts.at(-1)}`
}

function nextBytes(lexeme: number): number[] {
  const bytes: number[] = []
  for (let byte = 0; byte < 256; byte++) if (lexemes.next(lexeme, byte) !== Dead) bytes.push(byte)
  return bytes
}

/** Returns all texts of the lexeme from here, or null if there are many or none. */
function fewTexts(lexeme: number): number[][] | null {
  const texts: number[][] = []
  const open: { state: number; text: number[] }[] = [{ state: lexeme, text: [] }]
  let count = 0
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (count++ > MostStates) return null
    if (lexemes.tags[at.state] !== 0 && at.text.length > 0) texts.push(at.text)
    const bytes = nextBytes(at.state)
    if (texts.length > MostTexts || bytes.length + open.length > MostTexts) return null
    for (const byte of bytes.reverse())
      open.push({ state: lexemes.next(at.state, byte), text: [...at.text, byte] })
  }
  return texts.length === 0 ? null : texts
}

/** Returns the bytes that must come next. */
function forcedText(lexeme: number): number[] {
  const text: number[] = []
  for (let at = lexeme; lexemes.tags[at] === 0 && text.length < MostStates; ) {
    const bytes = nextBytes(at)
    if (bytes.length !== 1) break
    text.push(bytes[0])
    at = lexemes.next(at, bytes[0])
  }
  return text
}

/** Returns the texts in quotes, or null if their bytes are not whole characters. */
function inQuotes(texts: readonly (readonly number[])[]): string | null {
  try {
    return joined(texts.map((text) => JSON.stringify(decoder.decode(Uint8Array.from(text)))))
  } catch {
    return null
  }
}

/**
 * Returns the characters that begin with these bytes: the ones of ASCII as a class, all others
 * together. Null within a character.
 */
function charactersOf(bytes: readonly number[]): string | null {
  if (bytes.some((byte) => byte >= 0x80 && byte < 0xc2)) return null
  const ascii = bytes.filter((byte) => byte < 0x80)
  const beyond = ascii.length < bytes.length
  const missing = Array.from({ length: 95 }, (_, i) => 0x20 + i).filter((byte) => !ascii.includes(byte))
  if (beyond && missing.length === 0) return "any character"
  if (beyond && missing.length <= 4)
    return `any character except ${missing.map((byte) => JSON.stringify(String.fromCharCode(byte))).join(" and ")}`
  const ranges = rangesOf(ascii)
  if (ranges.length > MostRanges) return null
  const inside = ranges.length === 0 ? [] : [`a character in [${ranges.map(printRange).join("")}]`]
  return [...inside, ...(beyond ? ["a character beyond ASCII"] : [])].join(" or ")
}

function rangesOf(bytes: readonly number[]): [number, number][] {
  const ranges: [number, number][] = []
  for (const byte of bytes) {
    const last = ranges.at(-1)
    if (last?.[1] === byte - 1) last[1] = byte
    else ranges.push([byte, byte])
  }
  return ranges
}

function printRange([first, last]: [number, number]): string {
  if (first === last) return printCharacter(first)
  return `${printCharacter(first)}${last === first + 1 ? "" : "-"}${printCharacter(last)}`
}

/** Returns a character as it stands in the class of a regular expression. */
function printCharacter(byte: number): string {
  const character = String.fromCharCode(byte)
  if (/[\]\\^-]/.test(character)) return `\\${character}`
  return byte < 0x20 || byte === 0x7f
    ? (({ 9: "\\t", 10: "\\n", 13: "\\r" } as Record<number, string>)[byte] ??
        `\\x${byte.toString(16).padStart(2, "0")}`)
    : character
}
