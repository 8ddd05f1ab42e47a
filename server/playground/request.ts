/** Makes the body of a chat request from what the page shows. */
import type { Kind, Setup } from "./setup.ts"

/** Members of a body that come from the constraint. */
function constraintOf({ kind, text, options }: Setup): object {
  switch (kind) {
    case "json":
      return {
        response_format: { type: "json_schema", json_schema: { name: "answer", schema: parsed(text) } },
      }
    case "regex":
      return { structured_outputs: { regex: text } }
    case "gbnf":
    case "lark":
      return { structured_outputs: { grammar: text } }
    case "tag":
      return { structured_outputs: { structural_tag: parsed(text) } }
    case "choice":
      return { structured_outputs: { choice: linesOf(text) } }
    case "tools":
      return { tools: parsed(text), tool_choice: options.toolChoice }
    case "none":
      return {}
    default:
      return kind satisfies never
  }
}

/** Returns the options that are not the server's defaults, under `tokenrail`. */
function policiesOf({ kind, options }: Setup): Record<string, unknown> {
  const isJson = kind === "json" || kind === "tools" || kind === "tag"
  return {
    ...(isJson && options.whitespace !== "bounded" && { whitespace: options.whitespace }),
    ...(isJson && options.order !== "schema" && { order: options.order }),
    ...(options.onLength !== "truncate" && { on_length: options.onLength }),
    ...(kind === "json" && options.schemaInPrompt && { schema_in_prompt: true }),
  }
}

/** Returns the body that a program would send. */
export function requestBody(model: string, setup: Setup): Record<string, unknown> {
  const { messages, options } = setup
  const policies = policiesOf(setup)
  return {
    model,
    messages: messages.filter(({ content }) => content !== ""),
    ...constraintOf(setup),
    temperature: options.temperature,
    max_tokens: options.maxTokens,
    ...(seedOf(options.seed) !== null && { seed: seedOf(options.seed) }),
    ...(Object.keys(policies).length > 0 && { tokenrail: policies }),
  }
}

/** A stream of the same answer that also reports how each token came about. */
export function tracedBody(
  body: Record<string, unknown>,
  more: { trace: number; firstTokens?: readonly number[] },
): object {
  return {
    ...body,
    stream: true,
    stream_options: { include_usage: true },
    tokenrail: {
      ...(body.tokenrail as object | undefined),
      ...{ trace: more.trace, fields: true, timing: true },
      ...(more.firstTokens?.length && { first_tokens: more.firstTokens }),
    },
  }
}

/** Replaces the parsed schema of a body by its text, which keeps numbers and the order of keys. */
export function withText(body: Record<string, unknown>, kind: Kind, text: string): Record<string, unknown> {
  if (kind === "json") {
    return {
      ...body,
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: text } },
    }
  }
  return kind === "tag" ? { ...body, structured_outputs: { structural_tag: text } } : body
}

/** Returns the choices of a text, one for each line that is not empty. */
function linesOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line !== "")
}

/**
 * Returns the value of a JSON text; the text itself if it is not JSON, which the server refuses.
 */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns the seed that a text spells; null if it is empty or not one. */
function seedOf(text: string): number | null {
  const digits = text.trim()
  const seed = Number(digits)
  return /^-?\d+$/.test(digits) && Number.isSafeInteger(seed) ? seed : null
}

/** Returns what is wrong with the text of a seed; null if nothing is. Empty text is no seed. */
export function seedProblem(text: string): string | null {
  if (text.trim() === "" || seedOf(text) !== null) return null
  return `A seed is a whole number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, or empty.`
}
