/** Tokens of A-labels, taken by their bytes, against a walk of the trie. */
import { expect, test } from "vitest"
import { formatExpr } from "../../../grammar/format/format.ts"
import { exprContent } from "../../../grammar/lexeme/string/content.ts"
import { bodyState, type Escapes } from "../../../grammar/lexeme/string/string.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"
import { RootList } from "../../../mask/lists.ts"
import { LocalMasks } from "../../../mask/local.ts"
import { writeRecipe } from "../../../mask/recipe.ts"
import { vocabularyOf } from "../../support/oracle.ts"

const encoder = new TextEncoder()
const letters = "abeyz019-XN"
const pieces = [
  "kva",
  "kva.",
  'kva"',
  "a.b",
  "9n2bp8q",
  '9n2bp8q"',
  "-",
  "--",
  "a-",
  "\\u",
  "。",
  "é",
  "a_",
  "a b",
  "xn--",
  '"',
]
for (const a of letters)
  for (const b of letters) pieces.push(a, a + b, `${b}${a}${b}abcdefghijklmnop-qrs${a}`)
const vocabulary = vocabularyOf([...new Set(pieces)])
const masks = new LocalMasks(vocabulary, { minSliceNodes: 1 })
const plain = new LocalMasks(vocabulary, { isPlain: true })

const beginnings = [
  "xn--",
  "XN--b",
  "a.xn--bcher-",
  "xn--9n2bp8q",
  `xn--${"a".repeat(30)}`,
  `xn--${"a".repeat(50)}`,
  `xn--${"a".repeat(54)}`,
  `xn--${"a".repeat(57)}`,
  `${"a.".repeat(110)}xn--`,
  `${"a.".repeat(118)}xn--`,
]
const cases = ["hostname", "idn-hostname"].flatMap((format) =>
  (["minimal", "all"] as const).flatMap((escapes) =>
    beginnings.map((text): [string, Escapes, string] => [format, escapes, text]),
  ),
)

test.each(cases)("%s, %s: %s", (format, escapes, text) => {
  const state = lexemes.run(bodyState(exprContent(formatExpr(format)!), escapes), encoder.encode(text))
  const [mine, theirs] = [masks, plain].map((one) => {
    const local = one.local(RootList, state)
    const row = new Uint32Array(Math.ceil(vocabulary.width / 32))
    writeRecipe(local, row)
    const exits: number[][] = []
    for (let i = 0; i < local.exits.length; i += 2)
      exits.push([local.exits[i], ...[...one.lists.view(local.exits[i + 1])].sort((a, b) => a - b)])
    return { row, exits }
  })
  expect(mine).toEqual(theirs)
})
