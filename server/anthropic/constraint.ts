/**
 * `output_config.format`: Anthropic's way to ask for JSON of a schema, beside `structured_outputs`
 * and all the aliases that chat has. `output_format` is its older name.
 */
import type { RequestBody } from "../http/body.ts"
import { type ConstraintRequest, readConstraint } from "../openai/request/constraint.ts"

/**
 * The request's constraint and the policies beside it. Throws `Refusal`; the schema is compiled
 * elsewhere.
 */
export function readOutput(body: RequestBody): ConstraintRequest {
  return readConstraint(body, ["output_config", "format"], ["output_format"])
}
