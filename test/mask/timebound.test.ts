/** Calls of a matcher that would take longer than they may: a `limit` error, behind which nothing has changed. */
import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { withinTime } from "../../grammar/deadline.ts"
import { compile, TimeError } from "../../grammar/index.ts"
import { Matcher, parseVocabulary, TokenFsm } from "../../mask/index.ts"
import { refusalOf } from "../support/cases.ts"
import { freshEngine } from "../support/failures.ts"

const read = (name: string) => JSON.parse(readFileSync(`runtime/embedded/${name}`, "utf8"))
const vocabulary = parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), { endIds: [0, 2] })
const nested = `root ::= "[" (root ("," root)*)? "]" | "{" (string ":" root)* "}" | string | [0-9]+ ("." [0-9]+)? | "true" | [ \\n]+ root
string ::= "\\"" [^"\\n]* "\\""
`
const machine = () => new TokenFsm(compile({ kind: "gbnf", text: nested }).grammar, vocabulary)
const rowOf = (matcher: Matcher) => {
  const row = new Uint32Array(vocabulary.words)
  matcher.fillMask(row)
  return row
}
const idOf = (text: string) =>
  Array.from({ length: vocabulary.width }, (_, id) => id).find(
    (id) => new TextDecoder().decode(vocabulary.bytes(id)) === text,
  ) as number
const bracket = idOf("[")

describe("time bounds of a matcher", () => {
  test("a mask", () => {
    const fsm = machine()
    const matcher = new Matcher(fsm, { maskMs: 0 })
    const refused = refusalOf(() => rowOf(matcher))
    expect(refused).toBeInstanceOf(TimeError)
    expect(refused.kind).toBe("limit")
    expect(refused.message).toContain("takes more than the bound of 0 ms. Raise maskMs")
    expect(refusalOf(() => rowOf(matcher.fork()))).toBeInstanceOf(TimeError)
    expect([matcher.length, matcher.isAccepting()]).toEqual([0, false])
    // What was found before the end of the time is right.
    expect(rowOf(new Matcher(fsm))).toEqual(rowOf(new Matcher(machine())))
    expect(rowOf(matcher)).toEqual(rowOf(new Matcher(fsm)))
    expect(matcher.accept(bracket)).toBe(true)
  })

  test("a mask that was given up at any look at the clock leaves nothing in the next one", async () => {
    let [looks, over] = [0, 0]
    const late = await freshEngine(() => {
      if (++looks === over) throw new late.GrammarError("limit", "", "the mask takes more than its time")
    })
    // Alternatives of one text, so that their readings are united.
    const text = 'root ::= e\ne ::= e e | "[" e "]" | "{" e "}" | "\\""\n'
    const words = late.parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), {
      endIds: [0, 2],
    })
    const { grammar } = late.compile({ kind: "gbnf", text })
    const rowAfter = (fsm: InstanceType<typeof late.TokenFsm>, begin: string) => {
      const matcher = new late.Matcher(fsm)
      matcher.acceptBytes(new TextEncoder().encode(begin))
      const row = new Uint32Array(words.words)
      looks = 0
      matcher.fillMask(row)
      return row
    }
    const expected = rowAfter(new late.TokenFsm(grammar, words), '{"')
    let given = 0
    for (let bound = 1; bound === given + 1; bound++) {
      const fsm = new late.TokenFsm(grammar, words)
      over = bound
      try {
        rowAfter(fsm, '[["')
      } catch {
        given = bound
      }
      over = 0
      expect(rowAfter(fsm, '{"')).toEqual(expected)
    }
    expect(given).toBeGreaterThan(2)
  })

  test("tokens that each may end an item of counters within counters", () => {
    const text = "root ::= (((((([^x]*!<[1]>){0,99}){0,99}){0,99}){0,99}){0,99}){0,99}\n"
    const { grammar } = compile({ kind: "gbnf", text }, { tokens: vocabulary })
    const matcher = new Matcher(new TokenFsm(grammar, vocabulary), { maskMs: 1_000 })
    for (const word of ["borrow", "fault", "rough", "sown", "produ", "btw", "listed", "restri", "cage"]) {
      rowOf(matcher)
      expect(matcher.accept(idOf(word))).toBe(true)
    }
  })

  test("a shortest completion", () => {
    const fsm = new TokenFsm(
      compile({ kind: "regex", pattern: "(?=.*x)(?!.*xx)[a-z]{300}x" }).grammar,
      vocabulary,
    )
    const refused = refusalOf(() => new Matcher(fsm, { completionMs: 0 }).shortest())
    expect(refused).toBeInstanceOf(TimeError)
    expect(refused.message).toContain("Raise completionMs")
    expect(new Matcher(fsm).shortest()).toHaveLength(301)
  })

  test("the nearer of two bounds counts, and the farther one goes on behind it", () => {
    const matcherOf = (count: number, options = {}) => {
      const pattern = `(?=.*y)(?!.*yy)[a-z]{${count}}y`
      return new Matcher(new TokenFsm(compile({ kind: "regex", pattern }).grammar, vocabulary), options)
    }
    const patient = matcherOf(200, { completionMs: 60_000 })
    expect(refusalOf(() => withinTime(0, () => patient.shortest())).message).toContain("limits.compileMs")
    const [hasty, other] = [matcherOf(201, { completionMs: 0 }), matcherOf(202)]
    const both = () => {
      expect(refusalOf(() => hasty.shortest()).message).toContain("completionMs")
      const end = performance.now() + 200
      while (performance.now() < end);
      other.shortest()
    }
    expect(refusalOf(() => withinTime(200, both)).message).toContain("limits.compileMs")
  })
})
