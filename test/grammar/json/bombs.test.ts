/**
 * Each schema bomb is compiled exactly or refused with a `limit`, its first state and mask included. Time is measured by
 * the soak (`test/soak/main.ts bombs`); here it only ends a test that would not end by itself.
 */
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { GrammarError } from "../../../grammar/errors.ts"
import { compile } from "../../../grammar/index.ts"
import { countAllowed, Matcher, parseVocabulary, TokenFsm } from "../../../mask/index.ts"
import { bombs, bombText } from "./bombs.ts"

const read = (name: string) => JSON.parse(readFileSync(`runtime/embedded/${name}`, "utf8"))
const vocabulary = parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), { endIds: [0, 2] })

/** What does not end in time yet, and why. */
const skips: { reason: string; names: string[] }[] = [
  {
    reason:
      "the classes of eight overlapping patterns of names, each met with a format, are searched without a common bound",
    names: ["patternPropertiesFormat"],
  },
]
const skipped = skips.flatMap(({ names }) => names)

describe("schema bombs", () => {
  for (const { reason, names } of skips) test.skip.each(names)(`%s (${reason})`, () => {})

  test.each(Object.keys(bombs).filter((name) => !skipped.includes(name)))(
    "%s ends exactly or in a limit",
    { timeout: 60_000 },
    (name) => {
      try {
        const { grammar, report } = compile({ kind: "json", schema: bombText(name) }, { surface: "conform" })
        const row = new Uint32Array(vocabulary.words)
        new Matcher(new TokenFsm(grammar, vocabulary)).fillMask(row)
        expect(countAllowed(row) > 0).toBe(report.satisfiable)
      } catch (error) {
        expect(error).toBeInstanceOf(GrammarError)
        expect((error as GrammarError).message).not.toMatch(/internal/)
        expect((error as GrammarError).kind).toBe("limit")
      }
    },
  )
})
