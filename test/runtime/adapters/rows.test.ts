/** Masks written into the logits of a batch, against the plain matcher and one bit at a time. */
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { bindGrammar, isAllowed, Matcher, Vocabulary } from "../../../mask/index.ts"
import { constrain } from "../../../runtime/adapters/rows.ts"
import { lawEnds, lawGrammars, lawVocabulary } from "../../support/lawgrammars.ts"
import { randomOf } from "../../support/oracle.ts"

const allMachines = lawGrammars.map(([, grammar]) => bindGrammar(grammar, lawVocabulary))
const { width, words } = lawVocabulary
const choice = allMachines[5]

const batches = fc.record({
  choice: fc.array(fc.nat(allMachines.length - 1), { minLength: 1, maxLength: 5 }),
  positions: fc.constantFrom(1, 1, 3),
  type: fc.constantFrom("float32", "float16", "array"),
  seed: fc.nat(1e6),
})

test("every value of the last position is kept or denied, as the plain matcher's mask has it", () => {
  let finished = 0
  fc.assert(
    fc.property(batches, ({ choice, positions, type, seed }) => {
      const machines = choice.map((at) => allMachines[at])
      const random = randomOf(seed)
      const rows = constrain(machines, machines.length)
      const plain = machines.map((machine) => new Matcher(machine))
      const mask = new Uint32Array(words)
      for (let step = 0; step < 12 && !rows.isDone(); step++) {
        const count = machines.length * positions * width
        const values = type === "float16" ? new Uint16Array(count) : new Float32Array(count)
        // Halves are random bits without NaN and infinities: the highest bit of the exponent is 0.
        const one = type === "float16" ? () => Math.floor(random() * 2 ** 16) & 0xbfff : () => random() - 0.5
        for (let at = 0; at < count; at++) values[at] = one()
        const denied = type === "float16" ? 0xfc00 : -Infinity
        const data = values.slice()
        const logits = type === "array" ? data : { data, dims: [machines.length, positions, width] }
        expect(rows.apply(logits)).toBe(logits)
        const drawn = plain.map((matcher, row) => {
          matcher.fillMask(mask)
          const start = ((row + 1) * positions - 1) * width
          const allowed: number[] = []
          for (let token = 0; token < width; token++) {
            const wanted = isAllowed(mask, token) ? values[start + token] : denied
            if (data[start + token] !== wanted)
              expect([row, token, data[start + token]]).toEqual([row, token, wanted])
            if (isAllowed(mask, token)) allowed.push(token)
          }
          // The positions before the last one are left as they are.
          const first = row * positions * width
          expect(data.slice(first, start)).toEqual(values.slice(first, start))
          return allowed[Math.floor(random() * allowed.length)]
        })
        rows.accept(drawn)
        for (const [row, matcher] of plain.entries()) if (!matcher.isTerminated()) matcher.accept(drawn[row])
        expect(rows.matchers.map(({ state }) => state)).toEqual(plain.map(({ state }) => state))
        expect(rows.isDone()).toBe(plain.every((matcher) => matcher.isTerminated()))
      }
      if (rows.isDone()) finished++
      rows.reset()
      expect(rows.matchers.map(({ length }) => length)).toEqual(machines.map(() => 0))
    }),
    { numRuns: 60 },
  )
  expect(finished).toBeGreaterThan(3)
})

describe("wrong uses", () => {
  const zeros = (length: number) => new Float32Array(length)

  test("a batch that is none, and machines that do not fit", () => {
    expect(() => constrain(choice, 0)).toThrow("the batch is 0, which is not a positive integer")
    expect(() => constrain(choice, 1.5)).toThrow("the batch is 1.5")
    expect(() => constrain([])).toThrow("there is no machine")
    expect(() => constrain([choice, choice], 3)).toThrow("2 machines for 3 rows")
    const other = bindGrammar(
      lawGrammars[5][1],
      Vocabulary.fromBytes([Uint8Array.of(97), null], { endIds: [1] }),
    )
    expect(() => constrain([choice, other])).toThrow(
      "the machine of row 1 has another vocabulary than that of row 0",
    )
  })

  test.each<[string, unknown, string]>([
    [
      "width of a tensor",
      { data: zeros(60), dims: [1, 60] },
      "the logits have the shape [1, 60], and the vocabulary of the masks is 61 wide",
    ],
    ["width of an array", zeros(60), "the logits are 60 values, which is not a multiple of 1 rows"],
    ["nothing", zeros(0), "the logits are 0 values"],
    ["batch", { data: zeros(122), dims: [2, 61] }, "Expected [1, 61] or [1, positions, 61]"],
    ["rank", { data: zeros(61), dims: [1, 1, 1, 61] }, "the shape [1, 1, 1, 61]"],
    ["number of values", { data: zeros(61), dims: [1, 2, 61] }, "which are not 61 values"],
    ["doubles", new Float64Array(61), "the logits are a Float64Array. Expected a Float32Array"],
    ["integers", { data: new Int8Array(61), dims: [1, 61] }, "the logits are a Int8Array"],
    ["a list", Array(61).fill(0), "the logits are a Array"],
    ["null", null, "the logits are a Null"],
    ["a tensor on a device", { data: undefined, dims: [1, 61] }, "the logits are a Undefined"],
  ])("%s", (_, logits, message) => {
    expect(() => constrain(choice).apply(logits as Float32Array)).toThrow(message)
  })

  test("logits that deny all that the grammar allows", () => {
    const rows = constrain([choice, choice])
    const logits = zeros(122)
    logits.fill(-Infinity, 61)
    expect(() => rows.apply(logits)).toThrow(
      "row 1, token 0 of its text: all tokens that the grammar allows have the logit -Infinity or NaN",
    )
    expect(() => rows.apply(zeros(122).fill(Number.NaN))).toThrow("row 0, token 0 of its text")
    expect(() => constrain(choice).apply(new Uint16Array(61).fill(0xfe00))).toThrow("-Infinity or NaN")
    expect(() => constrain(choice).apply(new Uint16Array(61).fill(0x7c00))).not.toThrow()
  })

  test("tokens that are not allowed change nothing", () => {
    const rows = constrain([choice, choice])
    const [a, b] = [lawVocabulary, lawVocabulary].map((vocabulary) =>
      Array.from({ length: width }, (_, id) => id).findIndex((id) => vocabulary.bytes(id)[0] === 97),
    )
    expect(() => rows.accept([a, 9])).toThrow(
      /^row 1, token 0 of its text: token 9 \("0"\) is not allowed there\. .*Expected: /,
    )
    expect(rows.matchers.map(({ length }) => length)).toEqual([0, 0])
    for (const token of [-1, 61, 1e9, 0.5, Number.NaN])
      expect(() => rows.accept([a, token])).toThrow(`token ${token} (outside the vocabulary of 61)`)
    expect(() => rows.accept(a)).toThrow("accept: 1 tokens for 2 rows")
    rows.accept([a, b])
    expect(() => rows.accept([lawEnds[0], a])).toThrow("row 1, token 1 of its text: token")
    rows.accept([lawEnds[0], lawEnds[1]])
    expect(rows.isDone()).toBe(true)
    expect(() => rows.accept([lawEnds[1], a])).toThrow("The text has ended, so an end id is expected")
    rows.accept([lawEnds[1], lawEnds[0]])
    expect(rows.matchers.map(({ length }) => length)).toEqual([2, 2])
  })
})

test("a Float16Array is masked through its memory, also behind an offset", () => {
  const memory = new Uint16Array(64)
  const array = new DataView(memory.buffer, 4, 122)
  Object.defineProperty(array, Symbol.toStringTag, { value: "Float16Array" })
  constrain(choice).apply({ data: array, dims: [1, 61] })
  expect([memory[0], memory[1], memory[63]]).toEqual([0, 0, 0])
  expect(memory.filter((half) => half === 0xfc00).length).toBeGreaterThan(40)
})
