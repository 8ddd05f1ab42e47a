/**
 * A text of any grammar inside a JSON string, as JSON.stringify writes it. This is the form of a
 * custom tool's input in the arguments of a call, if the input has a grammar.
 */
import { Rules } from "../../ebnf/rules.ts"
import { GrammarError } from "../../errors.ts"
import type { Grammar } from "../../grammar.ts"
import { spellingOf } from "../../lexeme/respelled.ts"
import { respelledGrammar } from "../../respelling.ts"
import { CustomArgument, type Tool } from "./tools.ts"

// States: between characters, after a backslash, and inside \u00XX, whose third digit is 0 or 1.
const Body = 0
const Escape = 1
const Unit = 2
const LastDigit = 5

const code = (text: string) => text.charCodeAt(0)
const shortEscapes = new Map(
  [...'btnfr"\\'].map((letter, i) => [code(letter), i < 5 ? [8, 9, 10, 12, 13][i] : code(letter)] as const),
)
const escaped = new Map([...shortEscapes].map(([letter, meant]) => [meant, [code("\\"), letter]]))

const quotedSpelling = spellingOf({
  read(state, byte) {
    if (state === Body) {
      if (byte < 0x20 || byte === code('"')) return null
      return byte === code("\\") ? { meant: [], state: Escape } : { meant: [byte], state: Body }
    }
    if (state === Escape) {
      const meant = shortEscapes.get(byte)
      if (meant !== undefined) return { meant: [meant], state: Body }
      return byte === code("u") ? { meant: [], state: Unit } : null
    }
    const digit = digitOf(byte)
    if (state < Unit + 2) return digit === 0 ? { meant: [], state: state + 1 } : null
    if (state === Unit + 2) return digit === 0 || digit === 1 ? { meant: [], state: LastDigit + digit } : null
    const meant = 16 * (state - LastDigit) + digit
    // A character with a short escape is written with that.
    return digit < 0 || escaped.has(meant) ? null : { meant: [meant], state: Body }
  },
  mayEnd: (state) => state === Body,
  isSettled: (state) => state === Body,
  write(meant) {
    const bytes: number[] = []
    for (const byte of meant) {
      const unit = `\\u00${byte.toString(16).padStart(2, "0")}`
      bytes.push(...(escaped.get(byte) ?? (byte < 0x20 ? [...unit].map(code) : [byte])))
    }
    return Uint8Array.from(bytes)
  },
})

/** JSON.stringify writes lower case digits. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  return byte >= 0x61 && byte <= 0x66 ? byte - 0x57 : -1
}

/** Returns the arguments of a custom tool whose input is a text of `grammar`. */
export function quotedArguments({ name }: Tool, grammar: Grammar): Grammar {
  if (grammar.readsTokens) {
    throw new GrammarError(
      "unsupported",
      "",
      "a control token cannot stand inside of a call. Write its text, or leave it out",
    )
  }
  const rules = new Rules(grammar.limits)
  const rule = rules.declare(`input of ${name}`)
  rules.define(rule, [], () => {
    const { terms } = rules
    const space = terms.or([terms.empty, terms.text(" ")])
    const input = terms.nested(respelledGrammar(grammar, quotedSpelling))
    return terms.concat(terms.text(`{"${CustomArgument}":`), space, terms.text('"'), input, terms.text('"}'))
  })
  const quoted = rules.grammar(rule, { key: () => grammar.key, title: `input of ${name}` })
  if (quoted === null) throw new GrammarError("unsatisfiable", "", "the grammar of its input has no text")
  return quoted
}
