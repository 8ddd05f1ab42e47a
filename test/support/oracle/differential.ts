/**
 * Compiler against reference validator on one schema: the same verdict on every instance and its mutations, and every
 * random walk over the masks ends in a text that validates.
 */
import { type CompileOptions, compile } from "../../../grammar/index.ts"
import { type JsonNode, readJson } from "../../../grammar/json/read/reader.ts"
import { TokenFsm, type Vocabulary } from "../../../mask/index.ts"
import { acceptsText, randomOf, randomWalk, vocabularyOf } from "../oracle.ts"
import { type ValidateOptions, Validator } from "../validate.ts"
import { escapeAll, mutate } from "./mutate.ts"

export interface Differential {
  /** Verdicts and walks that were compared. */
  verdicts: number
  accepted: number
  walks: number
  disagreements: string[]
}

/** All bytes, and pieces that carry a walk through a JSON text quickly. */
const walkVocabulary = vocabularyOf([
  ...Array.from({ length: 256 }, (_, byte) => byte),
  ...[
    '{"',
    '":',
    '": ',
    '",',
    '", "',
    '"}',
    '"]',
    "{}",
    "[]",
    "[[",
    "]]",
    "},",
    "}, {",
    "true",
    "false",
    "null",
  ],
  ...[
    "1",
    "12",
    "0.5",
    "-1",
    "1e2",
    "00",
    ".0",
    "\\n",
    "\\u00",
    "a",
    "ab",
    "the",
    " of",
    "ä",
    "💩",
    '"a"',
    '":{"',
  ],
])

export interface DifferentialOptions {
  seed?: number
  /** Mutations of each instance. */
  mutations?: number
  walks?: number
  maxTokens?: number
  vocabulary?: Vocabulary
  compile?: CompileOptions
  validate?: ValidateOptions
}

/** Throws what `compile` throws. */
export function differential(
  schema: string,
  instances: readonly string[],
  more: DifferentialOptions = {},
): Differential {
  const { seed = 1, mutations = 5, walks = 3, maxTokens = 30, vocabulary = walkVocabulary } = more
  const validator = new Validator(schema, more.validate)
  const { grammar, report } = compile({ kind: "json", schema }, { surface: "conform", ...more.compile })
  const fsm = new TokenFsm(grammar, vocabulary)
  const random = randomOf(seed)
  const isNarrow = more.compile?.surface === "generate"
  const result: Differential = { verdicts: 0, accepted: 0, walks: 0, disagreements: [] }
  const compareVerdicts = (text: string, what: string) => {
    const expected = validator.accepts(text)
    result.verdicts++
    if (expected) result.accepted++
    // A narrow surface rejects spellings of valid values, but never the other way round.
    if (expected && isNarrow) return
    if (acceptsText(fsm, text) !== expected)
      result.disagreements.push(`${what}: should be ${expected ? "accepted" : "rejected"}: ${text}`)
  }
  for (const instance of instances) {
    const node = readJson(instance, { maxDepth: 10_000, duplicateKeys: "last" })
    compareVerdicts(instance, "instance")
    if (isWellFormed(node)) compareVerdicts(escapeAll(node), "escaped")
    for (let i = 0; i < mutations; i++) {
      const { text, mutation } = mutate(node, random)
      compareVerdicts(text, mutation)
    }
  }
  if (!report.satisfiable) return result
  for (let i = 0; i < walks; i++) {
    result.walks++
    try {
      const { text } = randomWalk(fsm, seed + i, maxTokens)
      if (!validator.accepts(text)) result.disagreements.push(`walk ${seed + i}: does not validate: ${text}`)
    } catch (error) {
      result.disagreements.push(`walk ${seed + i}: ${error}`)
    }
  }
  return result
}

function isWellFormed(node: JsonNode): boolean {
  if (node.kind === "string") return node.value.isWellFormed()
  if (node.kind === "array") return node.items.every(isWellFormed)
  if (node.kind !== "object") return true
  return node.keys.every((key) => key.isWellFormed()) && [...node.members.values()].every(isWellFormed)
}
