/**
 * Errors of a request with the names of the library: `readRequest` and the sampler name fields as
 * requests of the server spell them (`max_tokens`), and the engine's functions throw errors with
 * the option names of their caller (`maxTokens`).
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
/** A quoted text, which stays, or the name of a field. */
const names = new RegExp(
  `"(?:[^"\\\\]|\\\\.)*"|\\b(?:${spelled.join("|")}|tokenrail\\.reason\\.until)\\b`,
  "g",
)

/** The same error with the names of the options; any other error as it is. */
export function inOwnWords(error: unknown): unknown {
  if (error instanceof RequestError)
    return new RequestError(error.code, ownText(error.message), ownParam(error.param))
  if (!(error instanceof SamplingError)) return error
  const param = ownParam(error.param)!
  // The message begins with the name.
  return new SamplingError(param, error.value, ownText(error.message.slice(error.param.length + 2)))
}

/** A text, for warnings too. */
export function ownText(text: string): string {
  return text.replace(names, (name) => ownParam(name)!)
}

function ownParam(param: string | undefined): string | undefined {
  if (param === "tokenrail.reason.until") return "reasonUntil"
  return param === undefined ? undefined : (own.get(param) ?? param)
}
