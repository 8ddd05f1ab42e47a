/**
 * `tokenrail: {trace}` and `first_tokens`: how each token came about, in streams and whole replies.
 * The masses are compared with a request that asks for the model's own log-probabilities.
 */
import { afterAll, beforeAll, expect, test, vi } from "vitest"
import { type Engine, type GenerateResult, type Generation, open } from "../../../runtime/index.ts"
import { effectOf } from "../../../sampler/effect.ts"
import { createApp } from "../../../server/app.ts"
import { createFetch } from "../../../server/index.ts"
import { TraceCursor, type TraceRow } from "../../../server/openai/reply/trace.ts"

let engine: Engine
let fetch: ReturnType<typeof createFetch>
beforeAll(async () => {
  engine = await open({ device: "cpu", isolation: "none" })
  fetch = createFetch(createApp(engine, { ollama: true }))
})
afterAll(() => engine.close())

const schema = {
  type: "object",
  properties: {
    unit: { enum: ["celsius", "fahrenheit"] },
    days: { type: "integer", minimum: 1, maximum: 14 },
  },
  required: ["unit", "days"],
  additionalProperties: false,
}
const chat = { messages: [{ role: "user", content: "Weather?" }], max_tokens: 80, temperature: 1 }
const json = { structured_outputs: { json: schema } }

function post(path: string, body: object): Promise<Response> {
  return fetch(`http://localhost${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: engine.model.id, seed: 1, ...body }),
  })
}

interface Traced {
  choices: {
    text?: string
    delta?: { content?: string }
    message?: { content: string }
    tokenrail?: { trace?: TraceRow[] }
  }[]
}

async function whole(path: string, body: object): Promise<{ text: string; trace: TraceRow[] }> {
  const response = await post(path, body)
  const reply = (await response.json()) as Traced
  expect([response.status, reply]).toMatchObject([200, {}])
  const [choice] = reply.choices
  return { text: choice.text ?? choice.message!.content, trace: choice.tokenrail!.trace! }
}

async function streamed(path: string, body: object): Promise<{ text: string; trace: TraceRow[] }> {
  const text = await (await post(path, { ...body, stream: true })).text()
  const data = text.split("\n").filter((line) => line.startsWith("data: {"))
  const choices = data.flatMap((line) => (JSON.parse(line.slice("data: ".length)) as Traced).choices)
  return {
    text: choices.map((choice) => choice.text ?? choice.delta!.content ?? "").join(""),
    trace: choices.flatMap(({ tokenrail }) => tokenrail?.trace ?? []),
  }
}

function textOf(trace: readonly TraceRow[]): string {
  const isText = ({ id }: TraceRow) => !engine.vocabulary.isSpecial(id)
  return new TextDecoder().decode(Uint8Array.from(trace.filter(isText).flatMap(({ bytes }) => bytes)))
}

test.each<[path: string, body: object]>([
  ["/v1/chat/completions", { ...chat, ...json }],
  ["/v1/completions", { prompt: "Weather: ", max_tokens: 80, ...json }],
])("%s: the trace spells the answer, in a stream as in a whole reply", async (path, body) => {
  const asked = { ...body, tokenrail: { trace: true } }
  const one = await whole(path, asked)
  const two = await streamed(path, asked)
  expect(textOf(one.trace)).toBe(one.text)
  expect(textOf(two.trace)).toBe(two.text)
  expect(two.text).toBe(one.text)
  const facts = (trace: TraceRow[]) => trace.map(({ id, allowed }) => [id, allowed])
  expect(facts(two.trace)).toEqual(facts(one.trace))
  const kinds = new Set(one.trace.map(({ kind }) => kind))
  expect(kinds.has("forced")).toBe(true)
  for (const { id, kind, allowed, mass, entropy, top, illegal, mask_us } of one.trace) {
    if (kind === "forced") {
      expect([allowed, mass, entropy, mask_us, top, illegal]).toEqual([null, null, null, null, [], []])
      continue
    }
    expect([mass! > 0, mass! <= 1, entropy! >= 0, mask_us! > 0]).toEqual([true, true, true, true])
    expect(top.length).toBe(Math.min(5, allowed!))
    expect(illegal.length).toBe(5)
    const shares = top.map(({ logprob }) => Math.exp(logprob))
    expect(shares).toEqual([...shares].sort((a, b) => b - a))
    if (allowed! <= 5) {
      expect(top.map((each) => each.id)).toContain(id)
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 9)
    }
  }
  // Only the length of the lists differs.
  const longer = await whole(path, { ...asked, tokenrail: { trace: 20 } })
  expect(facts(longer.trace)).toEqual(facts(one.trace))
  expect(longer.trace.find(({ kind }) => kind !== "forced")!.illegal.length).toBe(20)
})

test("masses are the model's own probabilities", async () => {
  const body = {
    ...chat,
    max_tokens: 1,
    structured_outputs: { choice: ["yes", "no"] },
    tokenrail: { trace: true },
  }
  const { trace } = await whole("/v1/chat/completions", body)
  const plain = { ...chat, max_tokens: 1, logprobs: true, top_logprobs: 20 }
  const [first] = trace
  const reply = await (
    await post("/v1/chat/completions", { ...plain, logprob_token_ids: first.top.map(({ id }) => id) })
  ).json()
  const { named_logprobs: named } = reply.choices[0].logprobs.content[0]
  const sum = named.reduce((all: number, { logprob }: { logprob: number }) => all + Math.exp(logprob), 0)
  expect(first.allowed).toBe(first.top.length)
  expect(first.mass).toBeCloseTo(sum, 6)
  for (const [index, { logprob }] of first.top.entries()) {
    expect(Math.exp(logprob) * first.mass!).toBeCloseTo(Math.exp(named[index].logprob), 6)
  }
})

test("the effect of a mask is what its definition says", () => {
  const values = Float32Array.from([1, 2, -Infinity, 0.5, 3])
  const effect = effectOf(values, Uint32Array.of(0b01011), 9)
  const all = [1, 2, 0.5, 3].reduce((sum, value) => sum + Math.exp(value), 0)
  const kept = Math.exp(1) + Math.exp(2) + Math.exp(0.5)
  const shares = [Math.exp(2), Math.exp(1), Math.exp(0.5)].map((value) => value / kept)
  expect(effect.allowed).toBe(3)
  expect(effect.mass).toBeCloseTo(kept / all, 12)
  expect(effect.entropy).toBeCloseTo(-shares.reduce((sum, p) => sum + p * Math.log2(p), 0), 12)
  expect(effect.legal.map(({ token }) => token)).toEqual([1, 0, 3])
  expect(effect.legal.map(({ logprob }) => Math.exp(logprob))).toEqual(
    shares.map((share) => expect.closeTo(share, 12)),
  )
  expect(effect.illegal).toEqual([{ token: 4, logprob: expect.closeTo(3 - Math.log(all), 12) }])
  expect(effectOf(values, Uint32Array.of(0b11111), 9)).toMatchObject({ mass: 1, illegal: [] })
  // Nothing of a row is left in the next one, which may be shorter.
  const wide = Float32Array.from({ length: 64 }, (_, id) => id)
  expect(effectOf(wide, Uint32Array.of(0xffff, 0), 1)).toMatchObject({ allowed: 16, legal: [{ token: 15 }] })
  expect(effectOf(values, Uint32Array.of(0b01011), 9)).toEqual(effect)
  const none = effectOf(values, Uint32Array.of(0), 9)
  expect(none).toMatchObject({ allowed: 0, mass: 0, entropy: 0, legal: [] })
})

test("the event loop has its turn between the rows of a step, in which one may be cancelled", async () => {
  const start = (seed: number) => engine.start("Weather?", { schema, seed, trace: 5, maxTokens: 40 })
  const resultsOf = (generations: Generation[]) => Promise.all(generations.map(({ result }) => result))
  const effects = ({ trace }: GenerateResult) => trace!.map(({ token, effect }) => [token, effect?.allowed])
  const alone = await resultsOf([await start(1), await start(2)])
  let now = performance.now()
  // Each reading is later than the longest time without a turn.
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 10))
  const turns = vi.spyOn(globalThis, "setImmediate")
  try {
    const [one, two, three] = [await start(1), await start(2), await start(3)]
    for await (const _ of three) break
    const together = await resultsOf([one, two])
    expect(together.map(effects)).toEqual(alone.map(effects))
    expect((await three.result).finishReason).toBe("abort")
    const drawn = together.flatMap(({ trace }) => trace!.filter(({ effect }) => effect !== null))
    expect(turns.mock.calls.length).toBeGreaterThanOrEqual(drawn.length)
  } finally {
    clock.mockRestore()
    turns.mockRestore()
  }
})

test("a budget that closes the answer is marked from its first restriction on", async () => {
  const long = { type: "array", items: { type: "integer" }, minItems: 3 }
  const tokenrail = { trace: true, on_length: "close" }
  const body = { ...chat, max_tokens: 12, structured_outputs: { json: long }, tokenrail }
  for (let seed = 1; seed < 6; seed++) {
    const { text, trace } = await whole("/v1/chat/completions", { ...body, seed })
    expect(JSON.parse(text).length).toBeGreaterThanOrEqual(3)
    const kinds = trace.map(({ kind }) => kind)
    const start = kinds.indexOf("closing")
    if (start >= 0) expect(new Set(kinds.slice(start))).toEqual(new Set(["closing"]))
    if (seed === 5) expect(start).toBeGreaterThanOrEqual(0)
  }
})

test("first_tokens begin the answer, and the trace says what may follow", async () => {
  const tokenrail = { trace: 64 }
  const { trace } = await whole("/v1/chat/completions", { ...chat, ...json, tokenrail })
  const at = trace.findIndex(({ kind, top }) => kind === "sampled" && top.length > 1)
  const other = trace[at].top.find(({ id }) => id !== trace[at].id)!
  const first_tokens = [...trace.slice(0, at).map(({ id }) => id), other.id]
  const answer = await whole("/v1/chat/completions", {
    ...chat,
    ...json,
    tokenrail: { ...tokenrail, first_tokens },
  })
  expect(answer.trace.slice(0, at + 1).map(({ id }) => id)).toEqual(first_tokens)
  // Those that the constraint forces too are the caller's.
  expect(new Set(answer.trace.slice(0, at + 1).map(({ kind }) => kind))).toEqual(new Set(["given"]))
  expect(JSON.parse(answer.text)).toBeTypeOf("object")
  const wrong = [...first_tokens.slice(0, -1), trace[at].illegal[0].id]
  const refused = await post("/v1/chat/completions", { ...chat, ...json, tokenrail: { first_tokens: wrong } })
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    {
      error: {
        param: `first_tokens[${wrong.length - 1}]`,
        message: expect.stringContaining("may not come here"),
      },
    },
  ])
})

test("a long trace is written piece by piece, and is that of the stream", async () => {
  const body = {
    ...chat,
    max_tokens: 80,
    structured_outputs: { regex: "[a-z ]{400}" },
    tokenrail: { trace: 64 },
  }
  const response = await post("/v1/chat/completions", body)
  const pieces: string[] = []
  const decoder = new TextDecoder()
  for await (const piece of response.body!) pieces.push(decoder.decode(piece, { stream: true }))
  const [choice] = JSON.parse(pieces.join("")).choices
  expect(pieces.length).toBeGreaterThan(choice.tokenrail.trace.length / 4)
  const { trace } = await streamed("/v1/chat/completions", body)
  const told = (rows: TraceRow[]) => rows.map((row) => ({ ...row, mask_us: 0 }))
  expect(told(choice.tokenrail.trace)).toEqual(told(trace))
})

test("a given token that spells a forced text in another way is refused by the forced one", async () => {
  const options = { choice: ["hello world"], seed: 1 }
  const { trace } = await engine.generate("Say it", { ...options, trace: true })
  const [{ token: forced, kind }] = trace!
  const isLetter = (id: number) => new TextDecoder().decode(engine.vocabulary.bytes(id)) === "h"
  const letter = Array.from({ length: engine.vocabulary.width }, (_, id) => id).find(isLetter)!
  expect([kind, letter === forced]).toEqual(["forced", false])
  const firstTokens = [letter]
  const generation = await engine.start("Say it", { ...options, firstTokens })
  const { finishReason, message, tokens, usage } = await generation.result
  expect([finishReason, tokens, usage.forcedTokens]).toEqual(["error", [], 0])
  expect(message).toBe(
    `first_tokens[0]: token ${letter} may not come here, since the constraint forces token ${forced} here: send that one`,
  )
  const free = await engine.generate("Say it", { ...options, firstTokens, forcing: "none", trace: true })
  expect([free.text, free.trace![0].kind]).toEqual(["hello world", "given"])
})

test("given tokens have the log-probabilities of drawn ones", async () => {
  const body = { prompt: "Water ", max_tokens: 6, logprobs: 3, temperature: 0 }
  const logprobsOf = async (more: object) => {
    const response = await post("/v1/completions", { ...body, ...more })
    const reply = await response.json()
    expect([response.status, reply]).toMatchObject([200, {}])
    return reply.choices[0]
  }
  for (const constraint of [{}, { structured_outputs: { regex: "[a-z ]{20}" } }]) {
    const { trace } = await whole("/v1/completions", { ...body, ...constraint, tokenrail: { trace: true } })
    const drawn = await logprobsOf(constraint)
    const first_tokens = trace.slice(0, 4).map(({ id }) => id)
    expect(await logprobsOf({ ...constraint, tokenrail: { first_tokens } })).toMatchObject({
      text: drawn.text,
      logprobs: drawn.logprobs,
    })
  }
})

test("a stream keeps no trace that it has sent", async () => {
  const generation = await engine.start("Water?", { regex: "[a-z ]{20}", trace: 64, seed: 1 })
  const traces = new TraceCursor(generation, engine.vocabulary)
  const sent: TraceRow[] = []
  for await (const event of generation) {
    const count = event.type === "finish" ? undefined : event.tokens.length
    sent.push(...(traces.take(event.choice, count).trace ?? []))
  }
  const { tokens, trace } = await generation.result
  expect(sent.map(({ id }) => id)).toEqual(tokens)
  expect(trace).toEqual([])
})

test.each<[path: string, body: object]>([
  ["/v1/chat/completions", { ...chat, n: 128, max_tokens: 243 }],
  ["/v1/completions", { prompt: ["a", "b"], n: 64, max_tokens: 243 }],
])("%s: what a slow reader of a stream may leave is bounded", async (path, body) => {
  const response = await post(path, { ...body, stream: true, ignore_eos: true, tokenrail: { trace: 64 } })
  expect([response.status, await response.json()]).toMatchObject([
    400,
    {
      error: {
        param: "tokenrail.trace",
        message: expect.stringContaining(`${128 * 243 * 129} rows of one stream`),
      },
    },
  ])
})

test.each<[path: string, body: object, param: string]>([
  ["/v1/chat/completions", { ...chat, tokenrail: { trace: 65 } }, "tokenrail.trace"],
  ["/v1/chat/completions", { ...chat, tokenrail: { trace: "yes" } }, "tokenrail.trace"],
  [
    "/v1/chat/completions",
    { ...chat, temperature: 0, use_beam_search: true, tokenrail: { trace: true } },
    "trace",
  ],
  ["/v1/chat/completions", { ...chat, tokenrail: { first_tokens: [10_000_000] } }, "first_tokens"],
  ["/v1/chat/completions", { ...chat, max_tokens: 1, tokenrail: { first_tokens: [5, 5] } }, "first_tokens"],
  [
    "/v1/chat/completions",
    { ...chat, max_tokens: 1, n: 100, tokenrail: { first_tokens: [-1] } },
    "tokenrail.first_tokens.0",
  ],
  [
    "/v1/chat/completions",
    { ...chat, allowed_token_ids: [5], tokenrail: { first_tokens: [5, 6] } },
    "first_tokens: [1]: 6 is not among allowed_token_ids",
  ],
  [
    "/v1/chat/completions",
    {
      ...{ ...chat, logprobs: true, top_logprobs: 2, logprobs_mode: "processed_logprobs" },
      tokenrail: { first_tokens: [5] },
    },
    "have no processed_logprobs",
  ],
  ["/v1/responses", { input: "x", tokenrail: { trace: true } }, "tokenrail.trace"],
  ["/v1/messages", { ...chat, tokenrail: { trace: true } }, "tokenrail.trace"],
  ["/api/chat", { ...chat, max_tokens: undefined, tokenrail: { trace: true } }, "tokenrail.trace"],
])("%s %j is refused at %s", async (path, body, param) => {
  const response = await post(path, body)
  const reply = await response.json()
  expect([response.status, JSON.stringify(reply)]).toEqual([400, expect.stringContaining(param)])
})
