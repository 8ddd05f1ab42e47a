/** Tokens of A-labels and of classes in patterns, taken by their bytes, against a walk of the trie. */
import { expect, test } from "vitest"
import { formatExpr } from "../../../grammar/format/format.ts"
import { exprContent } from "../../../grammar/lexeme/string/content.ts"
import { bodyState, type Escapes } from "../../../grammar/lexeme/string/string.ts"
import { lexemes } from "../../../grammar/lexeme/table.ts"
import { shortcuts } from "../../../mask/fast/shortcuts.ts"
import { RootList } from "../../../mask/lists.ts"
import { LocalMasks } from "../../../mask/local.ts"
import { writeRecipe } from "../../../mask/recipe.ts"
import { Vocabulary } from "../../../mask/vocabulary.ts"
import { childrenOf } from "../../support/trie.ts"

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
  "]",
  "z]",
  "é-",
  "-é",
  "💩-z",
  "💩-💪]",
  "a-z]+",
  "é-a",
  "\\\\",
  "b\\\\d-",
  "0-9",
  "^a",
  "]{2}",
]
for (const a of letters)
  for (const b of letters) pieces.push(a, a + b, `${b}${a}${b}abcdefghijklmnop-qrs${a}`)
/** Characters that are cut, and bytes that are none. */
const cut = [
  [0xc3],
  [0xe4, 0xb8],
  [0x61, 0xf0, 0x9f],
  [0xa9],
  [0xc3, 0x28],
  [0xed, 0xa0, 0x80],
  [0x62, 0xff],
  [0xe0, 0x80],
]
const vocabulary = Vocabulary.fromBytes(
  [
    ...[...new Set(pieces)].map((piece) => encoder.encode(piece)),
    ...cut.map((bytes) => Uint8Array.from(bytes)),
  ],
  { endIds: [pieces.length + 100] },
)
const masks = new LocalMasks(vocabulary, shortcuts({ minSliceNodes: 1 }))
const plain = new LocalMasks(vocabulary, null)

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
  (["canonical", "json"] as const).flatMap((escapes) =>
    beginnings.map((text): [string, Escapes, string] => [format, escapes, text]),
  ),
)

test.each(cases)("%s, %s: %s", (format, escapes, text) => {
  expectPlain(format, escapes, text)
})

const classes: [Escapes, string][] = (["canonical", "json"] as const).flatMap((escapes) =>
  ["[", "[^", "[a", "[é", "[a-", "[é-", "[\\\\d", "[\\\\0", "([a", "[💩a", "a(?<b>[b-z"].map(
    (text): [Escapes, string] => [escapes, text],
  ),
)

test.each(classes)("a class in a pattern, %s: %s", (escapes, text) => {
  expectPlain("regex", escapes, text)
  // Below the nodes behind an opening quote too, and below many others.
  const { trie, lists } = masks
  const below = childrenOf(trie, 0).filter((node) => trie.hasChildren(node))
  for (const nodes of [below, below.filter((_, i) => i % 2 === 0)])
    expectPlain("regex", escapes, text, lists.intern(nodes), plain.lists.intern(nodes))
})

function expectPlain(format: string, escapes: Escapes, text: string, list = RootList, plainList = RootList) {
  const state = lexemes.run(bodyState(exprContent(formatExpr(format)!), escapes), encoder.encode(text))
  const [mine, theirs] = [masks, plain].map((one) => {
    const local = one.local(one === masks ? list : plainList, state)
    const row = new Uint32Array(Math.ceil(vocabulary.width / 32))
    writeRecipe(local, row)
    const exits: number[][] = []
    for (let i = 0; i < local.exits.length; i += 2)
      exits.push([local.exits[i], ...[...one.lists.view(local.exits[i + 1])].sort((a, b) => a - b)])
    return { row, exits }
  })
  expect(mine).toEqual(theirs)
}
