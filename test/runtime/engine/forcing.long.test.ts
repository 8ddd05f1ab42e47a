/** Forced tokens in the engine, with the shipped model and its tokenizer. */
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { canonicalTokens, Matcher, TokenFsm } from "../../../mask/index.ts"
import type { Engine, GenerateOptions, StreamEvent } from "../../../runtime/index.ts"
import { open } from "../../../runtime/open.ts"

const names = ["Frachtkostenpauschale", "net amount in euros", "lastInspectionBy"]
const schema = {
  type: "object",
  properties: {
    [names[0]]: { type: "integer", minimum: 0, maximum: 99 },
    [names[1]]: { type: "string", maxLength: 8 },
    [names[2]]: { enum: ["nobody at all", "nobody we know"] },
  },
  required: names,
  additionalProperties: false,
}

let engine: Engine
beforeAll(async () => {
  engine = await open({ device: "cpu", slots: 4, threads: 1 })
})
afterAll(async () => engine.close())

const ask = (options: GenerateOptions = {}) =>
  engine.generate("Postage 12 euros.", {
    schema,
    temperature: 1.5,
    seed: 5n,
    maxTokens: 200,
    onLength: "close",
    ...options,
  })

/** How often a name stands in the tokens as the tokenizer writes it. */
const wholeNames = (tokens: readonly number[]): number =>
  names.filter((name) => ` ${tokens.join(" ")} `.includes(` ${engine.tokenizer.encodePart(name).join(" ")} `))
    .length

/** Where the forced tokens of an answer stand, those behind each other together. */
function forcedRuns(
  { vocabulary, tokenizer }: Engine,
  tokens: readonly number[],
): { start: number; length: number }[] {
  const matcher = new Matcher(new TokenFsm(compile({ kind: "json", schema }).grammar, vocabulary))
  const row = new Uint32Array(vocabulary.words)
  const runs: { start: number; length: number }[] = []
  for (let at = 0; at < tokens.length; ) {
    const isOnly = matcher.fillMask(row) === "single"
    const forced = isOnly
      ? [tokens[at]]
      : canonicalTokens(matcher.fsm, matcher.state, tokens.slice(0, at), tokenizer.encodePart)
    expect(tokens.slice(at, at + forced.length)).toEqual(forced)
    const last = runs.at(-1)
    if (forced.length > 0 && last && last.start + last.length === at) last.length += forced.length
    else if (forced.length > 0) runs.push({ start: at, length: forced.length })
    for (const token of forced.length > 0 ? forced : [tokens[at]]) {
      expect(matcher.accept(token)).toBe(true)
      at++
    }
  }
  return runs
}

describe("keys", () => {
  test("are written in the tokenizer's tokens, in fewer runs of the model", async () => {
    const counts = { canonical: { names: 0, steps: 0 }, none: { names: 0, steps: 0 } }
    for (const forcing of ["canonical", "none"] as const) {
      const before = engine.metrics.steps
      for (let seed = 1n; seed <= 6n; seed++) {
        counts[forcing].names += wholeNames((await ask({ forcing, seed })).tokens)
      }
      counts[forcing].steps = engine.metrics.steps - before
    }
    // All but those behind a spelling of the model's own, where the tokenizer says nothing: how the first key begins is drawn.
    expect(counts.canonical.names).toBeGreaterThan(4 * names.length)
    expect(counts.none.names).toBeLessThan(counts.canonical.names)
    expect(counts.canonical.steps).toBeLessThan(0.8 * counts.none.steps)
  })

  test("a forced token is one that stands alone in the mask, or what canonicalTokens says; their number is told", async () => {
    const { tokens, usage } = await ask()
    expect(usage.forcedTokens).toBe(forcedRuns(engine, tokens).reduce((sum, { length }) => sum + length, 0))
  })

  test.each([
    ["without drafts", undefined],
    ["with drafts", { method: "ngram", min: 1, adaptive: false }],
  ] as const)("a forced run is one event, with all its tokens, %s", async (_, speculation) => {
    const opened = speculation ? await open({ device: "cpu", slots: 1, threads: 1, speculation }) : engine
    const prompt = `Postage 12 euros. {"${names[0]}": 12, "${names[1]}": "12", "${names[2]}": "nobody at all"}`
    const events: StreamEvent[] = []
    for await (const event of opened.stream(prompt, { schema, temperature: 0 })) events.push(event)
    if (speculation) expect(opened.metrics.acceptedTokens).toBeGreaterThan(0)
    const texts = events.filter((event) => event.type === "text")
    for (const { text, tokens } of texts) {
      expect(Buffer.concat(tokens.map((id) => opened.vocabulary.bytes(id))).toString()).toBe(text)
    }
    let count = 0
    const ends = texts.map(({ tokens }) => (count += tokens.length))
    const runs = forcedRuns(
      opened,
      texts.flatMap(({ tokens }) => tokens),
    )
    expect(runs.some(({ length }) => length > 4)).toBe(true)
    for (const { start, length } of runs) {
      expect(ends.filter((end) => end > start && end < start + length)).toEqual([])
    }
    expect(events.at(-1)).toMatchObject({ type: "finish", finishReason: "stop" })
    if (speculation) await opened.close()
  })

  test("are the same when log-probabilities need the model's logits", async () => {
    const plain = await ask()
    const told = await ask({ logprobs: 2, logprobsMode: "unmasked_logprobs" })
    expect(told.tokens).toEqual(plain.tokens)
    expect(told.logprobs).toHaveLength(plain.tokens.length)
  })

  test("are the model's choice where a request bans or biases tokens", async () => {
    const [first] = engine.tokenizer.encodePart(names[0])
    const free = await ask({ forcing: "none" })
    const { tokens } = await ask({ logitBias: { [first]: -100 } })
    expect(tokens).not.toContain(first)
    expect((await ask({ badWords: ["zzz"] })).tokens).toEqual(free.tokens)
  })

  test("leave every budget room to close in", async () => {
    const whole = await ask({ temperature: 0 })
    let closed = 0
    for (let maxTokens = whole.tokens.length; closed < 3; maxTokens--) {
      const answer = await ask({ temperature: 0, maxTokens }).catch((error: Error) => {
        expect(error.message).toContain("max_tokens")
        return undefined
      })
      if (!answer) break
      expect(answer.finishReason).toBe("stop")
      if (answer.stopReason === "closed") closed++
    }
    expect(closed).toBeGreaterThan(0)
  })
})
