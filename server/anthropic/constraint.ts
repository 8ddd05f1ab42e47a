/**
 * `output_config.format`: Anthropic's way to ask for JSON that follows a schema. `output_format` is
 * its older name. `structured_outputs` and all the aliases of chat are accepted too.
 */
import type { RequestBody } from "../http/body.ts"
import { type ConstraintRequest, readConstraint } from "../openai/request/constraint.ts"

/**
 * Returns the request's constraint and policies. Throws `Refusal`. The schema is compiled
 * elsewhere.
 */
export function readOutput(body: RequestBody): ConstraintRequest {
  return readConstraint(body, ["output_config", "format"], ["output_format"])
}
