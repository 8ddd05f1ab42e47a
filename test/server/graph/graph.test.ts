/** Pictures of constraints: what they show, and that no text of a constraint can become markup. */
import { describe, expect, test } from "vitest"
import { compile, type GrammarInput, TokenFsm, Vocabulary, walkStates } from "../../../runtime/index.ts"
import { type Outline, outline } from "../../../server/graph/outline.ts"
import { graphSvg } from "../../../server/graph/svg.ts"
import { byteMachine } from "../../../server/suite/checker.ts"

function drawn(input: GrammarInput, maxStates = 100, visited = 3_000): Outline {
  const machine = byteMachine(compile(input, { whitespace: "none" }).grammar)
  return outline(walkStates(machine, { maxStates: visited }), machine.vocabulary, "characters", maxStates)
}

/** `2! -a-> 3`: from a state that is accepting by a label to a state; `2…` is cut. */
function print({ states, edges }: Outline): string[] {
  const name = (index: number) =>
    `${index}${states[index].isAccepting ? "!" : ""}${states[index].isCut ? "…" : ""}`
  return edges.map(({ from, to, labels }) => {
    const words = labels.map((steps) =>
      steps.map(({ text, isSet }) => (isSet ? `‹${text}›` : text)).join(" · "),
    )
    return `${name(from)} -${words.join(" or ")}-> ${name(to)}`
  })
}

describe("by characters", () => {
  test.each<[pattern: string, lines: string[]]>([
    ["(19|20)[0-9]x", ["0 -19 or 20-> 1", "1 -‹[0-9]›-> 2", "2 -x-> 3!"]],
    ["a*", ["0! -a-> 0!"]],
    ["é|ß", ["0 -‹[ßé]›-> 1!"]],
    ["[à-ÿ\\u{1F600}-\\u{1F64F}x]€?", ["0 -‹[xà-ÿ😀-🙏]›-> 1!", "1! -€-> 2!"]],
    ['[^"\\\\]', ['0 -‹[^"\\\\]›-> 1!']],
    ["[^]", ["0 -‹any character›-> 1!"]],
    ["[\\]\\-^ \\n\\u0300\\u202e]", ["0 -‹[\\n␣\\-\\]\\^\\u{300}\\u{202e}]›-> 1!"]],
    ["", []],
  ])("/%s/", (pattern, lines) => {
    const graph = drawn({ kind: "regex", pattern })
    expect(print(graph)).toEqual(lines)
    expect(graph.isWhole).toBe(true)
  })

  test("a class of characters of every length is one edge", () => {
    const graph = drawn({ kind: "regex", pattern: "\\p{L}+" })
    expect(graph.states.length).toBe(2)
    expect(graph.edges.length).toBe(2)
  })

  test("texts without an alternative are joined, and parallel ones share an edge", () => {
    expect(print(drawn({ kind: "choice", options: ["red", "green", "red hot"] }))).toEqual([
      "0 -green-> 1!",
      "0 -red-> 2!",
      "2! -␣hot-> 1!",
    ])
  })

  test("a cut graph shows where it goes on, also inside a character", () => {
    const nested: GrammarInput = { kind: "gbnf", text: 'root ::= "[" root "]" | "a"' }
    expect(print(drawn(nested, 2))).toEqual(["0… -[-> 1…"])
    const cut = drawn({ kind: "regex", pattern: "\\p{L}b" }, 100, 10)
    expect(cut.states[0].isCut).toBe(true)
    expect(cut.isWhole).toBe(false)
    for (const { labels } of cut.edges) expect(labels[0][0].text).not.toContain("\\u{0}")
  })
})

test("by tokens: steps stay apart, sets are bounded, bytes and ids are shown", () => {
  const texts = ["a", "b", "ab", "c", "d", "ef", "gh", "ij", "klmnopqrstu"]
  const pieces = [
    ...texts.map((text) => new TextEncoder().encode(text)),
    Uint8Array.of(0xc3),
    Uint8Array.of(0xa9),
    null,
  ]
  const vocabulary = Vocabulary.fromBytes(pieces, { endIds: [pieces.length - 1] })
  const show = (pattern: string) => {
    const machine = new TokenFsm(compile({ kind: "regex", pattern }).grammar, vocabulary)
    return print(outline(walkStates(machine), vocabulary, "tokens", 100))
  }
  expect(show("ab")).toEqual(["0 -a · b or ab-> 1!"])
  expect(show("[bcd]|ab|ef|gh|ij|klmnopqrstu")).toContain(
    "0 -a · b or ‹[b-d] | ab | ef | gh | ij | … 1 more›-> 1!",
  )
  expect(show("é")).toEqual(["0 -\\xc3 · \\xa9-> 1!"])
})

/** Throws unless every tag is closed in order, and returns the texts between tags. */
function textsOf(xml: string): string[] {
  const open: string[] = []
  const texts: string[] = []
  for (const [piece] of xml.trim().matchAll(/<[^>]*>|[^<]+/g)) {
    const tag = /^<(\/?)([a-z]+)((?: [\w:]+="[^"<]*")*)(\/?)>$/.exec(piece)
    if (!piece.startsWith("<")) {
      if (/&(?!#\d+;)/.test(piece)) throw new Error(`a bare &: ${piece}`)
      texts.push(piece)
    } else if (tag === null) throw new Error(`not a tag: ${piece}`)
    else if (tag[1]) {
      if (open.pop() !== tag[2]) throw new Error(`${piece} closes nothing`)
    } else if (!tag[4]) open.push(tag[2])
  }
  if (open.length > 0) throw new Error(`left open: ${open}`)
  return texts
}

describe("the picture", () => {
  test("is well formed whatever the constraint says", () => {
    const hostile = [
      '<script>alert("x")</script>',
      "]]>&amp;&",
      "' onload='x",
      "\u0000\u0001\u202e\ufffe\u0300",
      "a <!-- b",
      "x".repeat(5_000),
      "𝒳é漢",
    ]
    const svg = graphSvg(drawn({ kind: "choice", options: hostile }), "<b> & \u0000 'title'")
    const texts = textsOf(svg)
    expect(texts.some((text) => text.includes("&#60;script&#62;"))).toBe(true)
    expect(texts[1]).toBe("&#60;b&#62; &#38; \ufffd 'title'")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: XML cannot hold them
    expect(svg).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff\u202e]/)
    expect(svg.length).toBeLessThan(20_000)
  })

  test("marks the start, ends and cuts, and says what it leaves out", () => {
    const whole = graphSvg(drawn({ kind: "regex", pattern: "ab?" }), "t")
    expect(whole).toContain('class="start"')
    expect(
      whole.match(/<g class="state"><title>state 1, the text may end<\/title><circle[^>]*\/><circle/),
    ).not.toBeNull()
    expect(whole).toContain(
      "<desc>3 states: all there are. Start: 0. The text may end in: 1, 2. 0 to 1: a; 1 to 2: b.</desc>",
    )
    const cut = graphSvg(drawn({ kind: "gbnf", text: 'root ::= "[" root "]" | "a"' }, 4), "t")
    expect(cut).toContain("The 4 states nearest to the start. Dashed states go on.")
    expect(cut).toContain('<g class="state cut">')
  })

  test("holds its labels: all boxes and texts lie inside it", () => {
    const svg = graphSvg(drawn({ kind: "regex", pattern: "(red|green){3}[0-9]*x{2,4}" }), "t")
    const [width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!.slice(1).map(Number)
    for (const [, x, y] of svg.matchAll(/(?: c?x="([\d.-]+)" c?y="([\d.-]+)")/g)) {
      expect(Number(x)).toBeGreaterThanOrEqual(-20)
      expect(Number(x)).toBeLessThanOrEqual(width)
      expect(Number(y)).toBeGreaterThanOrEqual(0)
      expect(Number(y)).toBeLessThanOrEqual(height)
    }
  })
})
