/** Cases of JSON objects and JSON Schemas, whole and streamed. */
import { type Asker, jsonSchema } from "../ask.ts"
import { type ApiCase, finding, honoured } from "../case.ts"
import { Constraint } from "../constraint.ts"
import { eachChoice, textObeys, textOf } from "../judges.ts"
import { type SchemaRow, schemaRows } from "../schemas.ts"

/** Every how many rows one is asked as a stream too. */
const streamEvery = 9

export function schemaCases(ask: Asker): ApiCase[] {
  const rows = schemaRows()
  const streamed = rows.filter((_, at) => at % streamEvery === 0)
  return [
    ...objects.map(([name, prompt]) => objectCase(ask, name, prompt)),
    ...rows.map((row) => schemaCase(ask, row, {})),
    ...streamed.map((row) => schemaCase(ask, row, { stream: true })),
    ...orders.map(([name, keys]) => orderCase(ask, name, keys)),
  ]
}

const objects: readonly (readonly [name: string, prompt: string])[] = [
  ["a poem", "Write a poem about the sea. Plain text, no JSON."],
  ["a list", "Answer with the JSON list [1, 2, 3] and nothing else."],
  ["a number", "Answer with the number 7 and nothing else."],
  ["a code block", "Answer with a Python program in a code block."],
  ["Markdown around it", "Answer with a sentence, then a JSON object in a code block, then a sentence."],
  ["one word", "Say yes."],
]

function objectCase(ask: Asker, name: string, prompt: string): ApiCase {
  const request = ask.chat(`${prompt} (The word JSON.)`, { response_format: { type: "json_object" } })
  const anyObject = new Constraint({ kind: "json", schema: '{"type":"object"}' })
  return { area: "json_object", name, requests: [request], judge: textObeys(anyObject) }
}

/** A case of one schema. Its name is its keyword and the name of the row. */
export function schemaCase(
  ask: Asker,
  { keyword, name, prompt, schema }: SchemaRow,
  fields: object,
): ApiCase {
  const constraint = new Constraint({ kind: "json", schema })
  const isStreamed = "stream" in fields
  return {
    area: isStreamed ? "json_schema, streamed" : `json_schema: ${keyword}`,
    name: isStreamed ? `${keyword}, ${name}` : name,
    requests: [ask.chat(prompt, { ...ask.schema(schema), ...fields })],
    judge: textObeys(constraint),
  }
}

const orders: readonly (readonly [name: string, keys: readonly string[]])[] = [
  ["as declared", ["zed", "mid", "alpha"]],
  ["names that are numbers", ["2", "10", "1"]],
]

/** Keys come in the order in which the schema declares them, as OpenAI documents it. */
function orderCase(ask: Asker, name: string, keys: readonly string[]): ApiCase {
  const members = keys.map((key) => `${JSON.stringify(key)}:{"enum":[1,2]}`).join(",")
  const required = JSON.stringify([...keys].sort())
  const schema = `{"type":"object","properties":{${members}},"required":${required},"additionalProperties":false}`
  const constraint = new Constraint({ kind: "json", schema })
  return {
    area: "json_schema: order of keys",
    name,
    requests: [ask.chat(`Answer with the members in the order ${required}.`, jsonSchema(schema))],
    judge: eachChoice((choice) => {
      const obeyed = textOf(choice, constraint)
      if (obeyed.verdict !== "honoured") return obeyed
      const found = [...(choice.content ?? "").matchAll(/"(\w+)"\s*:/g)].map(([, key]) => key)
      const isOrdered = found.every((key, at) => key === keys[at])
      return isOrdered ? honoured : finding("ignored", `the keys come as ${found.join(", ")}`)
    }),
  }
}
