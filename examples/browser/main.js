/**
 * In a browser: a schema is compiled in the page, and what may come next is shown for the text that has been typed. There is no
 * server and no model; only the two floors that need nothing of Node are used.
 *
 *   npm ci && npm run build && npx vite examples/browser           serves the page, at the address that it prints
 *   npm ci && npm run build && npx vite build examples/browser     writes it to examples/browser/dist
 */
import { compile } from "tokenrail/grammar"
import { bindGrammar, isAllowed, Matcher, Vocabulary } from "tokenrail/mask"

// A model's vocabulary has longer tokens; for a person who types, each printable ASCII character is one.
const characters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))
const encoder = new TextEncoder()
const vocabulary = Vocabulary.fromBytes([...characters.map((text) => encoder.encode(text)), null], {
  endIds: [characters.length],
})
const row = new Uint32Array(vocabulary.words)

const schemaField = document.querySelector("#schema")
const prefixField = document.querySelector("#prefix")
/** The machine of the schema; the message of its refusal where there is none. */
let machine = ""

schemaField.value = JSON.stringify(
  {
    type: "object",
    properties: {
      answer: { enum: ["yes", "no", "it depends"] },
      confidence: { type: "integer", minimum: 0, maximum: 10 },
    },
    required: ["answer", "confidence"],
    additionalProperties: false,
  },
  null,
  2,
)
prefixField.value = '{"answer": "'

function readSchema() {
  try {
    const { grammar } = compile({ kind: "json", schema: schemaField.value })
    machine = bindGrammar(grammar, vocabulary)
  } catch (error) {
    machine = error.message // of a GrammarError: what is wrong, where, and the way out
  }
  showNext()
}

function show(state, next = "", words = "", rest = "") {
  for (const [id, text] of Object.entries({ state, characters: next, words, rest })) {
    document.getElementById(id).textContent = text
  }
}

function showNext() {
  if (typeof machine === "string") return show(`the schema is refused: ${machine}`)
  const matcher = new Matcher(machine)
  let taken = ""
  for (const character of prefixField.value) {
    if (!matcher.acceptBytes(encoder.encode(character))) break
    taken += character
  }
  matcher.fillMask(row)
  const next = characters
    .filter((_, token) => isAllowed(row, token))
    .map((text) => (text === " " ? "␣" : text))
  const words = matcher.explain().map(({ what, example }) => `${what}, such as ${example}`)
  const rest = new TextDecoder().decode(matcher.shortest())
  const isWhole = taken === prefixField.value
  const state = matcher.isAccepting() ? "complete" : "incomplete"
  const refused = `no text of the schema goes on like this after ${JSON.stringify(taken)}`
  return show(isWhole ? state : refused, next.join(" "), words.join("\n"), rest)
}

schemaField.addEventListener("input", readSchema)
prefixField.addEventListener("input", showNext)
readSchema()
