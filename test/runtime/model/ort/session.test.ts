import { describe, expect, test } from "vitest"
import type { Feed } from "../../../../runtime/model/model.ts"
import { halfToFloat } from "../../../../runtime/model/ort/host.ts"
import { readSignature, type ValueInfo } from "../../../../runtime/model/ort/signature.ts"
import { generator, type TinyOptions } from "../../../support/onnx.ts"
import { openTiny as open, openGraph } from "../../../support/ortsession.ts"

const feed = (slot: number, start: number, tokens: number[], copyFrom?: number): Feed =>
  copyFrom === undefined
    ? { slot, start, tokens, logitsCount: 1 }
    : { slot, start, tokens, logitsCount: 1, copyFrom }

const randomTokens = (random: () => number, count: number): number[] =>
  Array.from({ length: count }, () => Math.floor(random() * 256))

const batched: [name: string, graph: TinyOptions][] = [
  ["positions and a mask", {}],
  ["halves", { isHalf: true }],
  ["grouped-query attention, positions given", { isGrouped: true }],
  ["grouped-query attention that rotates by positions of its own", { isGrouped: true, hasPositions: false }],
  ["grouped-query attention of halves", { isGrouped: true, hasPositions: false, isHalf: true }],
]

describe.each(batched)("rows of the batch: %s", (_name, graph) => {
  const digits = graph.isHalf ? 1 : 4

  test("a row's logits have the same bits alone and in any company, at any time", async () => {
    const alone = await open(graph)
    const together = await open(graph)
    expect([alone.isBatched, together.isBatched]).toEqual([true, true])
    const random = generator(99)
    const texts = Array.from({ length: 24 }, (_, index) => randomTokens(random, 3 + ((index * 29) % 150)))
    // Every text: a prompt of a third, then mostly token by token, sometimes several at once.
    const cuts = texts.map(({ length }) => {
      const ends = [Math.ceil(length / 3)]
      while (ends.at(-1)! < length) {
        const count = random() < 0.7 ? 1 : 2 + Math.floor(3 * random())
        ends.push(Math.min(length, ends.at(-1)! + count))
      }
      return ends
    })
    // The logits of each step, by text.
    const expected: Float32Array[][] = []
    for (const [index, text] of texts.entries()) {
      const steps: Float32Array[] = []
      for (const [step, end] of cuts[index].entries()) {
        const start = step === 0 ? 0 : cuts[index][step - 1]
        steps.push((await alone.forward([feed(0, start, text.slice(start, end))])).slice())
      }
      expected.push(steps)
    }
    // The same in eight slots: rows join, pause and leave as the dice say.
    interface Running {
      text: number
      slot: number
      at: number
      step: number
    }
    const waiting = texts.map((_, text) => text)
    let running: Running[] = []
    const free = [0, 1, 2, 3, 4, 5, 6, 7]
    let comparedCount = 0
    while (waiting.length + running.length > 0) {
      while (free.length > 0 && waiting.length > 0 && random() < 0.5) {
        running.push({ text: waiting.shift()!, slot: free.pop()!, at: 0, step: 0 })
      }
      const chosen = running.filter(() => random() < 0.8)
      if (chosen.length === 0) continue
      const feeds = chosen.map(({ text, slot, at, step }) =>
        feed(slot, at, texts[text].slice(at, cuts[text][step])),
      )
      const logits = await together.forward(feeds)
      const { width } = together.signature
      for (const [index, row] of chosen.entries()) {
        expect(logits.subarray(index * width, (index + 1) * width)).toEqual(expected[row.text][row.step])
        comparedCount++
        row.at += feeds[index].tokens.length
        row.step++
      }
      free.push(...running.filter(({ text, at }) => at === texts[text].length).map(({ slot }) => slot))
      running = running.filter(({ text, at }) => at < texts[text].length)
    }
    expect(comparedCount).toBe(expected.flat().length)
  })

  test("going back and taking over from another slot give what a fresh start gives", async () => {
    const session = await open(graph)
    const text = randomTokens(generator(5), 200)
    await session.forward([feed(0, 0, text.slice(0, 128))])
    const expected = (await session.forward([feed(0, 128, text.slice(128))])).slice()
    expect((await session.forward([feed(0, 128, text.slice(128))])).slice()).toEqual(expected)
    const others = await session.forward([
      feed(3, 128, text.slice(128), 0),
      feed(5, 128, text.slice(128), 3),
      feed(0, 100, [1]),
    ])
    const { width } = session.signature
    expect(others.slice(0, width)).toEqual(expected)
    expect(others.slice(width, 2 * width)).toEqual(expected)
  })

  test("logits of the last tokens of a feed: one row each, the last one the same as alone", async () => {
    const session = await open(graph)
    const { width } = session.signature
    const text = randomTokens(generator(8), 40)
    await session.forward([feed(0, 0, text.slice(0, 20)), feed(1, 0, text.slice(0, 25))])
    const last = (await session.forward([feed(0, 20, text.slice(20, 26))])).slice()
    const rows = await session.forward([
      { ...feed(0, 20, text.slice(20, 26)), logitsCount: 6 },
      { ...feed(1, 25, text.slice(25, 31)), logitsCount: 2 },
    ])
    expect(rows.length).toBe(8 * width)
    expect(rows.slice(5 * width, 6 * width)).toEqual(last)
    const steps = rows.slice()
    for (let at = 20; at < 26; at++) {
      const single = await session.forward([feed(0, at, [text[at]])])
      for (const [id, value] of single.entries())
        expect(steps[(at - 20) * width + id]).toBeCloseTo(value, digits)
    }
  })

  test("a row is filled to the last token of the context, which is where the graph's positions end", async () => {
    const session = await open(graph)
    const text = randomTokens(generator(23), 512)
    const whole = (await session.forward([feed(1, 0, text)])).slice()
    await session.forward([feed(0, 0, text.slice(0, 250)), feed(2, 0, text.slice(0, 300))])
    await session.forward([feed(0, 250, text.slice(250, 400)), feed(2, 300, text.slice(300, 301))])
    await session.forward([feed(0, 400, text.slice(400, 503)), feed(2, 301, text.slice(301, 302))])
    await session.forward([{ ...feed(0, 503, text.slice(503, 510)), isStepwise: true }])
    await session.forward([feed(0, 510, text.slice(510, 511)), feed(2, 302, text.slice(302, 303))])
    const last = (await session.forward([feed(0, 511, text.slice(511)), feed(2, 303, [7])])).slice()
    for (const [id, value] of whole.entries()) expect(last[id]).toBeCloseTo(value, digits)
  })

  test("where the probe finds that cuts keep the bits, every cut gives the logits of the whole", async (context) => {
    const session = await open(graph)
    if (!session.cutsFreely) return context.skip("this graph's bits depend on the cuts here")
    const random = generator(17)
    const text = randomTokens(random, 180)
    const whole = (await session.forward([feed(0, 0, text)])).slice()
    for (let round = 0; round < 12; round++) {
      const pieces: Feed[] = []
      for (let at = 0; at < text.length; ) {
        const end = Math.min(text.length, at + 2 + Math.floor(90 * random() ** 2))
        const next = text.length - end === 1 ? text.length : end
        pieces.push(feed(1 + (round % 3), at, text.slice(at, next)))
        at = next
      }
      let last = new Float32Array(0)
      for (const piece of pieces) last = (await session.forward([piece])).slice()
      expect(last, `round ${round}`).toEqual(whole)
    }
  })

  test("close to the definition: all tokens at once, nothing cached", async () => {
    const session = await open(graph)
    const text = randomTokens(generator(6), 70)
    const whole = (await session.forward([feed(1, 0, text)])).slice()
    for (const [at, token] of text.entries()) {
      const step = await session.forward([feed(2, at, [token])])
      if (at < text.length - 1) continue
      for (const [id, value] of whole.entries()) expect(step[id]).toBeCloseTo(value, digits)
    }
  })
})

describe("rows of all lengths in one run, where room does not change their bits", () => {
  const begin = async (session: Awaited<ReturnType<typeof open>>, lengths: readonly number[]) => {
    for (const [slot, length] of lengths.entries())
      await session.forward([feed(slot, 0, randomTokens(generator(slot + 1), length))])
    const { runs, places, placesInVain } = session.work
    return () => ({
      runs: session.work.runs - runs,
      places: session.work.places - places,
      inVain: session.work.placesInVain - placesInVain,
    })
  }

  test.each(batched)("%s", async (_name, graph) => {
    const session = await open(graph)
    const isCounted = graph.isGrouped === true
    expect(session.sharesRoom).toBe(isCounted)
    const spent = await begin(session, [10, 100, 300])
    await session.forward([feed(0, 10, [1]), feed(1, 100, [2]), feed(2, 300, [3])])
    expect(spent()).toEqual({ runs: isCounted ? 1 : 3, places: 3, inVain: 0 })
  })

  test("room that costs more than to read the weights once more is not shared", async () => {
    const graph = { isGrouped: true, hasPositions: false }
    const session = await open(graph, { weightBytes: 0 })
    const spent = await begin(session, [10, 100, 300])
    await session.forward([feed(0, 10, [1]), feed(1, 100, [2]), feed(2, 300, [3])])
    expect(spent()).toEqual({ runs: 3, places: 3, inVain: 0 })
  })

  test("a long row that has ended leaves the others their own room again", async () => {
    const session = await open({ isGrouped: true, hasPositions: false })
    await begin(session, [10, 300])
    const alone = await open({ isGrouped: true, hasPositions: false })
    await begin(alone, [10])
    for (let at = 10; at < 40; at++) {
      const others = at < 12 ? [feed(1, 290 + at, [7])] : []
      const logits = await session.forward([feed(0, at, [at]), ...others])
      expect(logits.subarray(0, session.signature.width)).toEqual(await alone.forward([feed(0, at, [at])]))
    }
  })

  test("rows before the first and behind the last wanted one do not run, nor rows between them where tokens are several", async () => {
    const session = await open({})
    const spent = await begin(session, [10, 11, 12, 13, 14])
    await session.forward([10, 11, 12, 13, 14].map((length, slot) => feed(slot, length, [1])))
    await session.forward([feed(1, 12, [1]), feed(3, 14, [1])])
    expect(spent()).toEqual({ runs: 2, places: 8, inVain: 1 })
    await session.forward([feed(0, 11, [1, 2, 3]), feed(4, 15, [1, 2, 3])])
    expect(spent()).toEqual({ runs: 3, places: 14, inVain: 1 })
  })
})

describe("graphs that rows cannot serve run alone", () => {
  test.each([
    ["positions counted by the graph", { hasPositions: false }],
    ["a mask that is ignored", { ignoresMask: true }],
  ])("%s", async (_, options) => {
    const session = await open(options)
    expect([session.isBatched, session.canRewind]).toEqual([false, true])
    const text = randomTokens(generator(7), 20)
    const whole = (await session.forward([feed(0, 0, text)])).slice()
    await session.forward([feed(1, 0, text.slice(0, 9)), feed(0, 0, text.slice(0, 3))])
    const rest = await session.forward([feed(1, 9, text.slice(9))])
    for (const [id, value] of whole.entries()) expect(rest[id]).toBeCloseTo(value, 4)
    // Going back, and taking over from another slot, keep every bit.
    const expected = (await session.forward([feed(1, 9, text.slice(9))])).slice()
    await session.forward([feed(1, 20, [1, 2, 3])])
    const others = await session.forward([feed(1, 9, text.slice(9)), feed(2, 9, text.slice(9), 1)])
    const { width } = session.signature
    expect(others.slice(0, width)).toEqual(expected)
    expect(others.slice(width)).toEqual(expected)
  })

  test("activations that are quantised by the batch: alone, or together if that is asked for", async () => {
    const [exact, fast] = [
      await open({ isQuantised: true }),
      await open({ isQuantised: true }, { batching: "fast" }),
    ]
    expect([exact.isBatched, fast.isBatched]).toEqual([false, true])
    expect(exact.dependence).toBeGreaterThan(1e-3)
    expect(fast.dependence).toBeUndefined()
    const [one, other] = [feed(0, 0, [1, 2, 3]), feed(1, 0, [90, 80])]
    const { width } = exact.signature
    const alone = (await exact.forward([one])).slice()
    expect((await exact.forward([{ ...one, slot: 3 }, other])).slice(0, width)).toEqual(alone)
    // Alone it says the same in rows.
    expect((await fast.forward([one])).slice()).toEqual(alone)
  })

  test("a cache that stays on a device only grows", async () => {
    const session = await open({}, { isCacheOpaque: true })
    expect([session.isBatched, session.canRewind]).toEqual([false, false])
    await session.forward([feed(0, 0, [1, 2, 3])])
    await session.forward([feed(0, 3, [4])])
    await expect(session.forward([feed(0, 2, [4])])).rejects.toThrow("slot 0 cannot give its first 2 tokens")
  })
})

test("a graph that says something else with its cache than without is refused", async () => {
  await expect(open({ swapsCache: true })).rejects.toThrow(
    /^the graph gives other logits with its cache than without: logits differ by \d.* of the largest. Export/,
  )
})

test("states that stay on a device begin at zero, and again where the slot begins again", async () => {
  const read = async (isCacheOpaque: boolean) => {
    const session = await openGraph("test/exports/qwen3_5", { isCacheOpaque })
    const text = randomTokens(generator(3), 24)
    const one = (await session.forward([feed(2, 0, text.slice(0, 20))])).slice()
    const two = (await session.forward([feed(2, 20, text.slice(20))])).slice()
    await session.forward([feed(2, 0, [7])])
    const again = (await session.forward([feed(2, 0, text.slice(0, 20))])).slice()
    return { one, two, again }
  }
  const onDevice = await read(true)
  expect(onDevice.again).toEqual(onDevice.one)
  const inRows = await read(false)
  expect(inRows.one).toEqual(onDevice.one)
  for (const [id, value] of inRows.two.entries()) expect(onDevice.two[id]).toBeCloseTo(value, 4)
})

test.each(["rows", "alone"])(
  "marked states are gone back to, and taken over by other slots: %s",
  async (way) => {
    const session = await openGraph("test/exports/lfm2_genai", { isSlim: way === "rows" })
    expect([session.canRewind, session.marks]).toEqual([false, 16])
    // By itself a slot keeps its cache another way; rows have taken its place in a session where they run.
    if (way === "alone") Reflect.set(session, "rows", undefined)
    const text = randomTokens(generator(11), 30)
    const marked = (slot: number, start: number, end: number, copyFrom?: number): Feed => ({
      ...feed(slot, start, text.slice(start, end), copyFrom),
      isMarked: true,
    })
    await session.forward([marked(0, 0, 10)])
    const expected = (await session.forward([marked(0, 10, 20)])).slice()
    await session.forward([feed(0, 20, text.slice(20))])
    // Back in its own slot, and in two others, of which one takes over from the other.
    expect((await session.forward([marked(0, 10, 20)])).slice()).toEqual(expected)
    expect((await session.forward([marked(1, 10, 20, 0)])).slice()).toEqual(expected)
    expect((await session.forward([marked(2, 10, 20, 1)])).slice()).toEqual(expected)
    await expect(session.forward([feed(0, 9, [1])])).rejects.toThrow("slot 0 cannot give its first 9 tokens")
  },
)

test("a failed batch empties its slots and the next one runs", async () => {
  const session = await open()
  const expected = (await session.forward([feed(0, 0, [1, 2, 3])])).slice()
  await session.forward([feed(1, 0, [4, 5])])
  await expect(session.forward([feed(0, 3, [99_999]), feed(2, 0, [1])])).rejects.toThrow()
  expect((await session.forward([feed(0, 0, [1, 2, 3])])).slice()).toEqual(expected)
  await session.forward([feed(1, 2, [6])])
})

describe("signature", () => {
  const float = (name: string, shape: (number | string)[]): ValueInfo => ({
    name,
    isTensor: true,
    type: "float32",
    shape,
  })
  const int = (name: string): ValueInfo => ({ name, isTensor: true, type: "int64", shape: ["B", "S"] })
  const inputs = [int("input_ids"), int("attention_mask"), float("past_key_values.0.key", ["B", 2, "P", 8])]
  const outputs = [float("logits", ["B", "S", 32]), float("present.0.key", ["B", 2, "T", 8])]

  test("dimensions of the graph win over config.json", () => {
    const signature = readSignature("g", inputs, outputs, { vocab_size: 99, num_key_value_heads: 9 })
    expect([signature.width, signature.caches[0].heads, signature.caches[0].dim]).toEqual([32, 2, 8])
    const symbolic = [inputs[0], inputs[1], float("past_key_values.0.key", ["B", "H", "P", "D"])]
    const config = { num_attention_heads: 4, hidden_size: 64, vocab_size: 7 }
    const read = readSignature("g", symbolic, [float("logits", ["B", "S", "V"]), outputs[1]], config)
    expect([read.width, read.caches[0].heads, read.caches[0].dim]).toEqual([7, 4, 16])
  })

  test("states have one size and are told by it, whatever the exporter calls them", () => {
    const state = (past: string, present: string, shape: (number | string)[]) => ({
      inputs: [...inputs, float(past, shape)],
      outputs: [...outputs, float(present, shape)],
    })
    for (const [past, present, shape] of [
      ["past_conv.3", "present_conv.3", ["B", 64, 3]],
      ["past.3.conv", "present.3.conv", ["B", 64, 2]],
      ["past_ssm.3", "present_ssm.3", ["B", 4, 16, 8]],
      ["past_recurrent.3", "present_recurrent.3", ["B", 4, 16, 8]],
      ["past_key_values.3.conv_state", "present.3.conv_state", ["B", 64, 3]],
    ] as [string, string, (number | string)[]][]) {
      const { inputs, outputs } = state(past, present, shape)
      const { caches, hasStates } = readSignature("g", inputs, outputs, {})
      expect([caches[1].state, hasStates], past).toEqual([shape.slice(1), true])
    }
    const open = state("past_conv.3", "present_conv.3", ["B", "C", 3])
    expect(() => readSignature("g", open.inputs, open.outputs, {})).toThrow(
      "g: input past_conv.3 has the dimensions B × C × 3: a state of fixed sizes was expected",
    )
    const lone = state("past_conv.3", "present_con.3", ["B", 64, 3])
    expect(() => readSignature("g", lone.inputs, lone.outputs, {})).toThrow(
      "output present_conv.3 is missing",
    )
  })

  test.each([
    ["an unknown input", [...inputs, int("pixel_values")], outputs, "input pixel_values is unknown"],
    [
      "an encoder",
      [...inputs, int("encoder_hidden_states")],
      outputs,
      "input encoder_hidden_states belongs to a decoder with an encoder",
    ],
    ["no cache", inputs.slice(0, 2), outputs, "it has no past_key_values inputs"],
    ["no logits", inputs, outputs.slice(1), "output logits is missing"],
    ["no present", inputs, outputs.slice(0, 1), "output present.0.key is missing"],
    ["no mask", [inputs[0], inputs[2]], outputs, "input attention_mask is missing"],
  ])("refused by name: %s", (_, given, results, message) => {
    expect(() => readSignature("g.onnx", given, results, {})).toThrow(`g.onnx: ${message}`)
  })
})

test("binary16", () => {
  expect([0x3c00, 0xc000, 0x0001, 0x7bff, 0x7c00, 0x8000].map(halfToFloat)).toEqual([
    1,
    -2,
    2 ** -24,
    65504,
    Number.POSITIVE_INFINITY,
    -0,
  ])
})
