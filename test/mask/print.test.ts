import { expect, test } from "vitest"
import { compile, type GrammarInput } from "../../grammar/index.ts"
import { TokenFsm, Vocabulary } from "../../mask/index.ts"
import { printMask } from "../../mask/print.ts"

const encoder = new TextEncoder()
const texts = ["a", "b", "ab", 'a"', '"', '",', '"}', "}", ",", '":', "1", "12", "1,", "1}", '"a":1}']
texts.push("a", "2,1", "2,2")
const vocabulary = Vocabulary.fromBytes([...texts.map((text) => encoder.encode(text)), null], {
  endIds: [texts.length],
})

/** The mask after `text`, without numbers that depend on earlier grammars: of states and of tags. */
function maskAfter(input: GrammarInput, text: string): string {
  const fsm = new TokenFsm(compile(input).grammar, vocabulary)
  const state = fsm.advance(fsm.start, encoder.encode(text))
  return `\n${printMask(fsm, state)
    .replace(/^mask of state \d+/, "mask")
    .replace(/tag (?!1 )\d+ /g, "tag n ")}\n`
}

const schema = {
  type: "object",
  properties: { a: { type: "integer" } },
  required: ["a"],
  additionalProperties: false,
}

test("each lexeme that a token reads is a line, with the place where it begins", () => {
  expect(maskAfter({ kind: "json", schema }, '{"a":1')).toMatchInlineSnapshot(`
    "
    mask: 4 tokens: "}" "1" "12" "1}"
      after "" [0-9] or tag 1 ▸ ObjectFrame ▸ end
        adds 2 tokens: "1" "12"
        may end with tag 1 after "1" "2"
      after "" [0a 20 }] ▸ end
        adds 1 token: "}"
      after "1" "2" [0a 20 }] ▸ end
        adds 1 token: "1}"
    "
  `)
  expect(maskAfter({ kind: "json", schema }, "{")).toMatchInlineSnapshot(`
    "
    mask: 2 tokens: "\\"" "\\"a\\":1}"
      after "" ["] ▸ ObjectFrame ▸ end
        adds 1 token: "\\""
        may end with tag n after "\\"a\\""
      after "" [0a 20] or tag 1 ▸ ObjectFrame ▸ end
        adds 0 tokens
      after "\\"a\\"" [:] ▸ ObjectFrame ▸ end
        adds 0 tokens
        may end with tag 1 after "\\"a\\":"
      after "\\"a\\":" [- 0-9] ▸ ObjectFrame ▸ end
        adds 0 tokens
        may end with tag 1 after "\\"a\\":1"
      after "\\"a\\":1" [0a 20 }] ▸ end
        adds 1 token: "\\"a\\":1}"
    "
  `)
})

test("tokens of one spelling, a bound on what is spelled, the end of a text", () => {
  expect(maskAfter({ kind: "regex", pattern: "a[^}]{1,30}|ab" }, "a")).toMatchInlineSnapshot(`
    "
    mask: 14 tokens: "a" "b" "ab" "a\\"" "\\"" "\\"," "," "\\":" and 6 more
      after "" [00-| ~-7f c2-f4] ▸ end
        adds 14 tokens: "a" "b" "ab" "a\\"" "\\"" "\\"," "," "\\":" and 6 more
        may end with tag 1 after "\\"" "\\"a" "\\"a\\"" "\\"a\\":" "\\"a\\":1" "1" "2" "2," and 1 more
    "
  `)
  expect(maskAfter({ kind: "choice", options: ["ab"] }, "ab")).toMatchInlineSnapshot(`
    "
    mask: 1 token: #18
    "
  `)
})

test("tokens that depend on the text so far are tried one by one", () => {
  const distinct = { type: "array", items: { type: "integer" }, uniqueItems: true }
  expect(maskAfter({ kind: "json", schema: distinct }, "[1,")).toMatchInlineSnapshot(`
    "
    mask: 4 tokens: "1" "12" "2,1" "2,2"
      after "" [- 0-9] ▸ ArrayFrame ▸ end
        adds 2 tokens: "1" "12"
        may end with tag 1 after "2"
      after "" [0a 20] or tag 1 ▸ ArrayFrame ▸ end
        adds 0 tokens
      after "2" [,] ▸ ArrayFrame ▸ end
        adds 0 tokens
        may end with tag 1 after "2,"
      after "2" [0a 20 ]] ▸ end
        adds 0 tokens
      after "2," tokens are tried one by one
        adds 2 tokens: "2,1" "2,2"
    "
  `)
})
