import { expect, test } from "vitest"
import { exprs, Never } from "../../../../grammar/lexeme/expr/expr.ts"
import { parseRegex } from "../../../../grammar/regex/parse.ts"

const patterns = ["a", "[a-z]+é", "^(?!foo)[a-z]+$", "\\bfoo\\b", "\\p{L}{2,5}", "x{3}|yz", "^$", "(?<=a)b"]

test.each(patterns)("/%s/: one derivative a class, and each class has its own", (pattern) => {
  const states = [parseRegex(pattern, { mode: "search", path: "" })]
  const seen = new Set(states)
  for (const state of states) {
    const { map, representatives } = exprs.classes(state)
    for (let byte = 0; byte < 256; byte++) {
      const next = exprs.derivative(state, byte)
      const representative = map[byte] === 0 ? Never : exprs.derivative(state, representatives[map[byte] - 1])
      expect(next).toBe(representative)
    }
    const targets = representatives.map((byte) => exprs.derivative(state, byte))
    expect(new Set(targets).size).toBe(targets.length)
    expect(targets).not.toContain(Never)
    for (const next of targets) {
      if (seen.has(next) || states.length > 200) continue
      seen.add(next)
      states.push(next)
    }
  }
})
