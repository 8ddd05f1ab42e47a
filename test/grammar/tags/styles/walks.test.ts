/**
 * Random walks through turns: no place without a way on, every text can be finished, and whatever comes out is read back to
 * calls that satisfy their tools' schemas.
 */
import { expect, test } from "vitest"
import { styles } from "../../../../grammar/tags/styles/all.ts"
import { readTurn } from "../../../../grammar/tags/styles/read/reader.ts"
import { TokenFsm, Vocabulary } from "../../../../mask/index.ts"
import { randomOf, randomWalk } from "../../../support/oracle.ts"
import { validate } from "../../../support/validate.ts"
import { RandomTools } from "./randomtools.ts"
import { tool, turnGrammar, Writer, written } from "./support.ts"

const Walks = 9

for (const style of styles) {
  test(style.name, () => {
    for (let seed = 1; seed <= Walks; seed++) {
      const random = randomOf(seed)
      const source = new RandomTools(random)
      const tools = source.tools(3)
      const turn = {
        style: style.name,
        tools: tools.map(({ name, parameters }) => tool(name, parameters)),
        tool_choice: seed % 3 === 0 ? "auto" : "required",
      }
      const calls = tools.map((each) => ({ name: each.name, arguments: source.arguments(each) }))
      const texts = [...style.blocks.keys()].map((at) => written(new Writer(random).calls(style, at, calls)))
      const fsm = new TokenFsm(turnGrammar(turn), vocabularyOf(texts, random))
      const { text } = randomWalk(fsm, seed, 60)
      const read = readTurn(turn, text)
      if (turn.tool_choice === "required") expect([text, read.calls.length > 0]).toEqual([text, true])
      for (const { name, arguments: json, isComplete } of read.calls) {
        const { parameters } = tools.find((each) => each.name === name)!
        expect([seed, text, isComplete]).toEqual([seed, text, true])
        expect([seed, text, json, validate(JSON.stringify(parameters), json).valid]).toEqual([
          seed,
          text,
          json,
          true,
        ])
      }
    }
  })
}

/** ASCII, bytes of other characters, and pieces of the texts, long ones too. */
function vocabularyOf(texts: readonly string[], random: () => number): Vocabulary {
  const pieces = new Set<string>()
  for (const text of texts) {
    for (let i = 0; i < 60; i++) {
      const at = Math.floor(random() * text.length)
      pieces.add(text.slice(at, at + 1 + Math.floor(random() * 12)))
    }
  }
  const bytes = Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte))
  const longer = [...pieces]
    .filter((piece) => piece.isWellFormed())
    .map((piece) => new TextEncoder().encode(piece))
  const tokens = [...bytes, ...longer.filter((piece) => piece.length > 1), null]
  return Vocabulary.fromBytes(tokens, { endIds: [tokens.length - 1] })
}
