/** All cases of the suite, in the order of the report. */
import { Asker, type CaseOptions } from "../ask.ts"
import type { ApiCase } from "../case.ts"
import { errorCases } from "./errors.ts"
import { extensionCases } from "./extensions.ts"
import { fieldCases } from "./fields.ts"
import { otherCases } from "./others.ts"
import { schemaCases } from "./schemas.ts"
import { streamCases } from "./streams.ts"
import { toolCases } from "./tools.ts"

export function apiCases(options: CaseOptions = {}): ApiCase[] {
  const ask = new Asker(options)
  const makers = [schemaCases, extensionCases, toolCases, streamCases, fieldCases, errorCases, otherCases]
  return makers.flatMap((make) => make(ask))
}
