/** The processor for transformers.js in loops like its own, against the plain matcher. */
import { readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { bindGrammar, isAllowed, Matcher, type TokenMachine } from "../../../mask/index.ts"
import { transformersProcessor, transformersVocabulary } from "../../../runtime/adapters/transformers.ts"
import { lawEnds, lawGrammars, lawVocabulary, rowOf } from "../../support/lawgrammars.ts"
import { randomOf } from "../../support/oracle.ts"

const machines = lawGrammars.map(([, grammar]) => bindGrammar(grammar, lawVocabulary))
const { width } = lawVocabulary

function logitsOf(batch: number, random: () => number) {
  return { data: Float32Array.from({ length: batch * width }, () => random() - 0.5), dims: [batch, width] }
}

/** Draws an allowed token of each row, after a check that a row allows what its plain matcher does. */
function drawAll(logits: { data: Float32Array }, plain: readonly Matcher[], random: () => number): number[] {
  return plain.map((matcher, row) => {
    const allowed: number[] = []
    const mask = Uint32Array.from(rowOf(matcher).row)
    for (let token = 0; token < width; token++) {
      const isKept = logits.data[row * width + token] !== -Infinity
      if (isKept !== isAllowed(mask, token)) expect([row, token, isKept]).toEqual([row, token, !isKept])
      if (isKept) allowed.push(token)
    }
    const token = allowed[Math.floor(random() * allowed.length)]
    if (!matcher.isTerminated()) expect(matcher.accept(token)).toBe(true)
    return token
  })
}

const promptsOf = (batch: number, random: () => number): bigint[][] => {
  const length = Math.floor(random() * 6)
  return Array.from({ length: batch }, () =>
    Array.from({ length }, () => BigInt(Math.floor(random() * width))),
  )
}

/** How a loop hands on its rows: the same arrays, as `generate` does, or copies. */
const loops = fc.record({
  /** Indices of machines. A single number is a machine for all rows. */
  choice: fc.oneof(
    fc.nat(machines.length - 1),
    fc.array(fc.nat(machines.length - 1), { minLength: 1, maxLength: 4 }),
  ),
  handsCopies: fc.boolean(),
  reorders: fc.boolean(),
  seed: fc.nat(1e6),
})

test("each row follows its own text, also when rows are copied or reordered, one generate after the other", () => {
  let reordered = 0
  let ended = 0
  fc.assert(
    fc.property(loops, ({ choice, handsCopies, reorders, seed }) => {
      const random = randomOf(seed)
      const isOne = typeof choice === "number"
      const chosen = isOne ? machines[choice] : choice.map((at) => machines[at])
      const processor = transformersProcessor(chosen, { copies: handsCopies })
      for (let round = 0; round < 3; round++) {
        const batch = isOne ? 1 + Math.floor(random() * 4) : choice.length
        const prompts = promptsOf(batch, random)
        // Rows that a beam search may exchange have one prompt.
        let ids = isOne && reorders ? prompts.map(() => [...prompts[0]]) : prompts
        let plain = ids.map((_, row) => new Matcher(machines[isOne ? choice : choice[row]]))
        for (let step = 0; step < 15; step++) {
          const logits = logitsOf(batch, random)
          expect(processor(handsCopies ? ids.map((row) => [...row]) : ids, logits)).toBe(logits)
          const drawn = drawAll(logits, plain, random)
          for (const [row, token] of drawn.entries()) ids[row].push(BigInt(token))
          if (isOne && reorders && step % 3 === 1) {
            // Each row goes on with the text of one that is drawn; one of them may go on twice.
            const from = ids.map(() => Math.floor(random() * batch))
            plain = from.map((row) => plain[row].fork())
            const texts = from.map((row) => [...ids[row]])
            if (handsCopies) ids = texts
            else for (const [row, text] of texts.entries()) ids[row] = text
            if (from.some((row, at) => row !== at)) reordered++
          }
        }
        ended += plain.filter((matcher) => matcher.isTerminated()).length
      }
    }),
    { numRuns: 60 },
  )
  expect(reordered).toBeGreaterThan(50)
  expect(ended).toBeGreaterThan(50)
})

const choice = machines[5]
const a = Array.from({ length: width }, (_, id) => id).find((id) => lawVocabulary.bytes(id)[0] === 97)!
const zeros = (batch: number) => ({ data: new Float32Array(batch * width), dims: [batch, width] })
const isFirst = ({ data }: { data: Float32Array }) => data[lawEnds[0]] === -Infinity

describe("what begins a new text", () => {
  test("rows of another array: the same prompt again, a longer one, another batch", () => {
    const processor = transformersProcessor(choice)
    const first = [[7n, 8n]]
    processor(first, zeros(1))
    first[0].push(BigInt(a))
    expect(isFirst(processor(first, zeros(1)))).toBe(false)
    expect(isFirst(processor([[7n, 8n]], zeros(1)))).toBe(true)
    expect(isFirst(processor([[7n, 8n, 7n, 8n, 7n]], zeros(1)))).toBe(true)
    expect(
      isFirst(
        processor(
          [
            [7n, 8n],
            [0n, 0n],
          ],
          zeros(2),
        ),
      ),
    ).toBe(true)
    expect(isFirst(processor([[1n, 2n, BigInt(a)]], zeros(1)))).toBe(true)
  })

  test("other arrays that could be the next step, such as a prompt that is the old one and a token", () => {
    const processor = transformersProcessor(choice)
    const first = [[7n]]
    processor(first, zeros(1))
    expect(isFirst(processor([[7n, BigInt(a)]], zeros(1)))).toBe(true)
    const copying = transformersProcessor(choice, { copies: true })
    copying(first, zeros(1))
    expect(isFirst(copying([[7n, BigInt(a)]], zeros(1)))).toBe(false)
  })

  test("reset()", () => {
    const processor = transformersProcessor(choice, { copies: true })
    processor([[7n]], zeros(1))
    processor.reset()
    expect(isFirst(processor([[7n, BigInt(a)]], zeros(1)))).toBe(true)
  })

  test("the same array with its prompts again", () => {
    const processor = transformersProcessor(choice)
    const rows = [[7n]]
    processor(rows, zeros(1))
    rows[0].push(BigInt(a))
    processor(rows, zeros(1))
    rows[0] = [7n]
    expect(isFirst(processor(rows, zeros(1)))).toBe(true)
  })
})

test("what a loop writes behind the end of a row is ignored", () => {
  const processor = transformersProcessor(choice)
  const rows = [[1n], [1n]]
  for (const tokens of [
    [a, a],
    [lawEnds[0], a + 1],
    [9, 9],
  ]) {
    processor(rows, zeros(2))
    for (const [row, token] of tokens.entries()) rows[row].push(BigInt(token))
  }
  rows[1].splice(2)
  const { data } = processor(rows, zeros(2))
  expect([...data.slice(0, width).keys()].filter((token) => data[token] === 0)).toEqual(lawEnds)
})

describe("wrong uses", () => {
  test("a token that the masks deny is named with its row", () => {
    const processor = transformersProcessor(choice)
    const rows = [[1n], [1n]]
    processor(rows, zeros(2))
    rows[0].push(BigInt(a))
    rows[1].push(9n)
    expect(() => processor(rows, zeros(2))).toThrow(
      'row 1, token 0 of its text: token 9 ("0") is not allowed there',
    )
    const copied = transformersProcessor(choice, { copies: true })
    copied([[1n]], zeros(1))
    expect(() => copied([[1n, 9n]], zeros(1))).toThrow('token 9 ("0") is not allowed there')
  })

  test("rows that leave, or lose their beginning", () => {
    const processor = transformersProcessor(choice)
    const rows = [[1n], [1n]]
    processor(rows, zeros(2))
    rows.pop()
    expect(() => processor(rows, zeros(1))).toThrow(
      "the 1 rows do not begin with the 2 prompts of the first call",
    )
    rows.push([2n])
    expect(() => processor(rows, zeros(2))).toThrow("the 2 rows do not begin with the 2 prompts")
  })

  test("a batch that the machines or the logits do not have", () => {
    expect(() => transformersProcessor([choice, choice])([[1n]], zeros(1))).toThrow("2 machines for 1 rows")
    expect(() => transformersProcessor(choice)([], zeros(1))).toThrow("the batch is 0")
    expect(() => transformersProcessor(choice)([[1n], [1n]], zeros(1))).toThrow("Expected [2, 61]")
    expect(() => transformersProcessor(choice, { copy: true } as object)).toThrow("copies")
  })
})

describe("the vocabulary of a tokenizer", () => {
  const text = readFileSync("runtime/embedded/tokenizer.json", "utf8")
  const config = JSON.parse(readFileSync("runtime/embedded/config.json", "utf8"))
  const tokenizer = {
    _tokenizerJSON: JSON.parse(text),
    _tokenizerConfig: JSON.parse(readFileSync("runtime/embedded/tokenizer_config.json", "utf8")),
  }

  test("a tokenizer and the text of its file give the same", () => {
    const vocabulary = transformersVocabulary(tokenizer, { config })
    expect(vocabulary.width).toBe(config.vocab_size)
    expect(vocabulary.endIds).toEqual([config.eos_token_id].flat())
    expect(transformersVocabulary(text, { config }).hash).toBe(vocabulary.hash)
  })

  test("generation_config comes before config, config before text_config, and options before all", () => {
    const of = (model: object, options = {}) =>
      transformersVocabulary(tokenizer, { config, ...model }, options).endIds
    expect(of({ generation_config: { eos_token_id: [5, 4] } })).toEqual([4, 5])
    expect(of({ generation_config: null })).toEqual([config.eos_token_id].flat())
    expect(of({ generation_config: { eos_token_id: null } })).toEqual([config.eos_token_id].flat())
    expect(of({ generation_config: { eos_token_id: 5 } }, { endIds: [6] })).toEqual([6])
    const nested = { text_config: { vocab_size: config.vocab_size + 7, eos_token_id: 3 } }
    const vocabulary = transformersVocabulary(tokenizer, { config: nested })
    expect([vocabulary.width, vocabulary.endIds]).toEqual([config.vocab_size + 7, [3]])
  })

  test("what is missing is named", () => {
    expect(() => transformersVocabulary(tokenizer, { config: {} })).toThrow(
      "the model's config has no vocab_size",
    )
    expect(() => transformersVocabulary(tokenizer, { config: { vocab_size: 9000 } })).toThrow(
      "has no eos_token_id",
    )
    expect(() => transformersVocabulary(tokenizer, { config }, { widht: 3 } as object)).toThrow("widht")
    expect(() => transformersVocabulary("{", { config })).toThrow(SyntaxError)
    expect(() => transformersVocabulary("{}", { config })).toThrow("model.vocab is missing")
  })
})

test("a machine is told from a list of machines", () => {
  const list: readonly TokenMachine[] = [choice]
  expect(isFirst(transformersProcessor(list)([[1n]], zeros(1)))).toBe(true)
})
