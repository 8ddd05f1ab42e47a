/** Expressions that hold assertions against the host's regular expressions, on all short texts. */
import { expect, test } from "vitest"
import { exprs } from "../../../../../grammar/lexeme/expr/expr.ts"
import { parseRegex } from "../../../../../grammar/regex/parse.ts"

const encoder = new TextEncoder()
const characters = ["a", "b", "é"]

/** All texts of at most `length` characters. */
function textsUpTo(length: number): string[] {
  if (length === 0) return [""]
  const shorter = textsUpTo(length - 1)
  const longest = shorter.filter((text) => [...text].length === length - 1)
  return [...shorter, ...longest.flatMap((text) => characters.map((character) => text + character))]
}

const texts = textsUpTo(5)

test.each([
  ["a lookahead in a repetition", "^(?:(?=ab|b)[abé])+é?$"],
  ["a negative one", "^(?:(?!aa)[abé])*$"],
  ["a lookahead that sees a repetition to its end", "^(?:a(?=b*$)|[bé])*$"],
  ["a lookbehind in a repetition", "^(?:(?<=^|é)a|b|é)*$"],
  ["a negative one behind what may be empty", "^(?:b?(?<!bb)a?é?)+$"],
  ["a lookbehind of any length", "^(?:[ab](?<!a[^é]*b)|é)*$"],
  ["a lookbehind inside a lookahead", "^(?:(?=.*(?<=é)b)[aé]|b)*$"],
  ["a negative one inside a negative lookahead", "^(?:(?!.*(?<!é)b)[aé]|a|b)*$"],
  ["a lookbehind beside a lookahead over the same text", "^(?!.*aa)(?:[ab](?<!bb)|é)*$"],
  ["ends of words", "^(?:\\ba\\B[aé]|b|é\\b)*$"],
  ["an end in a repetition", "^(?:a|b$|é)*$"],
])("%s: %s", (_name, pattern) => {
  const expr = parseRegex(pattern, { mode: "match", path: "", unsatisfiable: "empty" })
  const regexp = new RegExp(pattern, "u")
  const accepts = (text: string) =>
    exprs.nullable(encoder.encode(text).reduce((left, byte) => exprs.derivative(left, byte), expr))
  expect(texts.filter(accepts)).toEqual(texts.filter((text) => regexp.test(text)))
})
