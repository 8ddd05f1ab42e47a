/**
 * Compiles, walks and drops distinct constraints of one kind, and prints the highest bytes of V8
 * after a collection in the first and in the last third.
 *
 * Usage, after `npm run build`: `node --expose-gc test/support/memory.js KIND [ROUNDS [MEGABYTES]]`.
 * KIND is numbers, words, objects, tools or patterns; 10,000 rounds take some two minutes.
 * MEGABYTES lowers the bound of the tables, so that fewer rounds reach it.
 */
import { compile } from "../../dist/grammar/index.js"
import { setTableBytes } from "../../dist/grammar/worlds.js"
import { bindGrammar, Matcher, Vocabulary } from "../../dist/mask/index.js"

const [kind, rounds = "10000", megabytes] = process.argv.slice(2)
if (megabytes !== undefined) setTableBytes(2 ** 20 * megabytes)
const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
const vocabulary = Vocabulary.fromBytes([...bytes, null], { endIds: [256] })

let seed = 1
const below = (bound) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return Math.floor((bound * seed) / 2 ** 32)
}
const word = (length = 8) => String.fromCharCode(...Array.from({ length }, () => 97 + below(26)))
const many = (length, make) => Array.from({ length }, () => make())

/** A constraint, and the beginning of a text of it. */
const kinds = {
  numbers() {
    const values = many(200, () => below(1e9))
    return [{ kind: "json", schema: { enum: values } }, `${values[7]}`]
  },
  words() {
    const values = many(200, word)
    return [{ kind: "json", schema: { enum: values } }, JSON.stringify(values[7])]
  },
  objects() {
    const names = many(40, word)
    const properties = Object.fromEntries(names.map((name) => [name, { type: "integer" }]))
    const schema = { type: "object", properties, required: names, additionalProperties: false }
    return [{ kind: "json", schema }, `{${names.map((name) => `"${name}": 1`).join(", ")}}`]
  },
  tools() {
    const tools = many(4, () => {
      const properties = { [word()]: { type: "string" }, [word()]: { enum: many(3, word) } }
      return { type: "function", function: { name: word(), parameters: { type: "object", properties } } }
    })
    const text = `<tool_call>\n{"name": "${tools[1].function.name}", "arguments": {`
    return [{ kind: "tools", style: "hermes", tools, tool_choice: "required" }, text]
  },
  patterns() {
    const [first, last] = many(2, word)
    const pattern = `${first}-([a-z]{3,9}|[0-9]+_${last}){1,5}@(${word(5)}|${word(6)})`
    return [{ kind: "regex", pattern }, `${first}-abcd12_${last}@`]
  },
}

function run() {
  const [input, text] = kinds[kind]()
  const matcher = new Matcher(bindGrammar(compile(input).grammar, vocabulary))
  const row = new Uint32Array(vocabulary.words)
  for (const byte of new TextEncoder().encode(text)) {
    matcher.fillMask(row)
    if (!matcher.accept(byte)) throw new Error(`${kind}: ${text} is refused`)
  }
}

function heldBytes() {
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

const peaks = [0, 0, 0]
const third = Math.ceil(rounds / 3)
for (let i = 0; i < 3 * third; i++) {
  run()
  if (i % 5 === 0) peaks[Math.floor(i / third)] = Math.max(peaks[Math.floor(i / third)], heldBytes())
}
console.log(JSON.stringify({ kind, first: peaks[0], last: peaks[2] }))
