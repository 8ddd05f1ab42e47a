/** A shape: a schema together with a way to make values that satisfy it; and the texts of values. */
import type { Dice } from "./dice.ts"

export interface Shape {
  readonly schema: Schema
  /** A value that satisfies the schema: another one each time. */
  value(): unknown
}

export type Schema = { readonly [keyword: string]: unknown } | boolean

/** A value spelt as it is: `1.50E3`. */
export class Spelt {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** A shape whose value is one of `values`. */
export function fixed(dice: Dice, schema: Schema, ...values: readonly unknown[]): Shape {
  return { schema, value: () => dice.pick(values) }
}

/** `shape` with more keywords, which its values satisfy. */
export function also(shape: Shape, keywords: { readonly [keyword: string]: unknown }): Shape {
  return typeof shape.schema === "boolean"
    ? shape
    : { schema: { ...shape.schema, ...keywords }, value: shape.value }
}

/** A value without the members named `names`. */
export function without(value: unknown, ...names: readonly string[]): unknown {
  return Object.fromEntries(Object.entries(value as object).filter(([name]) => !names.includes(name)))
}

/** White space and escapes as different models write them. */
export interface Style {
  readonly comma: string
  readonly colon: string
  /** The indentation of a level; empty: no line ends. */
  readonly indent: string
  readonly isAscii: boolean
}

export const styles: readonly Style[] = [
  { comma: ", ", colon: ": ", indent: "", isAscii: false },
  { comma: ",", colon: ": ", indent: "  ", isAscii: false },
  { comma: ",", colon: ":", indent: "", isAscii: false },
  { comma: ",", colon: ": ", indent: "    ", isAscii: true },
  { comma: ", ", colon: ": ", indent: "", isAscii: true },
  { comma: ",", colon: ": ", indent: "\t", isAscii: false },
]

/** The JSON text of a value, which may hold `Spelt`. */
export function textOf(value: unknown, style: Style, depth = 1): string {
  if (value instanceof Spelt) return value.text
  if (typeof value !== "object" || value === null) return scalarText(value, style)
  const line = style.indent === "" ? "" : `\n${style.indent.repeat(depth)}`
  const end = style.indent === "" ? "" : `\n${style.indent.repeat(depth - 1)}`
  const joined = (open: string, parts: string[], close: string) =>
    parts.length === 0 ? open + close : `${open}${line}${parts.join(style.comma + line)}${end}${close}`
  if (Array.isArray(value))
    return joined(
      "[",
      value.map((item) => textOf(item, style, depth + 1)),
      "]",
    )
  const members = Object.entries(value).map(
    ([name, member]) => `${scalarText(name, style)}${style.colon}${textOf(member, style, depth + 1)}`,
  )
  return joined("{", members, "}")
}

function scalarText(value: unknown, { isAscii }: Style): string {
  const text = JSON.stringify(value)
  if (!isAscii) return text
  return text.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}
