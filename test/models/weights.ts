/**
 * A model with real weights, from its load to a reload: greedy texts alone, together and beside transformers', schemas that hold, calls of
 * tools, and the same answer after what runs the model was killed.
 *
 * Usage: `npm run test:models -- DIR… [--dtype q4] [--weights DIR] [--tool-style hermes] [--threads 2]`. DIR is an ONNX export;
 * `--weights` the same model in the layout of transformers, which the Python of the environment variable PYTHON runs. What is missing
 * is skipped, and said. Exit 1 where something does not hold.
 */
import { spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { parseArgs } from "node:util"
import { type Engine, open } from "../../runtime/index.ts"
import { killModel } from "../support/killmodel.ts"
import { validate } from "../support/validate.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dtype: { type: "string" },
    weights: { type: "string" },
    "tool-style": { type: "string" },
    threads: { type: "string", default: "2" },
    tokens: { type: "string", default: "48" },
  },
})
if (positionals.length === 0) console.log("skipped: no directory of an ONNX model is given")

const questions = [
  "What is the capital of France?",
  "Name three colours.",
  "Write a haiku about rain.",
  "How many legs has a spider?",
  "Explain gravity to a child.",
  "Translate 'good morning' into Spanish.",
  "What is 12 times 12?",
  "Give me a recipe for pancakes.",
  "Who wrote Hamlet?",
  "Write a line of Python that prints hello.",
  "What do bees make?",
  "List the planets.",
  "Why is the sky blue?",
  "Name a fruit that is yellow.",
  "What is a prime number?",
  "Finish: once upon a time",
  "What is the opposite of hot?",
  "Describe the sea in one sentence.",
  "Which is larger, a mouse or an elephant?",
  "Say nothing but yes.",
]
const text = (maxLength: number) => ({ type: "string", maxLength })
const schemas: object[] = [
  { type: "object", properties: { name: text(20) }, required: ["name"], additionalProperties: false },
  { type: "array", items: { type: "integer", minimum: 0, maximum: 99 }, minItems: 2, maxItems: 4 },
  { enum: ["red", "green", "blue"] },
  { type: "boolean" },
  { type: "number", multipleOf: 0.5, minimum: -3, maximum: 7 },
  { type: "string", pattern: "^[A-Z][a-z]{2,9}$" },
  { type: "string", format: "date" },
  { type: "string", format: "email", maxLength: 40 },
  { type: ["null", "integer"], maximum: 10_000, minimum: -10_000 },
  { anyOf: [{ type: "integer", minimum: 0, maximum: 9 }, { const: "none" }] },
  {
    oneOf: [
      { type: "integer", multipleOf: 3, maximum: 99, minimum: 0 },
      { type: "integer", multipleOf: 5, maximum: 99, minimum: 0 },
    ],
  },
  { type: "array", uniqueItems: true, items: { enum: [1, 2, 3] }, minItems: 2 },
  {
    type: "object",
    minProperties: 1,
    maxProperties: 2,
    propertyNames: { pattern: "^[a-c]$" },
    additionalProperties: { type: "boolean" },
  },
  {
    type: "object",
    properties: { kind: { enum: ["a", "b"] } },
    required: ["kind"],
    if: { properties: { kind: { const: "a" } } },
    then: { properties: { size: { type: "integer", minimum: 1, maximum: 5 } }, required: ["size"] },
    additionalProperties: { type: "integer", minimum: 0, maximum: 9 },
    maxProperties: 2,
  },
  { type: "array", prefixItems: [{ type: "boolean" }, text(8)], items: false, minItems: 2 },
  {
    type: "array",
    contains: { const: 7 },
    items: { type: "integer", minimum: 5, maximum: 8 },
    minItems: 1,
    maxItems: 4,
  },
  { not: { type: ["object", "array", "string"] }, type: ["boolean", "null"] },
  {
    $defs: {
      node: {
        type: "object",
        properties: {
          value: { type: "integer", minimum: 0, maximum: 9 },
          next: { anyOf: [{ type: "null" }, { $ref: "#/$defs/node" }] },
        },
        required: ["value", "next"],
        additionalProperties: false,
      },
    },
    $ref: "#/$defs/node",
  },
  {
    type: "object",
    properties: { a: { type: "integer", minimum: 0, maximum: 9 }, b: text(5) },
    dependentRequired: { a: ["b"] },
    additionalProperties: false,
  },
  { type: "string", minLength: 3, maxLength: 12 },
]
const tools = [
  {
    type: "function" as const,
    function: {
      name: "get_weather",
      parameters: {
        type: "object",
        properties: { city: text(20), unit: { enum: ["celsius", "fahrenheit"] } },
        required: ["city", "unit"],
        additionalProperties: false,
      },
    },
  },
]

let failures = 0
for (const model of positionals) await examine(model)
process.exitCode = failures === 0 ? 0 : 1

function say(isRight: boolean, what: string): void {
  if (!isRight) failures++
  console.log(`  ${isRight ? "holds" : "FAILS"}: ${what}`)
}

async function examine(model: string): Promise<void> {
  const begin = performance.now()
  const toolStyle = flags["tool-style"]
  const engine = await open({
    model,
    device: "cpu",
    threads: Number(flags.threads),
    slots: 8,
    log: (line) => console.log(`  ${line}`),
    ...(flags.dtype !== undefined && { dtype: flags.dtype }),
    ...(toolStyle !== undefined && { toolStyle }),
  })
  const mib = process.memoryUsage.rss() / 2 ** 20
  console.log(`${model}: ${(performance.now() - begin).toFixed(0)} ms, ${mib.toFixed(0)} MiB resident`)
  const alone = await greedy(engine)
  await bySchemas(engine)
  await byTools(engine)
  await killModel(engine)
  const again = await answer(engine, questions[0])
  say(same(again, alone[0]), "the first answer once more, after what runs the model was killed")
  await engine.close()
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i])
}

async function answer(engine: Engine, prompt: string | readonly number[]): Promise<readonly number[]> {
  const options = { temperature: 0, maxTokens: Number(flags.tokens), ignoreEos: true }
  return (await engine.generate(prompt, options)).tokens
}

/** Answers alone, which those in a batch and transformers' are held to. */
async function greedy(engine: Engine): Promise<(readonly number[])[]> {
  const alone: (readonly number[])[] = []
  for (const question of questions) alone.push(await answer(engine, question))
  const together = await Promise.all(questions.map((question) => answer(engine, question)))
  const equal = together.filter((tokens, i) => same(tokens, alone[i])).length
  say(equal === questions.length, `${equal} of ${questions.length} greedy answers in a batch are those alone`)
  if (flags.weights === undefined || !existsSync(flags.weights)) {
    console.log("  skipped: transformers' answers; --weights names no folder")
    return alone
  }
  const prompts = questions.map((question) =>
    engine.tokenizer.encodeMessages([{ role: "user", content: question }]),
  )
  // Nobody but the end of a turn is written as a control token.
  const { specials, endIds } = engine.vocabulary
  const never = [...specials.values()].filter((id) => !endIds.includes(id))
  const { stdout, status, stderr } = spawnSync(
    process.env.PYTHON ?? "python3",
    ["test/models/greedy.py", flags.weights],
    {
      input: JSON.stringify({ prompts, tokens: Number(flags.tokens), never }),
      encoding: "utf8",
      maxBuffer: 1e9,
    },
  )
  if (status !== 0) {
    console.log(`  skipped: transformers' answers; ${stderr.trim().split("\n").at(-1)}`)
    return alone
  }
  const theirs: number[][] = JSON.parse(stdout)
  const agreeing = theirs.map((ids, i) => ids.findIndex((id, at) => id !== alone[i][at]))
  const whole = agreeing.filter((at) => at < 0).length
  const least = Math.min(...agreeing.map((at, i) => (at < 0 ? theirs[i].length : at)))
  // Weights of few bits have words of their own.
  const isExact = flags.dtype === undefined || flags.dtype === "fp32"
  const said = `${whole} of ${theirs.length} greedy answers are transformers', the shortest agreement ${least} tokens`
  if (isExact) say(whole === theirs.length, said)
  else console.log(`  ${said} (${flags.dtype})`)
  return alone
}

async function bySchemas(engine: Engine): Promise<void> {
  const ask = (i: number, draftTokens: number | null) => {
    const options = { temperature: 1, seed: BigInt(i), maxTokens: 160, onLength: "close" as const }
    return engine.generate(questions[i], { schema: schemas[i], draftTokens, ...options })
  }
  let unmoved = 0
  for (const i of schemas.keys())
    unmoved += Number(same((await ask(i, null)).tokens, (await ask(i, 0)).tokens))
  const { draftedTokens, acceptedTokens } = engine.metrics
  say(
    unmoved === schemas.length,
    `${unmoved} of ${schemas.length} answers to schemas are those without drafts; ${acceptedTokens} of ${draftedTokens} drafted tokens were right`,
  )
  for (const isTogether of [false, true]) {
    const one = async (schema: object, i: number) => {
      const { text } = await ask(i, null)
      return validate(JSON.stringify(schema), text).valid
    }
    const verdicts: boolean[] = []
    if (isTogether) verdicts.push(...(await Promise.all(schemas.map(one))))
    else for (const [i, schema] of schemas.entries()) verdicts.push(await one(schema, i))
    const valid = verdicts.filter((verdict) => verdict).length
    say(
      valid === schemas.length,
      `${valid} of ${schemas.length} schemas, ${isTogether ? "eight at once" : "one by one"}`,
    )
  }
}

async function byTools(engine: Engine): Promise<void> {
  const one = async (seed: number): Promise<boolean> => {
    const options = {
      tools,
      toolChoice: "required" as const,
      temperature: 1,
      seed: BigInt(seed),
      maxTokens: 200,
      onLength: "close" as const,
    }
    const { toolCalls } = await engine.generate(
      `What is the weather in ${questions[seed].length} towns?`,
      options,
    )
    const schema = JSON.stringify(tools[0].function.parameters)
    return (
      toolCalls.length > 0 &&
      toolCalls.every((call) => call.name === "get_weather" && validate(schema, call.arguments).valid)
    )
  }
  try {
    const verdicts = [await one(0), ...(await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(one)))]
    const valid = verdicts.filter((verdict) => verdict).length
    say(
      valid === verdicts.length,
      `${valid} of ${verdicts.length} turns call the tool with valid arguments, one alone and eight at once`,
    )
  } catch (error) {
    console.log(`  skipped: tools; ${(error as Error).message}`)
  }
}
