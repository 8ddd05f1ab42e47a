/**
 * JSON's values in Python's notation: True, False, None, and also strings in single quotes. JSON's
 * own notation is accepted as well, so a text can be finished without translation.
 */
import { spellingOf } from "../../lexeme/respelled.ts"

// States: outside strings, inside one by either quote, after a backslash, and inside None.
const Outside = 0
const Double = 1
const DoubleEscape = 2
const Single = 3
const SingleEscape = 4
const None = 5

const code = (text: string) => [...text].map((char) => char.charCodeAt(0))
const [Quote, Apostrophe, Backslash] = code("\"'\\")
/** The meaning of the letters of None after the first one. */
const nullLetters = [...code("on")].map((letter, i) => [letter, code("ul")[i]] as const)
const capitals = new Map([
  [code("T")[0], code("t")],
  [code("F")[0], code("f")],
])
/** The meaning in JSON of an escape inside single quotes. */
const escapes = new Map([
  ...[..."bfnrtu"].map((letter) => [code(letter)[0], code(`\\${letter}`)] as const),
  [Backslash, [Backslash, Backslash]],
  [Quote, [Backslash, Quote]],
  [Apostrophe, [Apostrophe]],
  // Two hexadecimal digits follow.
  [code("x")[0], code("\\u00")],
])

export const pythonSpelling = spellingOf({
  read(state, byte) {
    switch (state) {
      case Outside: {
        if (byte === Quote) return { meant: [byte], state: Double }
        if (byte === Apostrophe) return { meant: [Quote], state: Single }
        if (byte === code("N")[0]) return { meant: code("n"), state: None }
        return { meant: capitals.get(byte) ?? [byte], state: Outside }
      }
      case Double:
        if (byte === Quote) return { meant: [byte], state: Outside }
        return { meant: [byte], state: byte === Backslash ? DoubleEscape : Double }
      case DoubleEscape:
        return { meant: [byte], state: Double }
      case Single:
        if (byte === Apostrophe) return { meant: [Quote], state: Outside }
        if (byte === Backslash) return { meant: [], state: SingleEscape }
        return { meant: byte === Quote ? [Backslash, Quote] : [byte], state: Single }
      case SingleEscape: {
        const meant = escapes.get(byte)
        return meant === undefined ? null : { meant, state: Single }
      }
      default: {
        const at = state - None
        if (at === nullLetters.length)
          return byte === code("e")[0] ? { meant: code("l"), state: Outside } : null
        const [letter, meant] = nullLetters[at]
        return byte === letter ? { meant: [meant], state: state + 1 } : null
      }
    }
  },
  mayEnd: (state) => state === Outside,
  isSettled: (state) => state !== SingleEscape && state < None,
  write: (meant) => meant,
})

const word = /"(?:[^"\\]|\\.)*"|'((?:[^'\\]|\\.)*)'|True|False|None/gs

/** Returns the JSON text of a value that is written in Python. */
export function jsonOfPython(text: string): string {
  return text.replace(word, (found, single: string | undefined) => {
    if (single === undefined)
      return found === "None" ? "null" : found[0] === '"' ? found : found.toLowerCase()
    const body = single.replace(/\\x(..)|\\'|\\.|"/gs, (part, digits: string | undefined) => {
      if (digits !== undefined) return `\\u00${digits}`
      return part === '"' ? '\\"' : part === "\\'" ? "'" : part
    })
    return `"${body}"`
  })
}
