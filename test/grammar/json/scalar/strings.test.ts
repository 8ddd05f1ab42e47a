/** Host names beside other keywords: without A-labels where a search would meet their beginnings, but never where they are negated. */
import { expect, test } from "vitest"
import { compile } from "../../../../grammar/index.ts"
import { TokenFsm } from "../../../../mask/index.ts"
import { acceptsText, jsonVocabulary } from "../../../support/oracle.ts"
import { Validator } from "../../../support/validate.ts"

const $schema = "http://json-schema.org/draft-07/schema#"
const texts = ["xn--bcher-kva.ch", "xn--a", "buecher.ch", "a b", "ch"].map((text) => JSON.stringify(text))

test.each<[object]>([
  [{ not: { format: "hostname" } }],
  [{ not: { format: "hostname", minLength: 3 } }],
  [{ not: { format: "hostname", pattern: "ch$" } }],
  [{ not: { format: "idn-hostname", minLength: 3 } }],
  [{ type: "string", if: { format: "hostname", pattern: "ch$" }, then: false }],
  [{ oneOf: [{ type: "string", format: "hostname", minLength: 3 }, { maxLength: 2 }] }],
])("negated: %j", (schema) => {
  const { grammar } = compile({ kind: "json", schema: { $schema, ...schema } }, { surface: "conform" })
  const fsm = new TokenFsm(grammar, jsonVocabulary)
  const validator = new Validator(JSON.stringify({ $schema, ...schema }))
  for (const text of texts) expect([text, acceptsText(fsm, text)]).toEqual([text, validator.accepts(text)])
})

test.each<[object]>([
  [{ type: "string", format: "hostname", pattern: "ch$" }],
  [{ type: "string", format: "hostname", minLength: 3 }],
  [{ type: "string", anyOf: [{ format: "hostname" }, { maxLength: 2 }] }],
])("narrower than the standard, never wider: %j", (schema) => {
  const { grammar } = compile({ kind: "json", schema: { $schema, ...schema } }, { surface: "conform" })
  const fsm = new TokenFsm(grammar, jsonVocabulary)
  const validator = new Validator(JSON.stringify({ $schema, ...schema }))
  for (const text of texts) {
    const expected = validator.accepts(text) && text !== texts[0]
    expect([text, acceptsText(fsm, text)]).toEqual([text, expected])
  }
})
