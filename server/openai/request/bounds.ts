/**
 * Bounds on the size of a request, checked before anything is done with it.
 *
 * The size of a body bounds its cost only if the work is linear in it. But a list of stop strings
 * becomes an automaton, a bad word is encoded twice, a seed becomes a big integer, and a wrong list
 * makes an error for each of its members. So every list, text and number has a bound of its own, in
 * one table that docs/limits.md repeats. The checks read only lengths and leave types to the
 * parser: a value of the wrong type has no length here.
 */
import { decisionBounds } from "../../../runtime/options.ts"
import { invalid } from "../../errors.ts"
import { isFields } from "./wire.ts"

/**
 * Members of a list or an object; UTF-16 units of one string; total units of all strings in a list.
 */
type Measure = "members" | "units" | "units in all"

export interface Bound {
  /** The field as the request spells it, or its name in the table of limits. */
  field: string
  measure: Measure | string
  most: number
  /** What the caller can do. */
  hint: string
}

const row = (field: string, measure: Measure | string, most: number, hint: string): Bound => ({
  field,
  measure,
  most,
  hint,
})

const shorter = "Send a shorter one"
const fewer = "Send fewer"

/**
 * Bounds of single fields. For each field the count of members comes first, since it bounds the
 * other checks.
 */
const fieldBounds: readonly Bound[] = [
  row("model", "units", 256, "Use a name that /v1/models lists"),
  row("messages", "members", 4_096, "Send the latest ones"),
  row("input", "members", 4_096, "Send the latest items"),
  row("questions", "members", decisionBounds.questions, "Send the others in a request of their own"),
  row("check", "members", decisionBounds.questions, "Send the others in a request of their own"),
  row("check", "units in all", 1 << 20, "Send fewer or shorter texts"),
  row("texts", "members", decisionBounds.questions, "Send the others in a request of their own"),
  row("texts", "units in all", 1 << 20, "Send fewer or shorter texts"),
  row("system", "members", 1_024, "Join the blocks"),
  row("stop", "members", 64, fewer),
  row("stop", "units in all", 4_096, "Send fewer or shorter stop strings"),
  row("stop_sequences", "members", 64, fewer),
  row("stop_sequences", "units in all", 4_096, "Send fewer or shorter stop sequences"),
  row("stop_regex", "members", 8, fewer),
  row("stop_regex", "units in all", 1_024, "Send fewer or shorter patterns"),
  row("stop_token_ids", "members", 128, fewer),
  row("bad_words", "members", 128, fewer),
  row("bad_words", "units in all", 8_192, "Send fewer or shorter words"),
  row("dry_sequence_breakers", "members", 64, fewer),
  row("dry_sequence_breakers", "units in all", 1_024, "Send fewer or shorter breakers"),
  row("allowed_token_ids", "members", 1 << 18, "Ban the others by logit_bias"),
  row("logprob_token_ids", "members", 128, fewer),
  row("logit_bias", "members", 1_024, "Bias fewer tokens, or name the allowed ones by allowed_token_ids"),
  row("logit_bias", "units", 20, "The keys are token ids: whole numbers in decimal digits"),
  row("sampler_order", "members", 32, "Name each stage once"),
  row("seed", "units", 20, "A seed is an integer of 64 bits, in at most 20 digits"),
  row("prediction.content", "members", 1_024, "Join the parts"),
  row("chat_template_kwargs", "members", 64, fewer),
  row("tokens", "members", 1 << 18, fewer),
  row("tools", "members", 1_024, fewer),
  row("regex", "units", 64 << 10, shorter),
  row("guided_regex", "units", 64 << 10, shorter),
  row("structured_outputs.regex", "units", 64 << 10, shorter),
  row("response_format.regex", "units", 64 << 10, shorter),
  row("response_format.pattern", "units", 64 << 10, shorter),
  row("text.format.regex", "units", 64 << 10, shorter),
  row("text.format.pattern", "units", 64 << 10, shorter),
  row("grammar", "units", 1 << 20, shorter),
  row("ebnf", "units", 1 << 20, shorter),
  row("guided_grammar", "units", 1 << 20, shorter),
  row("structured_outputs.grammar", "units", 1 << 20, shorter),
  row("response_format.grammar", "units", 1 << 20, shorter),
  row("text.format.grammar", "units", 1 << 20, shorter),
  row("guided_choice", "members", 200_000, "Send fewer choices, or a regular expression"),
  row("guided_choice", "units in all", 4 << 20, "Send fewer or shorter choices"),
  row("structured_outputs.choice", "members", 200_000, "Send fewer choices, or a regular expression"),
  row("structured_outputs.choice", "units in all", 4 << 20, "Send fewer or shorter choices"),
  row("guided_whitespace_pattern", "units", 256, "Use tokenrail.whitespace"),
  row("structured_outputs.whitespace_pattern", "units", 256, "Use tokenrail.whitespace"),
  row("tokenrail", "members", 64, "Leave out what is unknown"),
  row("tokenrail.first_tokens", "members", 1 << 16, "Put the text into the prompt"),
  row("structured_outputs.first_tokens", "members", 1 << 16, "Put the text into the prompt"),
]

/** Bounds of all other fields that have an effect. */
const otherBounds = [
  row("any other field", "members", 64, fewer),
  row("any other field", "units", 256, shorter),
] as const

/** Bounds that span several fields. */
export const wholeBounds = {
  parts: row("messages[].content", "parts in all messages", 4_096, "Join the parts of a message"),
  calls: row("messages[].tool_calls", "calls of one message", 128, fewer),
  values: row(
    "messages",
    "values in all messages",
    1 << 16,
    "Leave out what the chat template does not read",
  ),
  levels: row("messages", "levels", 16, "Leave out what the chat template does not read"),
  prediction: row("prediction.content", "units in all", 1 << 18, "Predict the beginning of the answer alone"),
  kwargs: row("chat_template_kwargs", "values in all", 256, "Leave out what the chat template does not read"),
  kwargsUnits: row("chat_template_kwargs", "units in all", 4_096, "Put text into messages"),
  kwargsLevels: row("chat_template_kwargs", "levels", 4, "Leave out what the chat template does not read"),
  prompts: row("prompt", "prompts in a list", 128, "Send the others in a request of their own"),
  items: row(
    "previous_response_id",
    "items with those of the input",
    4_096,
    "Send the latest items as input, without previous_response_id",
  ),
  namespaces: row("tools", "tools in all namespaces", 1_024, fewer),
  metadata: row("metadata", "pairs of a response", 16, fewer),
  metadataUnits: row("metadata", "units of a value of a response", 512, shorter),
  unknownKeys: row("the body", "unknown keys", 1_000, "Leave out what is unknown"),
  keyUnits: row("the body", "units of an unknown key", 256, "Leave it out"),
  replyRows: row(
    "logprobs",
    "rows of one reply that is not a stream (n × tokens × (1 + alternatives))",
    1_000_000,
    "Set stream: true, or lower max_completion_tokens, top_logprobs or n",
  ),
  traceRows: row(
    "tokenrail.trace",
    "rows of one stream (n × tokens × (1 + 2 × trace))",
    4_000_000,
    "Lower max_completion_tokens, tokenrail.trace or n",
  ),
} satisfies Record<string, Bound>

/** All bounds of a request, in the order of docs/limits.md. */
export const requestBounds: readonly Bound[] = [...fieldBounds, ...otherBounds, ...Object.values(wholeBounds)]

/**
 * Throws `Refusal` if `value` is above the bound. `field` is the exact path if that of the bound is
 * more general.
 */
export function checkBound(bound: Bound, value: number, field = bound.field): void {
  if (value <= bound.most) return
  throw invalid(field, `: ${value} ${bound.measure} are more than the bound of ${bound.most}`, bound.hint)
}

/**
 * Checks the fields of a body. `honoured` names the fields that have an effect. Throws `Refusal`.
 */
export function checkBounds(body: Readonly<Record<string, unknown>>, honoured: Iterable<string>): void {
  for (const bound of fieldBounds) checkBound(bound, measured(bound.measure, valueAt(body, bound.field)))
  for (const field of honoured) {
    if (listed.has(field)) continue
    for (const bound of otherBounds) checkBound(bound, measured(bound.measure, valueAt(body, field)), field)
  }
  checkConversation(body.messages, "messages")
  checkConversation(body.input, "input")
}

/**
 * Fields that the general bounds do not cover: each part of `prediction` has a bound of its own,
 * and texts of messages and prompts are bounded by the context.
 */
const listed: ReadonlySet<string> = new Set([
  ...fieldBounds.map(({ field }) => field),
  ...["prediction", "prompt", "instructions"],
])

function valueAt(body: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce((at, name) => (isFields(at) && Object.hasOwn(at, name) ? at[name] : undefined), body)
}

function measured(measure: string, value: unknown): number {
  if (measure === "members") {
    if (Array.isArray(value)) return value.length
    return isFields(value) ? Object.keys(value).length : 0
  }
  let longest = 0
  let sum = 0
  for (const text of textsOf(value)) {
    longest = Math.max(longest, text.length)
    sum += text.length
  }
  return measure === "units" ? longest : sum
}

/**
 * Yields the strings in a value: the value itself, the members of a list, or the keys and members
 * of an object.
 */
function* textsOf(value: unknown): Generator<string> {
  if (typeof value === "string") yield value
  else if (Array.isArray(value)) {
    for (const member of value) if (typeof member === "string") yield member
  } else if (isFields(value)) {
    yield* Object.keys(value)
    yield* textsOf(Object.values(value))
  }
}

/** Bounds the parts of messages and items that are not texts. The context bounds the texts. */
function checkConversation(messages: unknown, list: string): void {
  if (!Array.isArray(messages)) return
  const { parts, calls, values, levels } = wholeBounds
  let partCount = 0
  let valueCount = 0
  for (const [index, message] of messages.entries()) {
    const field = `${list}[${index}]`
    if (isFields(message)) {
      if (Array.isArray(message.content)) partCount += message.content.length
      checkBound(parts, partCount, `${field}.content`)
      if (Array.isArray(message.tool_calls))
        checkBound(calls, message.tool_calls.length, `${field}.tool_calls`)
    }
    const extent = extentOf(message, values.most - valueCount, levels.most)
    valueCount += extent.values
    checkBound(values, valueCount, field)
    checkBound(levels, extent.levels, field)
  }
}

/**
 * Returns the number of values in `value`, itself included, and the depth of its lists and objects.
 * The walk stops one above a bound.
 */
export function extentOf(
  value: unknown,
  mostValues: number,
  mostLevels: number,
): { values: number; levels: number } {
  let values = 0
  let deepest = 0
  const walk = (at: unknown, level: number): void => {
    values++
    if (typeof at !== "object" || at === null) return
    deepest = Math.max(deepest, level + 1)
    if (level >= mostLevels) return
    for (const member of Array.isArray(at) ? at : Object.values(at)) {
      if (values > mostValues) return
      walk(member, level + 1)
    }
  }
  walk(value, 0)
  return { values, levels: deepest }
}
