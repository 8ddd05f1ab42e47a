/**
 * Turns of models with random weights over a file of tools: in each style, every reply is read back, every call's arguments satisfy
 * their schema, `required` always calls, and without parallel calls there is one.
 *
 * Usage: `node dist/test/soak/turns.js TOOLS.jsonl [--turns 500] [--style NAME] [--seed 1]`. A line is `{"tools": [...]}` with tools as
 * chat requests have them. Exit 1 on anything else.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { Ajv2020 } from "ajv/dist/2020.js"
import { styles } from "../../grammar/tags/styles/all.ts"
import { GrammarError, open, RequestError } from "../../runtime/index.ts"
import { writeTinyModel } from "../support/onnx.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    turns: { type: "string", default: "500" },
    style: { type: "string" },
    seed: { type: "string", default: "1" },
  },
})

interface Tool {
  function: { name: string; parameters?: object }
}

const rows: Tool[][] = readFileSync(positionals[0], "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line).tools)
const template =
  "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|end|>' }}{% endfor %}<|assistant|>"
const asked = [
  { toolChoice: "required" },
  { toolChoice: "required", parallelToolCalls: false },
  { toolChoice: "auto" },
  { toolChoice: "none" },
]
let failures = 0
for (const { name, controls } of styles.filter((style) => (flags.style ?? style.name) === style.name)) {
  const directory = mkdtempSync(join(tmpdir(), "turns-"))
  // In messages `<|end|>` is followed by more.
  const end = controls.includes("<|end|>") ? "<|return|>" : "<|end|>"
  const model = writeTinyModel(directory, {
    template,
    end,
    controls: controls.filter((each) => each !== end),
    contextLength: 2_048,
  })
  const engine = await open({
    model,
    device: "cpu",
    isolation: "none",
    toolStyle: name,
    slots: 8,
    log: () => {},
  })
  const counts = { turns: 0, calls: 0, refused: 0, cut: 0, wrong: 0 }
  const begin = performance.now()
  for (let turn = 0; turn < Number(flags.turns); turn += 8)
    await Promise.all(Array.from({ length: 8 }, (_, i) => run(turn + i)))
  const seconds = (performance.now() - begin) / 1000
  console.log(`${name}: ${JSON.stringify(counts)} in ${seconds.toFixed(0)} s`)
  failures += counts.wrong
  await engine.close()
  rmSync(directory, { recursive: true })

  async function run(turn: number): Promise<void> {
    const tools = rows[(turn * 7_919) % rows.length]
    const how = asked[turn % asked.length]
    try {
      const result = await engine.generate("go", {
        ...how,
        tools,
        toolsInPrompt: false,
        maxTokens: 600,
        temperature: 1.5,
        seed: BigInt(Number(flags.seed) * 1_000_003 + turn),
      })
      counts.turns++
      counts.calls += result.toolCalls.length
      if (result.finishReason === "length") counts.cut++
      const wrong = faultOf(result.toolCalls, how, tools, result.finishReason)
      if (wrong === null) return
      counts.wrong++
      console.log(`${name}, turn ${turn}: ${wrong}`)
    } catch (error) {
      // A budget in which the shortest call does not fit, a schema that no style can write.
      if (error instanceof RequestError || error instanceof GrammarError) {
        counts.refused++
        if (counts.refused <= 2) console.log(`${name}, turn ${turn}: refused, ${error.message.slice(0, 200)}`)
        return
      }
      counts.wrong++
      console.log(`${name}, turn ${turn}: ${String(error).slice(0, 300)}`)
    }
  }
}
process.exitCode = failures > 0 ? 1 : 0

function faultOf(
  calls: readonly { name: string; arguments: string; isComplete: boolean }[],
  { toolChoice, parallelToolCalls }: { toolChoice: string; parallelToolCalls?: boolean },
  tools: readonly Tool[],
  finishReason: string,
): string | null {
  if (toolChoice === "required" && calls.length === 0) return "no call"
  if (toolChoice === "none" && calls.length > 0) return "a call"
  if (parallelToolCalls === false && calls.length !== 1) return `${calls.length} calls`
  for (const { name, arguments: args, isComplete } of calls) {
    if (!isComplete) {
      if (finishReason === "length") continue
      return `the call of ${name} is not whole: ${args}`
    }
    const tool = tools.find((each) => each.function.name === name)
    if (tool === undefined) return `no tool is named ${name}`
    const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false })
    const schema = tool.function.parameters ?? { type: "object", additionalProperties: false }
    if (!ajv.validate(schema, JSON.parse(args))) return `${name} ${args}: ${ajv.errorsText()}`
  }
  return null
}
