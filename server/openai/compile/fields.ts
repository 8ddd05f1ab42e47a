/** The fields of `POST /v1/compile`: from a JSON object to a checked request. */
import { z } from "zod"
import { missing, unsupported } from "../../errors.ts"
import type { RequestBody } from "../../http/body.ts"
import { type Constraint, type ConstraintRequest, readConstraint } from "../request/constraint.ts"
import { readFields } from "../request/fields.ts"

export interface CompileRequest extends ConstraintRequest {
  constraint: Constraint
  model: string | null
  /** Texts whose verdicts are asked for. */
  check: readonly string[]
  ignored: string[]
}

/** The fields of a request besides its constraint. */
export const compileFields = z.object({
  model: z.string().min(1).nullish(),
  check: z.array(z.string()).nullish(),
})

/** Returns the checked request. Throws `Refusal`. */
export function parseCompile(body: RequestBody): CompileRequest {
  for (const key of ["tools", "tool_choice"]) {
    if (body.value[key] == null) continue
    throw unsupported(key, "is not supported here", "Send the schema of a tool as response_format")
  }
  const { fields, ignored } = readFields(body, compileFields)
  const { constraint, policies } = readConstraint(body)
  if (constraint === null) throw missing("response_format", "Send a constraint, as in chat")
  return { model: fields.model ?? null, check: fields.check ?? [], constraint, policies, ignored }
}
