/**
 * `output_config.format`: Anthropic's way to ask for JSON of a schema, beside `structured_outputs` and all the aliases that chat
 * has. `output_format` is its older name.
 */
import { Refusal } from "../errors.ts"
import type { RequestBody } from "../http/body.ts"
import { type ConstraintRequest, readConstraint } from "../openai/request/constraint.ts"
import { isFields } from "../openai/request/wire.ts"

/** The request's constraint and the policies beside it. Throws `Refusal`; the schema is compiled elsewhere. */
export function readOutput(body: RequestBody): ConstraintRequest {
  const { output_config: config, output_format: old } = body.value
  if (old === undefined || old === null) return readConstraint(body, ["output_config", "format"])
  if (isFields(config) && config.format !== undefined && config.format !== null) {
    const param = "output_format"
    const message = `output_config.format and ${param} both constrain the text`
    throw new Refusal("invalid_value", message, { param, hint: "Send one of them" })
  }
  return readConstraint(body, ["output_format"])
}
