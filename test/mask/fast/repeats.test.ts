/** Places at which a lexeme follows itself: those of reading it once, twice, … from the nodes of a list. */
import { expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { PlainTag } from "../../../grammar/lexeme/table.ts"
import { Children } from "../../../mask/fast/children.ts"
import { ListTables } from "../../../mask/fast/listtables.ts"
import { Quotes } from "../../../mask/fast/quotes.ts"
import { Repeats } from "../../../mask/fast/repeats.ts"
import { NoList, RootList } from "../../../mask/lists.ts"
import { type Found, TokenTrie } from "../../../mask/trie.ts"
import { vocabularyOf } from "../../support/oracle.ts"

const trie = new TokenTrie(
  vocabularyOf(["-", "--", "-----", "--a", "-a-", "a-", "-+-", "+", "+ +", "- -+", "b"]),
)
const lists = new ListTables(new Children(trie), new Quotes(trie))
const found: Found = { tokens: new Int32Array(2 * trie.nodeCount), tokenCount: 0, exits: [] }

/** The nodes at which `lexeme` ends, once read from those of `list`. */
function once(list: number, lexeme: number): number {
  found.tokenCount = 0
  found.exits.length = 0
  for (const node of Array.from(lists.view(list))) trie.walk(node, lexeme, found)
  const nodes = found.exits.filter((_, i) => i % 2 === 0 && found.exits[i + 1] === PlainTag)
  return lists.intern([...new Set(nodes)].sort((a, b) => a - b))
}

const texts = ['"-"', '"-" | "--"', '"-" " "*', '("-" | "+") " "?', '"b"', '"-"? "a"?']

test.each(texts)("%s", (text) => {
  const [{ lexeme }] = compile({ kind: "gbnf", text: `root ::= ${text}` }).grammar.start
  const repeats = new Repeats(trie, lists)
  for (const list of [RootList, lists.intern([trie.child(0, 0x2d), trie.child(0, 0x61)]), NoList]) {
    let all = list
    for (let last = NoList; all !== last; ) {
      last = all
      all = lists.union(all, once(all, lexeme))
    }
    expect(repeats.of(list, lexeme, found)).toBe(all)
    expect(repeats.of(list, lexeme, found)).toBe(all)
  }
})
