/**
 * Masks in another engine: a toy with a vocabulary of its own and random logits writes JSON that a schema accepts. Where the
 * logits come from makes no difference: put your model in the place of `forward`.
 *
 *   npm ci && npm run build && node examples/matcher.js
 *
 * Outside of this repository begin with `npm install --ignore-scripts tokenrail`.
 */
import { compile } from "tokenrail/grammar"
import { applyMask, bindGrammar, countAllowed, Matcher, Vocabulary } from "tokenrail/mask"

// The vocabulary: every printable ASCII character, some longer tokens, and the token that ends a text.
const texts = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))
texts.push('{"', '":', '", "', '"}', "red", "green", "blue", "colour", "size", "10", "25")
const endId = texts.length
const bytes = texts.map((text) => new TextEncoder().encode(text))
const vocabulary = Vocabulary.fromBytes([...bytes, null], { endIds: [endId] })

const { grammar } = compile({
  kind: "json",
  schema: {
    type: "object",
    properties: {
      colour: { enum: ["red", "green", "blue"] },
      size: { type: "integer", minimum: 10, maximum: 99 },
    },
    required: ["colour", "size"],
    additionalProperties: false,
  },
})
// Shared by all texts with this grammar; each text has a Matcher of its own.
const fsm = bindGrammar(grammar, vocabulary)

/** Numbers from 0 to 1, the same ones for the same seed (mulberry32). */
function createRandom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The model of this engine: it knows nothing, not even the text so far. */
function forward(logits, random) {
  for (let token = 0; token < logits.length; token++) logits[token] = random()
}

function write(seed) {
  const random = createRandom(seed)
  const matcher = new Matcher(fsm)
  const logits = new Float32Array(vocabulary.width)
  const row = new Uint32Array(vocabulary.words)
  const counts = []
  let text = ""
  while (!matcher.isAccepting()) {
    forward(logits, random)
    matcher.fillMask(row)
    applyMask(logits, row)
    const token = logits.indexOf(Math.max(...logits))
    if (!matcher.accept(token)) throw new Error(`the mask of ${JSON.stringify(text)} allowed token ${token}`)
    counts.push(countAllowed(row))
    text += texts[token]
  }
  return { text, counts }
}

for (const seed of [1, 2, 3]) {
  const { text, counts } = write(seed)
  console.log(text)
  console.log(`  allowed of ${vocabulary.width} tokens: ${counts.join(" ")}`)
}
