/**
 * Policies: how a constrained text may be spelt. They have names on the wire, and names in the
 * compiler.
 *
 * A policy restricts spellings, never values. The exception is `open_objects`, which gives a
 * meaning to objects that do not say whether they allow further properties. Policies come in the
 * request's `tokenrail` object, inside `structured_outputs` together with the two switches that
 * vLLM has there, or from the flags of the command line. A value that the engine does not support
 * is refused with a hint.
 */
import { z } from "zod"
import type { CompileOptions, GenerateOptions } from "../../../runtime/index.ts"
import { type PolicyName, type PolicyWord, policyWords } from "../../../runtime/options.ts"
import { invalid, Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import { tokenIds } from "./tokenids.ts"

/** Accepts one of a policy's values, or an older name of one. */
function words<Name extends PolicyName>(name: Name): z.ZodType<PolicyWord<Name>> {
  const { words, older } = policyWords[name]
  const error = `Invalid option: expected one of ${words.map((word) => quote(word)).join("|")}`
  return z.enum([...words, ...Object.keys(older)], { error }) as unknown as z.ZodType<PolicyWord<Name>>
}

/** The fields of a request's `tokenrail` object. */
export const policyFields = z.strictObject({
  order: words("order").nullish(),
  escapes: words("escapes").nullish(),
  numbers: words("numbers").nullish(),
  formats: words("formats").nullish(),
  open_objects: words("openObjects").nullish(),
  whitespace: z.union([words("whitespace"), z.looseObject({ indent: z.unknown() })]).nullish(),
  additional: z.enum(["schema", "forbid"]).nullish(),
  on_length: z.enum(["truncate", "close"]).nullish(),
  schema_in_prompt: z.boolean().nullish(),
  prefill: z.enum(["outside", "inside"]).nullish(),
  lenient: z.boolean().nullish(),
  report: z.boolean().nullish(),
  timing: z.boolean().nullish(),
  fields: z.boolean().nullish(),
  confidence: z.boolean().nullish(),
  trace: z.union([z.boolean(), z.int().min(1).max(64)]).nullish(),
  first_tokens: tokenIds,
  stream_granularity: z.enum(["token", "word"]).nullish(),
  draft_tokens: z.int().min(0).nullish(),
  tools_in_prompt: z.boolean().nullish(),
  reason: z.strictObject({ until: z.string().min(1) }).nullish(),
})

/** vLLM's switches inside `structured_outputs`. */
export const vllmFlags = z.strictObject({
  disable_any_whitespace: z.boolean().nullish(),
  disable_additional_properties: z.boolean().nullish(),
  whitespace_pattern: z.string().nullish(),
})

/** Values that the engine does not support yet: field, value, hint. */
const notYet: [keyof z.infer<typeof policyFields>, unknown, string][] = [
  [
    "additional",
    "forbid",
    "Set additionalProperties: false in the schema, or tokenrail.open_objects to declared",
  ],
  ["prefill", "inside", "Leave it out"],
  ["lenient", true, "Remove the keyword from the schema"],
]

/** Keys that `structured_outputs` may hold besides its constraint. */
export const policyKeys: readonly string[] = [
  ...Object.keys(policyFields.shape),
  ...Object.keys(vllmFlags.shape),
]

/** The policies of a request. */
export interface Policies {
  compile: CompileOptions
  /** Further options of the engine: length, drafts, granularity, the schema in the prompt. */
  generate: GenerateOptions
}

/** Returns the policies of a request's body. Throws `Refusal`. */
export function readPolicies(value: Record<string, unknown>): Policies {
  const outputs = (value.structured_outputs ?? {}) as Record<string, unknown>
  const pick = (keys: string[]) =>
    Object.fromEntries(keys.filter((k) => outputs[k] != null).map((k) => [k, outputs[k]]))
  const inside = check(policyFields, pick(Object.keys(policyFields.shape)), "structured_outputs")
  const flags = check(vllmFlags, pick(Object.keys(vllmFlags.shape)), "structured_outputs")
  const beside = check(policyFields, value.tokenrail ?? {}, "tokenrail")
  for (const [key, given] of Object.entries(inside)) {
    const other = beside[key as keyof typeof beside]
    // Lists and objects are equal if their JSON is.
    if (other != null && JSON.stringify(other) !== JSON.stringify(given)) {
      throw new Refusal("invalid_value", `tokenrail.${key} and structured_outputs.${key} differ`, {
        param: `structured_outputs.${key}`,
        hint: "Send one of them",
      })
    }
  }
  const policies = { ...beside, ...inside }
  for (const [key, unsupported, hint] of notYet) {
    const asked =
      policies[key] === unsupported || (key === "additional" && flags.disable_additional_properties)
    if (asked) {
      throw new Refusal("unsupported_parameter", `${key}: ${quote(unsupported)} is not supported here`, {
        param: key in beside ? `tokenrail.${key}` : `structured_outputs.${key}`,
        hint,
      })
    }
  }
  const options: CompileOptions = {}
  if (policies.order) options.order = policies.order
  if (policies.escapes) options.escapes = policies.escapes
  if (policies.numbers) options.numbers = policies.numbers
  if (policies.formats) options.formats = policies.formats
  if (policies.open_objects) options.openObjects = policies.open_objects
  const pattern = flags.whitespace_pattern ?? value.guided_whitespace_pattern
  const whitespace = policies.whitespace ?? (flags.disable_any_whitespace ? "spaced" : fromPattern(pattern))
  if (typeof whitespace === "object" && whitespace !== null) {
    throw new Refusal("unsupported_parameter", "whitespace: {indent} is not supported here", {
      param: "tokenrail.whitespace",
      hint: "Use bounded, none, spaced or any",
    })
  }
  if (whitespace) options.whitespace = whitespace
  const { on_length, stream_granularity, draft_tokens, schema_in_prompt, tools_in_prompt, reason } = policies
  return {
    compile: options,
    generate: {
      ...(on_length && { onLength: on_length }),
      ...(stream_granularity && { streamGranularity: stream_granularity }),
      ...(policies.fields != null && { fields: policies.fields }),
      ...(policies.confidence && { confidence: true }),
      ...(policies.trace && { trace: policies.trace }),
      ...(policies.first_tokens?.length && { firstTokens: policies.first_tokens }),
      ...(draft_tokens != null && { draftTokens: draft_tokens }),
      ...(tools_in_prompt != null && { toolsInPrompt: tools_in_prompt }),
      ...(reason && { reasonUntil: reason.until }),
      schemaInPrompt: schema_in_prompt ?? false,
    },
  }
}

function fromPattern(pattern: unknown): "none" | "any" | null {
  if (pattern == null) return null
  if (pattern === "") return "none"
  // Matches a repeated class of white space. Its letters may be escapes or the characters
  // themselves.
  if (typeof pattern === "string" && /^(\\s|\[( |\n|\t|\r|\\n|\\t|\\r|\\s)+\])\*$/.test(pattern)) return "any"
  throw new Refusal("unsupported_parameter", `whitespace pattern ${quote(pattern)} is not supported here`, {
    param: "guided_whitespace_pattern",
    hint: 'Use "" for none, [ \\n\\t]* for any, or tokenrail.whitespace',
  })
}

function check<T extends z.ZodType>(type: T, value: unknown, field: string): z.infer<T> {
  const parsed = type.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  const param = [field, ...issue.path].join(".")
  if (issue.code !== "unrecognized_keys") throw invalid(param, `: ${issue.message}`)
  const known = policyKeys.filter((key) => key in policyFields.shape || field !== "tokenrail")
  throw invalid(param, `: unknown key ${quote(issue.keys[0])}`, `Known keys: ${known.join(", ")}`)
}
