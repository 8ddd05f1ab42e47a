/**
 * Each schema bomb is compiled exactly or refused with a `limit`, its first state, mask and shortest completion
 * included. No time is asserted: here it only ends a test that would not end by itself.
 */
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { GrammarError } from "../../../grammar/errors.ts"
import { compile } from "../../../grammar/index.ts"
import { countAllowed, Matcher, parseVocabulary, TokenFsm } from "../../../mask/index.ts"
import { bombs, bombText } from "../../support/bombs/bombs.ts"

const read = (name: string) => JSON.parse(readFileSync(`runtime/embedded/${name}`, "utf8"))
const vocabulary = parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), { endIds: [0, 2] })

/** Longer completions are not read back: that is a walk, whose length a model pays for. */
const MaxReadBack = 5_000

describe("schema bombs", () => {
  test.each(Object.keys(bombs))("%s ends exactly or in a limit", { timeout: 60_000 }, (name) => {
    try {
      const { grammar, report } = compile({ kind: "json", schema: bombText(name) }, { surface: "conform" })
      const row = new Uint32Array(vocabulary.words)
      const matcher = new Matcher(new TokenFsm(grammar, vocabulary))
      matcher.fillMask(row)
      expect(countAllowed(row) > 0).toBe(report.satisfiable)
      if (!report.satisfiable) return
      const rest = matcher.shortest()
      if (rest.length > MaxReadBack) return
      expect(rest.length === 0 || matcher.acceptBytes(rest)).toBe(true)
      expect(matcher.isAccepting()).toBe(true)
    } catch (error) {
      expect(error).toBeInstanceOf(GrammarError)
      expect((error as GrammarError).message).not.toMatch(/internal/)
      expect((error as GrammarError).kind).toBe("limit")
    }
  })
})
