import { expect, test } from "vitest"
import { notationOf } from "../../../../grammar/ebnf/notation/notation.ts"
import { defaultLimits } from "../../../../grammar/errors.ts"
import { refusalOf } from "../../../support/cases.ts"

test.each([
  ['root ::= "a"', "gbnf"],
  ['root::="a: b"', "gbnf"],
  ["# start: a\n\n  root\n ::= b\nb: c", "gbnf"],
  ['a-b.c [lazy, capture="]:"] ::= b', "gbnf"],
  ['start: "a ::= b"', "lark"],
  ["// root ::= a\r\nstart : a", "lark"],
  ["?start: a\nroot ::= b", "lark"],
  ["!_a.2: b", "lark"],
  ["NAME.2: /a/", "lark"],
  ["start[capture, lazy]: a", "lark"],
  ["sep{x, y}: x (y x)*", "lark"],
  ["list::_ : a", "lark"],
  ["%import common.INT\nroot ::= a", "lark"],
  ["%llguidance {}\nstart: a", "lark"],
])("%j is %s", (text, notation) => expect(notationOf(text, defaultLimits)).toBe(notation))

test.each([
  ["", "line 1, column 1"],
  ["# nothing", "line 1, column 10"],
  ["root = a", "line 1, column 1"],
  ['\n "a"', "line 2, column 2"],
  ["{}", "line 1, column 1"],
  ["root -> a\nb ::= c", "line 1, column 1"],
])("%j is neither", (text, path) => {
  const error = refusalOf(() => notationOf(text, defaultLimits))
  expect([error.kind, error.path]).toEqual(["syntax", path])
})

test("long texts that are neither take no long", () => {
  for (const text of [
    " ".repeat(1e6),
    "#\n".repeat(5e5),
    `a${" ".repeat(1e6)}`,
    `a[${"b,".repeat(5e5)}`,
    "a".repeat(1e6),
  ])
    expect(refusalOf(() => notationOf(text, defaultLimits)).kind).toBe("syntax")
})
