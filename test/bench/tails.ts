/**
 * Each shortcut of `mask/fast/`, on and off, on the input that it was made for. Both ways write the
 * same texts with the same masks, in fresh caches; the table has the trie nodes that were visited,
 * which are the same on every machine, and the milliseconds of all masks and of the slowest one,
 * the least of some rounds.
 *
 * Usage: `node dist/test/bench/tails.js --vocab DIR [--rounds 5] [--only text,far]`. DIR holds
 * tokenizer.json.
 */
import { readFileSync } from "node:fs"
import { cpus } from "node:os"
import { parseArgs } from "node:util"
import type { Grammar } from "../../grammar/grammar.ts"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { type ShortcutName, shortcutNames, shortcuts } from "../../mask/fast/shortcuts.ts"
import { TokenFsm } from "../../mask/fsm.ts"
import { wordCount } from "../../mask/index.ts"
import { LocalMasks } from "../../mask/local.ts"
import { longestNode } from "../../mask/spelling.ts"
import { readVocabulary } from "../../server/cli/vocabulary.ts"

/** Constraints with a text each, written in this order over one vocabulary. */
type Case = readonly (readonly [input: GrammarInput, text: string])[]

interface Cost {
  nodes: number
  /** Local masks that were made. */
  made: number
  /** Of all masks, and of the slowest. */
  ms: number
  slowestMs: number
}

const { values: flags } = parseArgs({
  options: { vocab: { type: "string" }, rounds: { type: "string", default: "5" }, only: { type: "string" } },
})
if (flags.vocab === undefined) throw new Error("--vocab names the directory of a tokenizer")
const vocabulary = await readVocabulary(flags.vocab)
const only = flags.only?.split(",")

const schema = (value: unknown): GrammarInput => ({ kind: "json", schema: value as object })
const regex = (pattern: string): GrammarInput => ({ kind: "regex", pattern })
const names = Array.from({ length: 40 }, (_, i) => `field_${String.fromCharCode(97 + (i % 26))}${i}`)
const record = (more: object = {}) =>
  schema({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "integer" }])),
    ...more,
  })
const recordText = `{${names.map((name, i) => `"${name}": ${i * 37}`).join(", ")}}`
const prose = "The quick brown fox jumps over the lazy dog, and 12 other animals look on. "
const program = (name: string, text: string): Case => [
  [
    { kind: "lark", text: readFileSync(`test/bench/grammars/${name}`, "utf8") },
    readFileSync(`test/bench/grammars/${text}`, "utf8").slice(0, 1_500),
  ],
]
const c = program("c.lark", "text.c")
const sql = program("sql.lark", "text.sql")
const tags: Case = [
  [
    {
      kind: "tag",
      format: {
        type: "triggered_tags",
        triggers: ["<tool>"],
        tags: [
          {
            begin: "<tool>",
            content: { type: "json_schema", json_schema: { type: "object" } },
            end: "</tool>",
          },
        ],
      },
    },
    prose.repeat(4),
  ],
]

/** What each shortcut is for. */
const cases: Record<ShortcutName, [what: string, texts: Case]> = {
  apart: ["operators behind the operands of a program in C", c],
  beside: ["a search that has begun", [[regex("(?:[^a]|a[^b])*ab"), `${prose}ab`]]],
  clamped: [
    "a string of at most 10,000 characters",
    [[schema({ type: "string", maxLength: 10_000 }), `"${prose.repeat(8)}"`]],
  ],
  ends: ["text up to the tag of a tool", tags],
  equal: [
    "fifty schemas with other names",
    Array.from({ length: 50 }, (_, i) => [
      schema({
        type: "object",
        properties: { [`key_${i}`]: { type: "string" }, [`b${i}`]: { type: "boolean" } },
      }),
      `{"key_${i}": "value", "b${i}": true}`,
    ]),
  ],
  far: [
    "texts of at most a hundred words",
    [
      [schema({ type: "string", pattern: "^(?:\\S+\\s+){0,99}\\S+$" }), `"${prose.repeat(5).trim()}"`],
      [schema({ type: "string", pattern: "^(?:\\S+\\s+){0,49}\\S+$" }), `"${prose.repeat(3).trim()}"`],
    ],
  ],
  free: [
    "an international host name, by the bytes that need no look",
    [[schema({ type: "string", format: "idn-hostname" }), '"example.xn--bcher-kva.example.com"']],
  ],
  nested: ["what follows the identifiers of a program in C", c],
  patched: ["names of an open object", [[record(), recordText]]],
  repeats: [
    "signs that repeat, in a program in C",
    [[c[0][0], `int main() { ${";".repeat(40)} return ${"!".repeat(30)}1 ${"+ -".repeat(10)} 2; }`]],
  ],
  rows: ["one record, again and again", Array.from({ length: 30 }, () => [record(), recordText])],
  sliced: [
    "a pattern of letters beyond ASCII",
    [[schema({ type: "string", pattern: "^[\\p{L} ]+$" }), '"où êtes vous Schrödinger"']],
  ],
  text: [
    "strings with forty bounds of length",
    Array.from({ length: 40 }, (_, i) => [
      schema({ type: "string", minLength: i, maxLength: 20 + 7 * i }),
      `"${prose.repeat(9).slice(0, 10 + 6 * i)}"`,
    ]),
  ],
  waves: ["a program in C, whose operators nest at fifteen levels", c],
  word: ["words of SQL behind a space", sql],
}

console.log(`${cpus()[0]?.model}, node ${process.version}, ${vocabulary.width} tokens`)
console.log(
  `| Shortcut | Case | Nodes on | off | Made on | off | ms on | off | Ratio | Slowest on | off |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|`,
)
for (const name of shortcutNames) {
  if (only && !only.includes(name)) continue
  const [what, texts] = cases[name]
  const grammars = texts.map(
    ([input, text]) => [compile(input, { surface: "conform" }).grammar, text] as const,
  )
  let [on, off]: (Cost | null)[] = [null, null]
  // The first round makes the rows of the lexemes, which all ways share.
  for (let round = 0; round <= Number(flags.rounds); round++) {
    const [mine, theirs] = [cost(grammars, []), cost(grammars, [name])]
    if (round === 0) continue
    on = least(on, mine)
    off = least(off, theirs)
  }
  if (on === null || off === null) continue
  const [a, b] = [on, off]
  const number = (value: number) => value.toLocaleString("en")
  console.log(
    `| ${name} | ${what} | ${number(a.nodes)} | ${number(b.nodes)} | ${number(a.made)} | ${number(b.made)} | ${a.ms.toFixed(2)} | ${b.ms.toFixed(2)} | ` +
      `${(b.ms / a.ms).toFixed(2)} | ${a.slowestMs.toFixed(2)} | ${b.slowestMs.toFixed(2)} |`,
  )
}

function least(a: Cost | null, b: Cost): Cost {
  if (a === null) return b
  return {
    nodes: b.nodes,
    made: b.made,
    ms: Math.min(a.ms, b.ms),
    slowestMs: Math.min(a.slowestMs, b.slowestMs),
  }
}

/** Writes all texts with fresh caches. */
function cost(grammars: readonly (readonly [Grammar, string])[], without: readonly ShortcutName[]): Cost {
  const locals = new LocalMasks(vocabulary, shortcuts({ without }))
  const row = new Uint32Array(wordCount(vocabulary.width))
  const { trie } = locals
  const before = trie.visitCount
  let [ms, slowestMs] = [0, 0]
  for (const [grammar, text] of grammars) {
    const fsm = new TokenFsm(grammar, vocabulary, { locals })
    const bytes = new TextEncoder().encode(text)
    let state = fsm.start
    for (let at = 0; ; ) {
      const begun = performance.now()
      fsm.fillMask(state, row)
      const took = performance.now() - begun
      ms += took
      slowestMs = Math.max(slowestMs, took)
      if (at >= bytes.length) break
      let node = longestNode(trie, bytes, at)
      // The longest token need not be one that the constraint takes.
      while (node !== 0 && fsm.next(state, trie.token(node)) === 0)
        node = longestNode(trie, bytes.subarray(0, at + trie.depth(node) - 1), at)
      if (node === 0) throw new Error(`${text.slice(at, at + 20)} is not taken`)
      state = fsm.next(state, trie.token(node))
      at += trie.depth(node)
    }
  }
  const { apart, equal, ...ways } = locals.shortcuts?.counts ?? {}
  const made = Object.values(ways).reduce((sum, count) => sum + count, locals.walkCount)
  return { nodes: trie.visitCount - before, made, ms, slowestMs }
}
