/**
 * Rewrites the errors of a request with the names of the library. `readRequest` and the sampler
 * name fields as requests of the server spell them (`max_tokens`); the engine's functions throw
 * errors with the option names of their caller (`maxTokens`).
 */
import { SamplingError } from "../../sampler/index.ts"
import { RequestError } from "../errors.ts"
import { generateFields } from "./requestfields.ts"

const own = new Map(
  Object.keys(generateFields).map((name) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name,
  ]),
)
const spelled = [...own].filter(([wire, name]) => wire !== name).map(([wire]) => wire)
/** Matches a quoted text, which is kept as it is, or the name of a field. */
const names = new RegExp(
  `"(?:[^"\\\\]|\\\\.)*"|\\b(?:${spelled.join("|")}|tokenrail\\.reason\\.until)\\b`,
  "g",
)

/** Returns the same error with the option names of the library; any other error unchanged. */
export function inOwnWords(error: unknown): unknown {
  if (error instanceof RequestError)
    return new RequestError(error.code, ownText(error.message), ownParam(error.param))
  if (!(error instanceof SamplingError)) return error
  const param = ownParam(error.param)!
  // The message begins with the name.
  return new SamplingError(param, error.value, ownText(error.message.slice(error.param.length + 2)))
}

/** Rewrites the names in a message of an error or a warning. */
export function ownText(text: string): string {
  return text.replace(names, (name) => ownParam(name)!)
}

function ownParam(param: string | undefined): string | undefined {
  if (param === "tokenrail.reason.until") return "reasonUntil"
  return param === undefined ? undefined : (own.get(param) ?? param)
}
