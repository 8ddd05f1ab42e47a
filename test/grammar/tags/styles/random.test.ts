/**
 * Every style on random tools: what is written is accepted and read back as it was meant, in whatever pieces it comes; what is
 * changed anywhere in its wrapper, in its name, or against the schema is not.
 */
import { expect, test } from "vitest"
import { styles } from "../../../../grammar/tags/styles/all.ts"
import { gather } from "../../../../grammar/tags/styles/read/events.ts"
import { readTurn, TurnReader } from "../../../../grammar/tags/styles/read/reader.ts"
import type { Style } from "../../../../grammar/tags/styles/style.ts"
import { randomOf } from "../../../support/oracle.ts"
import { validate } from "../../../support/validate.ts"
import { RandomTools } from "./randomtools.ts"
import {
  type Arguments,
  type Call,
  type Piece,
  Reader,
  tool,
  turnGrammar,
  Writer,
  written,
} from "./support.ts"

const Rounds = 10

for (const style of styles) {
  test(`${style.name}: calls are accepted and read back`, () => {
    for (let seed = 1; seed <= Rounds; seed++) {
      const { random, calls, tools, turn } = round(style, seed)
      const reader = new Reader(turnGrammar({ ...turn, tool_choice: "required" }))
      const free = new Reader(turnGrammar(turn))
      for (const at of style.blocks.keys()) {
        const text = written(new Writer(random).calls(style, at, calls))
        expect([seed, text, reader.accepts(text), free.accepts(text)]).toEqual([seed, text, true, true])
        const read = readTurn(turn, text)
        const found = read.calls.map(({ name, arguments: json }) => ({ name, arguments: JSON.parse(json) }))
        // A string that another type also reads may come back as that: both are what the text says.
        expect([seed, text, found.map(({ name }) => name)]).toEqual([
          seed,
          text,
          calls.map(({ name }) => name),
        ])
        for (const [i, { name, arguments: args }] of found.entries()) {
          const { parameters } = tools.find((each) => each.name === name)!
          expect([text, validate(JSON.stringify(parameters), JSON.stringify(args)).valid]).toEqual([
            text,
            true,
          ])
          expect([seed, text, unlike(args, calls[i].arguments)]).toEqual([seed, text, []])
        }
        expect(read).toMatchObject({ text: "", reasoning: "" })
        expect(inPieces(style, turn, text, random)).toEqual(read)
      }
    }
  })

  test(`${style.name}: no byte of a wrapper can be another`, () => {
    for (let seed = 1; seed <= Rounds; seed++) {
      const { random, calls, turn } = round(style, seed)
      const reader = new Reader(turnGrammar({ ...turn, tool_choice: "required" }))
      for (const at of style.blocks.keys()) {
        const pieces = new Writer(random).calls(style, at, calls)
        for (const text of mutants(pieces, random)) {
          expect([seed, text, reader.accepts(text)]).toEqual([seed, text, false])
        }
      }
    }
  })

  test(`${style.name}: names and arguments are held to the tools`, () => {
    for (let seed = 1; seed <= Rounds; seed++) {
      const { random, calls, tools, turn } = round(style, seed)
      const reader = new Reader(turnGrammar({ ...turn, tool_choice: "required" }))
      const [first, ...others] = calls
      const { parameters } = tools.find(({ name }) => name === first.name)!
      const wrong: Call[] = [{ ...first, name: `${first.name}x` }]
      for (const args of broken(first.arguments, parameters)) wrong.push({ ...first, arguments: args })
      for (const at of style.blocks.keys()) {
        for (const call of wrong) {
          const text = written(new Writer(random).calls(style, at, [call, ...others]))
          expect([seed, text, reader.accepts(text)]).toEqual([seed, text, false])
        }
      }
    }
  })

  test(`${style.name}: as many calls as are allowed, and only of the tools that are`, () => {
    const { random, calls, tools, turn } = round(style, 3)
    const { maxCalls = 3 } = style
    const others = tools.filter(({ name }) => name !== calls[0].name)
    const choice = (name: string) => ({ type: "function", function: { name } })
    for (const at of style.blocks.keys()) {
      const texts = [1, 2, 3].map((count) =>
        written(
          new Writer(random).calls(
            style,
            at,
            Array.from({ length: count }, () => calls[0]),
          ),
        ),
      )
      const accepted = (more: object) =>
        texts.map((text) => new Reader(turnGrammar({ ...turn, ...more })).accepts(text))
      const upTo = (count: number) => [1, 2, 3].map((each) => each <= Math.min(count, maxCalls))
      expect(accepted({})).toEqual(upTo(3))
      expect(accepted({ parallel_tool_calls: false })).toEqual([true, false, false])
      expect(accepted({ parallel_tool_calls: false, tool_choice: "required" })).toEqual([true, false, false])
      expect(accepted({ max_tool_calls: 2 })).toEqual(upTo(2))
      expect(accepted({ max_tool_calls: 2, tool_choice: "required" })).toEqual(upTo(2))
      expect(accepted({ tool_choice: choice(calls[0].name) })).toEqual([true, false, false])
      expect(accepted({ tool_choice: choice(others[0].name) })).toEqual([false, false, false])
      expect(accepted({ tool_choice: "none" })).toEqual([false, false, false])
      const allowed = { type: "allowed_tools", mode: "auto", tools: [choice(others[0].name)] }
      expect(accepted({ tool_choice: allowed })).toEqual([false, false, false])
      expect(accepted({ tool_choice: { ...allowed, tools: [choice(calls[0].name)] } })).toEqual(upTo(3))
    }
  })
}

function round(style: Style, seed: number) {
  const random = randomOf(seed)
  const source = new RandomTools(random)
  const tools = source.tools(1 + Math.floor(random() * 4))
  if (tools.length === 1) tools.push({ name: "other", parameters: { type: "object", properties: {} } })
  const calls: Call[] = Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
    const chosen = source.pick(tools)
    return { name: chosen.name, arguments: source.arguments(chosen) }
  }).slice(0, style.maxCalls)
  const turn = { style: style.name, tools: tools.map(({ name, parameters }) => tool(name, parameters)) }
  return { random, calls, tools, turn }
}

/** Keys whose values differ by more than how a text can be taken. */
function unlike(read: Arguments, meant: Arguments): string[] {
  const keys = new Set([...Object.keys(read), ...Object.keys(meant)])
  const said = (value: unknown) => (typeof value === "string" ? value : JSON.stringify(value))
  return [...keys].filter((key) => said(read[key]) !== said(meant[key]))
}

function inPieces(
  style: Style,
  turn: { style: string; tools: unknown[] },
  text: string,
  random: () => number,
) {
  const reader = new TurnReader({ ...turn, style: style.name })
  const events = []
  for (let at = 0; at < text.length; ) {
    const end = at + 1 + Math.floor(random() * 7)
    events.push(...reader.feed(text.slice(at, end)))
    at = end
  }
  events.push(...reader.end())
  return gather(events)
}

/** The text with one unit of its wrapper changed, for some of the units. */
function mutants(pieces: readonly Piece[], random: () => number): string[] {
  const texts: string[] = []
  for (const [i, { text, isFixed }] of pieces.entries()) {
    if (!isFixed) continue
    for (let at = 0; at < text.length; at++) {
      if (random() < 0.7) continue
      const other = [...'x#A\n<1 "}'].filter((unit) => unit !== text[at])[Math.floor(random() * 7)]
      const changed = text.slice(0, at) + other + text.slice(at + 1)
      texts.push(written([...pieces.slice(0, i), { text: changed, isFixed }, ...pieces.slice(i + 1)]))
    }
  }
  return texts
}

/** Arguments that no spelling makes valid: without a required one, with one too many, and of another type. */
function broken(args: Arguments, parameters: Record<string, unknown>): Arguments[] {
  const wrong: Arguments[] = []
  for (const key of (parameters.required as string[]) ?? []) {
    wrong.push(Object.fromEntries(Object.entries(args).filter(([name]) => name !== key)))
  }
  if (parameters.additionalProperties === false) wrong.push({ ...args, one_more: 1 })
  for (const [key, { type }] of Object.entries(parameters.properties as Record<string, { type?: unknown }>)) {
    if (args[key] === undefined) continue
    if (type === "integer" || type === "boolean")
      wrong.push({ ...args, [key]: "text" }, { ...args, [key]: [1.5] })
    if (type === "array" || type === "object") wrong.push({ ...args, [key]: true })
  }
  return wrong.filter((each) => !validate(JSON.stringify(parameters), JSON.stringify(each)).valid)
}
