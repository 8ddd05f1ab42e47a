/**
 * Turns of models with random weights in one style: every reply is read back, the same as a stream and as a whole; every call's
 * arguments satisfy their schema by the reference validator; and what the request says of its calls holds.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Style } from "../../grammar/tags/styles/style.ts"
import {
  type Engine,
  type GenerateOptions,
  type GenerateResult,
  GrammarError,
  open,
  RequestError,
} from "../../runtime/index.ts"
import { readWhole } from "../../runtime/turn/wholereading.ts"
import { writeTinyModel } from "../support/onnx.ts"
import { validate } from "../support/validate.ts"

export interface TurnTool {
  function: { name: string; parameters?: object }
}

export interface TurnSoak {
  /** The lists of tools; the turns take them in some order. */
  rows: readonly (readonly TurnTool[])[]
  turns: number
  seed: number
}

export interface TurnCounts {
  turns: number
  calls: number
  /** A budget in which the shortest call does not fit, a schema that no style can write. */
  refused: number
  /** Answers whose text the budget cut. */
  cut: number
  faults: string[]
  /** What was refused, up to some. */
  refusals: string[]
}

type Asked = Pick<GenerateOptions, "toolChoice" | "parallelToolCalls" | "maxToolCalls">

const template =
  "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}<|assistant|>"
const maxRefusals = 2
const atOnce = 32

/** What the turn of a number asks of its calls. */
function askedOf(turn: number, tools: readonly TurnTool[]): Asked {
  const { name } = tools[turn % tools.length].function
  const forms: Asked[] = [
    { toolChoice: "required" },
    { toolChoice: "required", parallelToolCalls: false },
    { toolChoice: "auto" },
    { toolChoice: "none" },
    { toolChoice: { type: "function", function: { name } } },
    { toolChoice: "required", maxToolCalls: 2 },
    { toolChoice: "auto", parallelToolCalls: false },
  ]
  return forms[turn % forms.length]
}

export async function soakTurns(style: Style, { rows, turns, seed }: TurnSoak): Promise<TurnCounts> {
  const { name, controls } = style
  const directory = mkdtempSync(join(tmpdir(), "turns-"))
  // In messages `<|end|>` is followed by more.
  const end = controls.includes("<|end|>") ? "<|return|>" : "<|end|>"
  const others = controls.filter((each) => each !== end)
  const model = writeTinyModel(directory, { template, end, controls: others, contextLength: 1_024 })
  const engine = await open({
    ...{ model, device: "cpu", isolation: "none", toolStyle: name, slots: atOnce },
    log: () => {},
  })
  const counts: TurnCounts = { turns: 0, calls: 0, refused: 0, cut: 0, faults: [], refusals: [] }
  for (let first = 0; first < turns; first += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, turns - first) }, (_, i) => run(first + i)))
  await engine.close()
  rmSync(directory, { recursive: true })
  return counts

  async function run(turn: number): Promise<void> {
    const tools = rows[(turn * 7_919) % rows.length]
    const asked = askedOf(turn, tools)
    try {
      const { result, differs } = await readTwice(engine, style, tools, asked, seed * 1_000_003 + turn)
      counts.turns++
      counts.calls += result.toolCalls.length
      if (result.finishReason === "length") counts.cut++
      const fault = result.error ? String(result.error) : (differs ?? faultOf(result, asked, tools))
      if (fault !== null) counts.faults.push(`turn ${turn}: ${fault}`)
    } catch (error) {
      const message = String(error).slice(0, 300)
      if (error instanceof RequestError || error instanceof GrammarError) {
        if (counts.refused++ < maxRefusals) counts.refusals.push(`turn ${turn}: ${message}`)
      } else counts.faults.push(`turn ${turn}: ${message}`)
    }
  }
}

/** One answer as its stream has it, and its text read again when it is whole. */
async function readTwice(
  engine: Engine,
  style: Style,
  tools: readonly TurnTool[],
  asked: Asked,
  seed: number,
): Promise<{ result: GenerateResult; differs: string | null }> {
  const generation = await engine.start("go", {
    ...asked,
    ...{ tools, toolsInPrompt: false, maxTokens: 600, temperature: 1.5, seed: BigInt(seed) },
  })
  const streamed = { text: "", reasoning: "", arguments: [] as string[] }
  for await (const event of generation) {
    if (event.type === "text") streamed.text += event.text
    if (event.type === "reasoning") streamed.reasoning += event.text
    if (event.type === "call") streamed.arguments[event.index] = ""
    if (event.type === "arguments") streamed.arguments[event.index] += event.text
  }
  const result = await generation.result
  if (result.error) return { result, differs: null }
  const { text } = generation.sequences[0]
  const { vocabulary } = engine
  const last = result.tokens.at(-1) ?? -1
  const whole = readWhole({
    turn: {
      ...{ style: style.name, tools, tool_choice: asked.toolChoice },
      ...{ parallel_tool_calls: asked.parallelToolCalls, max_tool_calls: asked.maxToolCalls },
      ...(style.messages === undefined && { reasoning: null }),
    },
    text,
    end: vocabulary.isEnd(last) ? vocabulary.name(last) : undefined,
    endNames: vocabulary.endIds.map((id) => vocabulary.name(id)!),
  })
  const argumentsOf = (calls: readonly { arguments: string }[]) => calls.map((call) => call.arguments)
  const said = ({ text, reasoning }: { text: string; reasoning: string }, args: readonly string[]) =>
    JSON.stringify([text, reasoning, args])
  const readings = [
    said(streamed, streamed.arguments),
    said(result, argumentsOf(result.toolCalls)),
    said(whole, argumentsOf(whole.calls)),
  ]
  const isSame = readings.every((each) => each === readings[0])
  return { result, differs: isSame ? null : `${JSON.stringify(text)} is read as ${readings.join(" and ")}` }
}

function faultOf(
  { toolCalls: calls, finishReason }: GenerateResult,
  { toolChoice, parallelToolCalls, maxToolCalls }: Asked,
  tools: readonly TurnTool[],
): string | null {
  const count = calls.length
  if (toolChoice === "required" && count === 0) return "no call"
  if (toolChoice === "none" && count > 0) return "a call"
  if (parallelToolCalls === false && count > 1) return `${count} calls, not parallel`
  if (maxToolCalls && count > maxToolCalls) return `${count} calls, at most ${maxToolCalls}`
  if (typeof toolChoice === "object") {
    const { name } = (toolChoice as TurnTool).function
    if (count !== 1 || calls[0].name !== name) return `not one call of ${name}: ${JSON.stringify(calls)}`
  }
  for (const { name, arguments: args, isComplete } of calls) {
    if (!isComplete) return `the call of ${name} is not whole (${finishReason}): ${args}`
    const tool = tools.find((each) => each.function.name === name)
    if (tool === undefined) return `no tool is named ${name}`
    const schema = tool.function.parameters ?? { type: "object", additionalProperties: false }
    const { valid, errors } = validate(JSON.stringify(schema), args)
    if (!valid) return `${name} ${args}: ${JSON.stringify(errors)}`
  }
  return null
}
