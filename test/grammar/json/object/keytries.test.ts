/** Tries of the names that may come: made from the last one, they are what they are when made from nothing. */
import fc from "fast-check"
import { expect, test } from "vitest"
import { KeyTries, tagOfName } from "../../../../grammar/json/object/keytries.ts"
import { compareNames } from "../../../../grammar/json/read/value.ts"
import { buildNames, ExcludedTag } from "../../../../grammar/lexeme/string/names.ts"
import { utf8 } from "../../../../grammar/utf8.ts"

const names = ["id", "identity", "name", "a", "ab", "", "größe", "zip", "zone"].map((name) => {
  const bytes = utf8(name)
  return { bytes, tag: tagOfName(name, bytes) }
})

function fresh(available: readonly number[], areLeftOut: boolean): number {
  const entries = names.flatMap(({ tag, bytes }, i) => {
    if (available.includes(i)) return [{ bytes, tag }]
    return areLeftOut ? [] : [{ bytes, tag: ExcludedTag }]
  })
  return buildNames(entries.sort((x, y) => compareNames(x.bytes, y.bytes)))
}

test("a trie is the same whatever was asked for before it", () => {
  const question = fc.tuple(fc.subarray([...names.keys()]), fc.boolean())
  fc.assert(
    fc.property(fc.array(question, { minLength: 1, maxLength: 12 }), (questions) => {
      const tries = new KeyTries(names)
      for (const [available, areLeftOut] of questions)
        expect(tries.of(available, areLeftOut)).toBe(fresh(available, areLeftOut))
    }),
    { seed: 3, numRuns: 300 },
  )
})
