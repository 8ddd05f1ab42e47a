/** Cases of stops, budgets, choices, seeds and log-probabilities. */
import type { Asker } from "../ask.ts"
import { type ApiCase, type Finding, finding, honoured, type JsonObject } from "../case.ts"
import { type Chat, type ChatChoice, fieldsOf, listOf, readChat, readStream } from "../chat.ts"
import { Constraint } from "../constraint.ts"
import { eachChoice, malformed, read, textOf } from "../judges.ts"
import { acceptedCases } from "./streams.ts"

const prompt = "Tell me a long story about the sea and the people who live there."
const schema =
  '{"type":"object","properties":{"a":{"enum":["qx-7","wv-3"]}},"required":["a"],"additionalProperties":false}'

export function fieldCases(ask: Asker): ApiCase[] {
  return [
    ...stopCases(ask),
    ...budgetCases(ask),
    ...choiceCases(ask),
    ...seedCases(ask),
    ...logprobCases(ask),
    ...reasoningCases(ask),
    ...acceptedCases(ask),
  ]
}

/** Letters that nearly every text has, so that a stop that is ignored shows. */
function stopCases(ask: Asker): ApiCase[] {
  const rows: [name: string, stop: unknown][] = [
    ["one letter", "e"],
    ["four letters", ["a", "e", "i", "o"]],
    ["a space", [" "]],
    ["a word that never comes", ["zqzqzq"]],
  ]
  return rows.flatMap(([name, stop]) =>
    [{}, { stream: true }].map(
      (stream): ApiCase => ({
        area: "stop",
        name: `${name}${"stream" in stream ? ", streamed" : ""}`,
        requests: [ask.chat(prompt, { stop, max_tokens: 32, ...stream })],
        judge: eachChoice(({ content, finish }) => {
          const text = content ?? ""
          const found = [stop].flat().find((each) => text.includes(String(each)))
          if (found !== undefined)
            return finding(
              "ignored",
              `the text holds the stop ${JSON.stringify(found)}: ${JSON.stringify(text.slice(0, 60))}`,
            )
          return finish === "stop" || finish === "length"
            ? honoured
            : finding("wrong", `finish_reason is ${finish}`)
        }),
      }),
    ),
  )
}

function budgetCases(ask: Asker): ApiCase[] {
  const rows: [name: string, most: number, fields: JsonObject][] = [
    ["max_tokens: 1", 1, { max_tokens: 1 }],
    ["max_tokens: 5", 5, { max_tokens: 5 }],
    ["max_completion_tokens: 5", 5, { max_tokens: undefined, max_completion_tokens: 5 }],
    ["max_tokens: 5, streamed", 5, { max_tokens: 5, stream: true, stream_options: { include_usage: true } }],
  ]
  return [
    ...rows.map(
      ([name, most, fields]): ApiCase => ({
        ...{ area: "budget", name },
        requests: [ask.chat(prompt, fields)],
        judge: ([reply]) => withinBudget(read(reply), most),
      }),
    ),
    {
      ...{ area: "budget", name: "a schema that does not fit" },
      requests: [ask.chat(prompt, { ...ask.schema(schema), max_tokens: 3 })],
      judge: eachChoice((choice) => {
        const obeyed = textOf(choice, new Constraint({ kind: "json", schema }))
        return obeyed.verdict === "skipped" ? { ...honoured, truncated: true } : obeyed
      }),
    },
  ]
}

function withinBudget({ problems, usage, choices }: Chat, most: number): Finding {
  const { completion_tokens: used } = fieldsOf(usage)
  if (!Number.isInteger(used)) return finding("wrong", "usage.completion_tokens is missing")
  if (Number(used) > most) return finding("ignored", `${used} tokens, but at most ${most} are allowed`)
  const isShort =
    Number(used) === most && choices.some(({ finish }) => finish !== "length" && finish !== "stop")
  return malformed(problems) ?? (isShort ? finding("wrong", "finish_reason is not length") : honoured)
}

function choiceCases(ask: Asker): ApiCase[] {
  const constraint = new Constraint({ kind: "json", schema })
  const rows: [name: string, n: number, fields: JsonObject][] = [
    ["n: 3", 3, { max_tokens: 8 }],
    ["n: 3, with a schema", 3, ask.schema(schema)],
    ["n: 3, with a schema, streamed", 3, { ...ask.schema(schema), stream: true }],
    ["n: 1", 1, { max_tokens: 8 }],
  ]
  return rows.map(
    ([name, n, fields]): ApiCase => ({
      ...{ area: "choices", name },
      requests: [ask.chat(prompt, { n, ...fields })],
      judge: (replies) => {
        const { choices } = read(replies[0])
        if (choices.length !== n) return finding("ignored", `${choices.length} choices for n: ${n}`)
        const indexes = choices.map(({ index }) => index)
        if (indexes.some((index, at) => index !== at))
          return finding("wrong", `the indexes are ${indexes.join(", ")}`)
        const hasSchema = "response_format" in fields
        return eachChoice((choice) => (hasSchema ? textOf(choice, constraint) : honoured))(replies)
      },
    }),
  )
}

function seedCases(ask: Asker): ApiCase[] {
  const rows: [name: string, fields: JsonObject][] = [
    ["the same seed, the same text", { seed: 11, temperature: 1.2 }],
    ["the same seed, with a schema", { seed: 11, temperature: 1.2, ...ask.schema(wide) }],
    ["temperature 0 repeats", { temperature: 0 }],
  ]
  return rows.map(([name, fields]): ApiCase => {
    const request = ask.chat(prompt, { max_tokens: 24, ...fields })
    return {
      ...{ area: "seed", name, isSentOnce: true },
      requests: [request, request],
      judge: (replies) => {
        const [one, other] = replies.map(readChat)
        const faults = malformed([...one.problems, ...other.problems])
        if (faults !== null) return faults
        const [text, again] = [one, other].map(({ choices }) => choices[0].content)
        return text === again
          ? honoured
          : finding(
              "ignored",
              `${JSON.stringify(text)?.slice(0, 60)}, then ${JSON.stringify(again)?.slice(0, 60)}`,
            )
      },
    }
  })
}

const wide =
  '{"type":"object","properties":{"a":{"type":"string","minLength":8,"maxLength":16}},"required":["a"],"additionalProperties":false}'

function logprobCases(ask: Asker): ApiCase[] {
  const rows: [name: string, top: number | null, fields: JsonObject][] = [
    ["logprobs", null, { logprobs: true }],
    ["top_logprobs: 3", 3, { logprobs: true, top_logprobs: 3 }],
    ["top_logprobs: 0", 0, { logprobs: true, top_logprobs: 0 }],
    ["with a schema", 2, { logprobs: true, top_logprobs: 2, ...ask.schema(schema) }],
  ]
  const asked = rows.map(
    ([name, top, fields]): ApiCase => ({
      ...{ area: "logprobs", name },
      requests: [ask.chat(prompt, { max_tokens: 12, ...fields })],
      judge: eachChoice((choice) => logprobForm(choice, top, "response_format" in fields)),
    }),
  )
  return [
    ...asked,
    {
      ...{ area: "logprobs", name: "streamed" },
      requests: [ask.chat(prompt, { max_tokens: 12, logprobs: true, stream: true })],
      judge: eachChoice(({ logprobs }) =>
        listOf(fieldsOf(logprobs).content).length > 0
          ? honoured
          : finding("ignored", "no event has logprobs"),
      ),
    },
    {
      ...{ area: "logprobs", name: "none if not asked for" },
      requests: [ask.chat(prompt, { max_tokens: 4 })],
      judge: eachChoice(({ logprobs }) =>
        logprobs === null || logprobs === undefined
          ? honoured
          : finding("wrong", "logprobs that were not asked for"),
      ),
    },
  ]
}

/** A row for each token: its text, its log-probability, and the likeliest tokens in order. */
function logprobForm({ logprobs, content }: ChatChoice, top: number | null, isConstrained: boolean): Finding {
  const rows = listOf(fieldsOf(logprobs).content).map(fieldsOf)
  if (rows.length === 0) return finding("ignored", "the choice has no logprobs.content")
  for (const [at, { token, logprob, top_logprobs }] of rows.entries()) {
    if (typeof token !== "string") return finding("wrong", `row ${at} has no token`)
    if (typeof logprob !== "number" || logprob > 0)
      return finding("wrong", `row ${at} has the logprob ${logprob}`)
    const listed = listOf(top_logprobs).map((each) => Number(fieldsOf(each).logprob))
    if (top === null) continue
    // The chosen token may be listed behind the likeliest ones. A schema may leave fewer tokens.
    const least = isConstrained ? Math.min(1, top) : top
    if (listed.length < least || listed.length > top + 1)
      return finding("ignored", `row ${at} has ${listed.length} top_logprobs, not ${top}`)
    if (listed.slice(0, top).some((value, i) => i > 0 && value > listed[i - 1]))
      return finding("wrong", `row ${at}: top_logprobs are not in order`)
  }
  const joined = rows.map(({ token }) => token).join("")
  const isAscii = /^[\x20-\x7e]*$/.test(content ?? "")
  const isText = !isAscii || joined.trim().startsWith((content ?? "").trim())
  return isText ? honoured : finding("wrong", `the tokens spell ${JSON.stringify(joined.slice(0, 60))}`)
}

/** A schema holds however reasoning is switched, and thoughts come before the text. */
function reasoningCases(ask: Asker): ApiCase[] {
  const rows: [name: string, fields: JsonObject][] = [
    ["on by effort", { reasoning_effort: "low" }],
    ["off by effort", { reasoning_effort: "none" }],
    ["on by an argument of the template", { chat_template_kwargs: { enable_thinking: true } }],
    ["off by an argument of the template", { chat_template_kwargs: { enable_thinking: false } }],
    ["off in the text", { messages: [{ role: "user", content: `${prompt} /no_think` }] }],
  ]
  const constraint = new Constraint({ kind: "json", schema })
  return [
    ...rows.map(
      ([name, fields]): ApiCase => ({
        ...{ area: "reasoning", name: `a schema, reasoning ${name}` },
        requests: [ask.chat(prompt, { ...ask.schema(schema), ...fields }, 256)],
        judge: eachChoice((choice) => textOf(choice, constraint)),
      }),
    ),
    {
      ...{ area: "reasoning", name: "thoughts come before the text, streamed" },
      requests: [ask.chat(prompt, { ...ask.schema(schema), reasoning_effort: "low", stream: true }, 256)],
      judge: ([reply]) => thoughtsFirst(readStream(reply)),
    },
  ]
}

function thoughtsFirst({ problems, chunks }: ReturnType<typeof readStream>): Finding {
  const deltas = chunks.flatMap(({ choices }) =>
    listOf(choices).map((choice) => fieldsOf(fieldsOf(choice).delta)),
  )
  const isThought = ({ reasoning, reasoning_content }: (typeof deltas)[number]) =>
    Boolean(reasoning || reasoning_content)
  const text = deltas.findIndex(({ content }) => Boolean(content))
  const late = text >= 0 && deltas.slice(text + 1).some(isThought)
  return malformed(problems) ?? (late ? finding("wrong", "a thought follows the text") : honoured)
}
