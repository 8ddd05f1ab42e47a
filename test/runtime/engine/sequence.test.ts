import { describe, expect, test } from "vitest"
import { compile } from "../../../grammar/index.ts"
import { onlyToken, TokenFsm, Vocabulary } from "../../../mask/index.ts"
import { type GenerationEvent, Sequence, type SequenceOptions } from "../../../runtime/engine/sequence.ts"
import { Guide } from "../../../runtime/guides/guide.ts"
import { LocalGuides } from "../../../runtime/guides/local.ts"
import { openWalks, type WalkRequest } from "../../../runtime/guides/opening.ts"
import type { Verdict, Walk } from "../../../runtime/guides/walk.ts"
import { StopStrings } from "../../../runtime/stops/stops.ts"
import { resolveParams } from "../../../sampler/index.ts"

const end = 256
const vocabulary = Vocabulary.fromBytes(
  Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  { endIds: [end, 257], specials: { "<|end|>": end, "<|eom|>": 257, "<|call|>": 258 } },
)

const encode = (): number[] => []
const host = new LocalGuides({ vocabulary, encode, bind: () => null })

type Input = Parameters<typeof compile>[0]

function openWalk(input: Input | undefined, options: Partial<WalkRequest>): Walk {
  const machine =
    input === undefined ? null : new TokenFsm(compile(input, { tokens: vocabulary }).grammar, vocabulary)
  const request: WalkRequest = {
    constraint: null,
    promptTail: [1, 2],
    maxHealed: 0,
    forces: false,
    closes: false,
    maxTokens: 100,
    contextLength: 200,
    room: 198,
    takesForced: false,
    allowed: null,
    stopTokenIds: [],
    hasStops: true,
    stopRegexes: [],
    badWords: [],
    wantsReport: false,
    ...options,
  }
  const bound = machine && { machine, report: null, compileMs: 0, isCached: false }
  return openWalks(request, 1, bound, { vocabulary, encode }).walks[0]
}

function make(
  options: Partial<SequenceOptions> & {
    stop?: string[]
    regex?: string
    constraint?: Input
    stopRegexes?: string[]
  } = {},
) {
  const events: GenerationEvent[] = []
  const { stop = [], regex, stopRegexes = [], constraint, ...rest } = options
  const input = regex === undefined ? constraint : ({ kind: "regex", pattern: regex } as const)
  const isGuided = input !== undefined || stopRegexes.length > 0
  const walk = isGuided
    ? openWalk(input, { stopRegexes, stopTokenIds: [...(rest.stopTokenIds ?? [])] })
    : null
  const guide = walk && new Guide(host)
  const sequence = new Sequence({
    vocabulary,
    promptIds: [1, 2],
    params: resolveParams({}, { width: vocabulary.width }),
    guide,
    isConstrained: input !== undefined,
    isComplete: walk?.isAccepting ?? true,
    hasPatterns: stopRegexes.length > 0,
    stops: new StopStrings(stop),
    stopTokenIds: new Set(),
    closes: false,
    includesStop: false,
    ignoresEnd: false,
    minTokens: 0,
    maxTokens: 100,
    contextLength: 200,
    choice: 0,
    emit: (event) => events.push(event),
    ...rest,
  })
  const row = new Uint32Array(vocabulary.words)
  if (guide) guide.mask = row
  else sequence.ownMask = row
  const accept = (token: number): void => {
    const verdict = sequence.endsBy(token) ? undefined : (walk?.accept(token) as Verdict | undefined)
    sequence.accept(token, { verdict })
  }
  const write = (text: string): void => {
    for (const byte of Buffer.from(text)) if (!sequence.isFinished) accept(byte)
  }
  const outcome = () => [sequence.text, sequence.finishReason, sequence.stopReason]
  return { sequence, events, write, accept, outcome, walk }
}

/** Stops that were ordinary text: below min_tokens, and inside the constraint. */
const ignoredBy = ({ ignoredStops: { early, inside } }: Sequence) => [[...early], [...inside]]

describe("S2-33: how an output ends, in the order of the rules", () => {
  test("end of sequence, by any of the ids; its text is dropped", () => {
    const { sequence, accept, write, outcome } = make()
    write("ab")
    accept(257)
    expect(outcome()).toEqual(["ab", "stop", null])
    expect(sequence.outputCount).toBe(3)
  })

  test("ignored without a constraint, never with one", () => {
    const free = make({ ignoresEnd: true })
    free.accept(end)
    free.write("a")
    expect(free.outcome()).toEqual(["a", undefined, null])
    const bound = make({ ignoresEnd: true, regex: "a*" })
    bound.write("aa")
    bound.accept(end)
    expect(bound.outcome()).toEqual(["aa", "stop", null])
  })

  test("a stop id; inside a constraint only where the text is complete", () => {
    const free = make({ stopTokenIds: new Set([98]) })
    free.write("ab")
    expect(free.outcome()).toEqual(["a", "stop", 98])
    const kept = make({ stopTokenIds: new Set([98]), includesStop: true })
    kept.write("ab")
    expect(kept.outcome()).toEqual(["ab", "stop", 98])
    const bound = make({ stopTokenIds: new Set([98]), regex: "abab*" })
    bound.write("abab")
    expect(bound.outcome()).toEqual(["aba", "stop", 98])
  })

  test.each([
    ["a string", { stop: ["3"] }, "3", "9"],
    ["a pattern", { stopRegexes: ["[0-4]"] }, "[0-4]", "9"],
    ["a string that stays", { stop: ["3"], includesStop: true }, "3", "93"],
  ])("%s beats the grammar's end on the same token", (_, options, stop, text) => {
    const { write, outcome, events } = make({ regex: "93?", ...options })
    write("93")
    expect(outcome()).toEqual([text, "stop", stop])
    expect(events.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).toBe(text)
  })

  test("the grammar's end stands where the text before a stop string is not complete", () => {
    const { write, outcome, sequence } = make({ regex: "ab", stop: ["b"] })
    write("ab")
    expect([...outcome(), ...ignoredBy(sequence)]).toEqual(["ab", "stop", "complete", [], ["b"]])
  })

  test("a text that begins like a stop string is sent whole at the grammar's end", () => {
    const { write, outcome } = make({ regex: "a*bc", stop: ["bcd"] })
    write("abc")
    expect(outcome()).toEqual(["abc", "stop", "complete"])
  })

  test("a grammar that ends below the least count of tokens says so", () => {
    const { write, sequence } = make({ regex: "ab", minTokens: 10 })
    write("ab")
    expect([sequence.finishReason, [...sequence.lifted]]).toEqual(["stop", ["min_tokens"]])
  })

  test("a stop string beats the budget on the same token", () => {
    const { write, outcome } = make({ stop: ["b"], maxTokens: 2 })
    write("ab")
    expect(outcome()).toEqual(["a", "stop", "b"])
  })

  test("S1-26, S2-16, S1-27: the budget; the context", () => {
    const budget = make({ maxTokens: 2 })
    budget.write("abc")
    expect(budget.outcome()).toEqual(["ab", "length", null])
    const context = make({ contextLength: 5 })
    context.write("abcdef")
    expect(context.outcome()).toEqual(["abc", "length", null])
  })

  test("below min_tokens a stop string is text", () => {
    const { write, outcome, sequence } = make({ stop: ["a"], minTokens: 3 })
    write("aaaa")
    expect(outcome()).toEqual(["aa", "stop", "a"])
    expect(ignoredBy(sequence)).toEqual([["a"], []])
    const bound = make({ stop: ["a", "b"], minTokens: 4, regex: "baa?a?a?" })
    bound.write("baaa")
    expect(bound.outcome()).toEqual(["baa", "stop", "a"])
    expect(ignoredBy(bound.sequence)).toEqual([["a"], ["b", "a"]])
  })

  test("held text is sent when the output is cut, and is dropped when it stops", () => {
    const { write, outcome, events } = make({ stop: ["abc"], maxTokens: 3 })
    write("xab")
    expect(outcome()).toEqual(["xab", "length", null])
    expect(events.map((event) => (event.type === "text" ? event.text : event.type))).toEqual([
      "x",
      "ab",
      "finish",
    ])
  })

  test("a character cut off at the end is dropped, its token is not", () => {
    const { sequence, events, outcome } = make({ maxTokens: 2 })
    sequence.accept(97)
    sequence.accept(0xc3)
    expect(outcome()).toEqual(["a", "length", null])
    expect(events.flatMap((event) => (event.type === "text" ? event.tokens : []))).toEqual([97, 0xc3])
  })

  test("S2-18: a pattern; inside a constraint only where the text is complete", () => {
    const stopRegexes = ["[0-9]{2}"]
    const free = make({ stopRegexes })
    free.write("a1b22c")
    expect(free.outcome()).toEqual(["a1b", "stop", "[0-9]{2}"])
    const bound = make({ stopRegexes, regex: "a12(b34)?" })
    bound.write("a12b34")
    expect(bound.outcome()).toEqual(["a12b34", "stop", "complete"])
    expect(ignoredBy(bound.sequence)).toEqual([[], ["[0-9]{2}"]])
  })

  test("S2-19, S2-20: a whole JSON value, element or call; a stop string that ends before it comes first", () => {
    const json = make({ stopWhen: "json", stop: ["}x"] })
    json.write('Hi {"a":1}x')
    expect(json.outcome()).toEqual(['Hi {"a":1}', "stop", "json"])
    const xml = make({ stopWhen: "xml", stop: ["</b>"] })
    xml.write("<a><b>1</b></a>")
    expect(xml.outcome()).toEqual(["<a><b>1", "stop", "</b>"])
    const late = make({ stopWhen: "json", minTokens: 5 })
    late.write("[] [1]")
    expect(late.outcome()).toEqual(["[] [1]", "stop", "json"])
  })

  test("repetition; inside a constraint that is not complete the answer is cut", () => {
    const repetition = { min: 1, max: 2, count: 3 }
    const free = make({ repetition })
    free.write("xababab")
    expect(free.outcome()).toEqual(["xababab", "stop", "repetition"])
    const bound = make({ repetition, regex: "a*b" })
    bound.write("aaaa")
    expect(bound.outcome()).toEqual(["aaa", "length", "repetition"])
    const early = make({ repetition, minTokens: 5 })
    early.write("aaaaaa")
    expect(early.outcome()).toEqual(["aaaaa", "stop", "repetition"])
  })

  test("S4-20: events in whole words carry all tokens; the last word is not lost", () => {
    const { write, events, outcome } = make({ byWords: true, stop: ["!"] })
    write("ab cd\nef!")
    expect(outcome()).toEqual(["ab cd\nef", "stop", "!"])
    const texts = events.filter((event) => event.type === "text")
    expect(texts.map(({ text }) => text)).toEqual(["ab ", "cd\n", "ef"])
    expect(Buffer.from(texts.flatMap(({ tokens }) => tokens)).toString()).toBe("ab cd\nef!")
  })

  test("what is held for a stop string is sent when the budget closes the answer", () => {
    const { sequence, write, outcome } = make({ regex: "a+(bc)?", stop: ["aab"], closes: true, maxTokens: 3 })
    write("aa")
    sequence.hasClosed = true
    sequence.accept(end)
    expect(outcome()).toEqual(["aa", "stop", "closed"])
  })

  test("finishing twice changes nothing", () => {
    const { sequence, events } = make()
    sequence.finish("abort", null)
    sequence.finish("error", null, "late")
    expect([sequence.finishReason, events.length]).toEqual(["abort", 1])
  })
})

describe("masks", () => {
  const bits = (sequence: Sequence): number[] =>
    Array.from({ length: vocabulary.width }, (_, id) => id).filter(
      (id) => (sequence.mask[id >>> 5] >>> (id & 31)) & 1,
    )

  test("without a constraint: all text and the end ids, no control token", () => {
    const { sequence } = make()
    sequence.fillFree()
    expect(bits(sequence)).not.toContain(258)
    expect(bits(sequence).length).toBe(258)
  })

  test("stop ids are legal exactly where the constraint is complete", () => {
    const { sequence, write, walk } = make({ regex: "ab?", stopTokenIds: new Set([258]) })
    const look = () => walk?.look(sequence.mask).kind
    expect([look(), bits(sequence), onlyToken(sequence.mask)]).toEqual(["single", [97], 97])
    write("a")
    expect(look()).toBe("masked")
    expect(bits(sequence)).toEqual([98, end, 257, 258])
  })
})

describe("stop strings beside control tokens, which the text has as they are spelled", () => {
  const call = 258
  /** One or more `a`, then perhaps a control token with one or more `b` behind it. */
  const constraint: Input = {
    kind: "tag",
    format: {
      type: "sequence",
      elements: [
        { type: "regex", pattern: "a+" },
        {
          type: "optional",
          content: {
            type: "sequence",
            elements: [
              { type: "token", token: "<|call|>" },
              { type: "regex", pattern: "b*" },
            ],
          },
        },
      ],
    },
  }

  test.each<[stop: string, text: string, ignored: string[]]>([
    // Behind the a the text is complete.
    ["<|call|>b", "aa", []],
    ["a<|call|>", "a", []],
    ["|>b", "aa<|call|>bb", ["|>b"]],
    ["b", "aa<|call|>", []],
    ["bb", "aa<|call|>", []],
    ["aa<|call|>bb", "aa<|call|>bb", ["aa<|call|>bb"]],
  ])("%s ends it after %s", (stop, text, ignored) => {
    const { sequence, accept, write } = make({ constraint, stop: [stop], spellsControls: true })
    write("aa")
    if (!sequence.isFinished) accept(call)
    write("bb")
    if (!sequence.isFinished) accept(end)
    expect([sequence.text, ...ignoredBy(sequence)]).toEqual([text, [], ignored])
  })
})
