/**
 * All JSON texts up to a length, over a small alphabet, without white space: the space in which the mask oracle
 * enumerates what a schema accepts.
 *
 * Built bottom up by exact length: a text of length n is a word, a number, a string, or a container around shorter
 * texts. A character may have several spellings ("a" and "\u0061"), so that escapes are met too.
 */
export interface Alphabet {
  /** Spellings of string characters, e.g. ["a", "b", "\\u0061"]. */
  characters: readonly string[]
  /** Digits of numbers. */
  digits: string
  /** Whether numbers may have a fraction, an exponent. */
  fractions: boolean
  exponents: boolean
  /** Spellings of names in objects, between their quotes; default: any string of `characters`. */
  names?: readonly string[]
}

export const smallAlphabet: Alphabet = {
  characters: ["a", "b"],
  digits: "012",
  fractions: true,
  exponents: false,
}

/** Every JSON text of at most `bound` UTF-16 units over the alphabet, shortest first. */
export function jsonTexts(bound: number, alphabet: Alphabet): string[] {
  const space = new TextSpace(alphabet)
  return range(1, bound).flatMap((length) => space.values(length))
}

/** Every string of at most `bound` of the given pieces, "" included. */
export function stringsOver(pieces: readonly string[], bound: number): string[] {
  let last = [""]
  const all = [...last]
  for (let i = 0; i < bound; i++) {
    last = last.flatMap((text) => pieces.map((piece) => text + piece))
    for (const text of last) all.push(text)
  }
  return all
}

class TextSpace {
  private readonly alphabet: Alphabet
  private readonly memo = new Map<string, string[]>()

  constructor(alphabet: Alphabet) {
    this.alphabet = alphabet
  }

  values(length: number): string[] {
    return this.once(`value ${length}`, () => [
      ...["null", "true", "false"].filter((word) => word.length === length),
      ...this.numbersOf(length),
      ...this.strings(length),
      ...this.containers(length, "[", "]", (n) => this.values(n)),
      ...this.containers(length, "{", "}", (n) => this.members(n)).filter(hasDistinctNames),
    ])
  }

  private strings(length: number): string[] {
    return length < 2 ? [] : this.contents(length - 2).map((content) => `"${content}"`)
  }

  /** String contents of exactly this length. */
  private contents(length: number): string[] {
    if (length === 0) return [""]
    return this.once(`content ${length}`, () =>
      this.alphabet.characters.flatMap((piece) =>
        piece.length > length ? [] : this.contents(length - piece.length).map((rest) => piece + rest),
      ),
    )
  }

  private members(length: number): string[] {
    return this.once(`member ${length}`, () =>
      range(2, length - 2).flatMap((nameLength) => {
        const names = this.alphabet.names?.map((name) => `"${name}"`) ?? this.strings(nameLength)
        return names
          .filter((name) => name.length === nameLength)
          .flatMap((name) => this.values(length - nameLength - 1).map((value) => `${name}:${value}`))
      }),
    )
  }

  private containers(length: number, open: string, close: string, parts: (n: number) => string[]): string[] {
    if (length < 2) return []
    if (length === 2) return [open + close]
    return this.lists(length - 2, open, parts).map((list) => open + list + close)
  }

  /** Non-empty lists of parts with commas between. */
  private lists(length: number, key: string, parts: (n: number) => string[]): string[] {
    return this.once(`list ${key} ${length}`, () => [
      ...parts(length),
      ...range(1, length - 2).flatMap((first) =>
        parts(first).flatMap((part) =>
          this.lists(length - first - 1, key, parts).map((rest) => `${part},${rest}`),
        ),
      ),
    ])
  }

  private numbersOf(length: number): string[] {
    return this.once(`number ${length}`, () => {
      const { digits, fractions, exponents } = this.alphabet
      const pieces = [...digits, "-", ...(fractions ? ["."] : []), ...(exponents ? ["e", "+"] : [])]
      let texts = [""]
      for (let i = 0; i < length; i++) {
        texts = texts
          .flatMap((text) => pieces.map((piece) => text + piece))
          .filter((text) => isNumberPrefix.test(text))
      }
      return texts.filter((text) => isNumber.test(text))
    })
  }

  private once(key: string, make: () => string[]): string[] {
    let list = this.memo.get(key)
    if (list === undefined) {
      list = make()
      this.memo.set(key, list)
    }
    return list
  }
}

const isNumber = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?$/
const isNumberPrefix = /^-?((0|[1-9][0-9]*)(\.[0-9]*)?((?<=[0-9])e[+-]?[0-9]*)?)?$/

function hasDistinctNames(text: string): boolean {
  const names = Object.keys(JSON.parse(text) as object)
  return names.length === countMembers(text)
}

function countMembers(text: string): number {
  let depth = 0
  let count = 0
  for (const [mark] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}:]/g)) {
    if (mark === "{" || mark === "[") depth++
    if (mark === "}" || mark === "]") depth--
    if (mark === ":" && depth === 1) count++
  }
  return count
}

function range(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i)
}
