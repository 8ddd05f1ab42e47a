/**
 * Constraints that are hard to compile, to mask or to finish, and clients that leave while that goes on.
 */
import { setTimeout } from "node:timers/promises"
import { bombText } from "../../support/bombs/bombs.ts"
import { type Answer, chat, chatBody, send } from "../requests.ts"
import { type Kind, type Kinds, MiB, repeat } from "./kind.ts"

const regex =
  (make: () => string, more: object = {}): Kind =>
  async (port) => [await chat(port, { structured_outputs: { regex: make() }, ...more })]

const json =
  (make: () => unknown, more: object = {}): Kind =>
  async (port) => [await chat(port, { structured_outputs: { json: make() }, ...more })]

const choice =
  (make: () => string[]): Kind =>
  async (port) => [await chat(port, { structured_outputs: { choice: make() } })]

const stopRegex =
  (patterns: string | string[], text = "a{1,400}"): Kind =>
  async (port) => [
    await chat(port, { stop_regex: patterns, structured_outputs: { regex: text }, max_tokens: 400 }),
  ]

/** A schema bomb, which keeps the spelling of its numbers. */
const bomb =
  (name: string, more: object = {}): Kind =>
  async (port) => [await chat(port, { structured_outputs: { json: JSON.parse(bombText(name)) }, ...more })]

/** Compiles for seconds. No two numbers make the same work, so that nothing is remembered. */
const slowSchema = (number: number): object => ({
  type: "array",
  prefixItems: repeat(8, (item) => ({
    type: "integer",
    minimum: 1,
    multipleOf: 1_000_000_007 + 1_000 * number,
    allOf: repeat(400, (i) => ({ not: { multipleOf: 1_000_003 + 2 * i + 1_000 * item + 100_000 * number } })),
  })),
  minItems: 8,
})

/** Open objects that differ by what they allow under one name: each text keeps all of them alive. */
const multiplying = (count: number, depth: number): unknown =>
  depth === 0
    ? { type: "string" }
    : {
        oneOf: repeat(count, (i) => ({
          type: "object",
          properties: {
            k: { type: "string", minLength: i },
            [`p${i}`]: { type: "integer" },
            next: multiplying(count, depth - 1),
          },
        })),
      }

const chained = (count: number) => ({
  type: "object",
  oneOf: repeat(count, (i) => ({
    properties: { k: { type: "string", minLength: i }, [`p${i}`]: { type: "integer" } },
  })),
})

export const constraintKinds: Kinds = {
  "regex: a literal of 8 MiB": regex(() => "a".repeat(8 * MiB)),
  "regex: 200,000 alternatives": regex(() => repeat(200_000, (i) => `w${i}x`).join("|")),
  "regex: 100,000 brackets": regex(() => "(".repeat(100_000) + ")".repeat(100_000)),
  "regex: (a|aa)+$": regex(() => "(a|aa)+(b|bb|ab)*(a|aa)+c", { max_tokens: 60 }),
  "regex: ((a*)*)*b": regex(() => "((((a*)*)*)*)*b", { max_tokens: 60 }),
  "regex: (x+x+)+y, twenty times": regex(() => "(x+x+)+y".repeat(20), { max_tokens: 60 }),
  "regex: nested counts": regex(() => "((((a{1,100}b?){1,100}c?){1,100}d?){1,100}e?){1,100}"),
  "regex: a count of a million": regex(() => "(ab?c?){1000000}"),
  "regex: .{100000} of every letter": regex(() => "(?:.{100000}|[^x]{99999}y)"),
  "regex: counts out of step": regex(() => "(.{1,997}a){1,991}(.{1,983}b){1,977}(.{1,971}c){1,967}", {
    max_tokens: 60,
  }),
  "regex: exponential automaton": regex(() => "(a|b)*a(a|b){200}", { max_tokens: 60 }),
  "regex: intersections of lookaheads": regex(
    () => `${repeat(24, (i) => `(?=.*${String.fromCharCode(97 + i)}.{${i}})`).join("")}.{30,60}`,
    { max_tokens: 60 },
  ),
  "regex: negative lookaheads": regex(
    () => `${repeat(40, (i) => `(?!.*${String.fromCharCode(97 + (i % 26))}.{${i}}z)`).join("")}.*`,
    { max_tokens: 60 },
  ),
  "regex: lookbehinds": regex(
    () => `(.(?<=${repeat(12, (i) => `[a-${String.fromCharCode(98 + i)}].{${i}}`).join("|")}))+`,
  ),
  "regex: Unicode properties": regex(
    () =>
      "((?=\\p{L})(?=\\p{Script=Han}|\\p{Script=Latin})(?!\\p{Lu})(?=\\p{ID_Start})[^\\p{M}\\p{N}\\p{S}]){20,400}",
    { max_tokens: 60 },
  ),
  "regex: 2,000 Unicode classes": regex(() => "[\\p{L}\\p{N}&&[^\\p{Lu}]]\\P{Script=Greek}".repeat(1_000)),
  "regex: word boundaries": regex(() => "(\\b\\w+\\b.?){60}", { max_tokens: 60 }),
  "choice: 200,000": choice(() => repeat(200_000, (i) => `choice number ${i}`)),
  "choice: a million": choice(() => repeat(1_000_000, (i) => `c${i}`)),
  "choice: 2,000 prefixes of one text": choice(() => repeat(2_000, (i) => "a".repeat(i + 1))),
  "choice: one of 8 MiB": choice(() => ["word ".repeat(1.6 * MiB)]),
  "schema: 8 MiB of properties": json(() => ({
    type: "object",
    properties: Object.fromEntries(repeat(220_000, (i) => [`property_${i}`, { type: "integer" }])),
  })),
  "schema: 15 MiB of description": json(() => ({ type: "integer", description: "d".repeat(15 * MiB) })),
  "schema: an enum of 500,000": json(() => ({ enum: repeat(500_000, (i) => `value ${i}`) })),
  "schema: a const of 8 MiB": json(() => ({ const: "c".repeat(8 * MiB) })),
  "schema: a const of 500 levels": async (port) => [
    await send(port, {
      body: chatBody({}).replace(
        /\}$/,
        `,"structured_outputs":{"json":{"const":${"[".repeat(500)}1${"]".repeat(500)}}}}`,
      ),
    }),
  ],
  "schema: 100,000 $defs": json(() => ({
    $ref: "#/$defs/d0",
    $defs: Object.fromEntries(repeat(100_000, (i) => [`d${i}`, { $ref: `#/$defs/d${(i + 1) % 100_000}` }])),
  })),
  "schema: numbers with huge exponents": async (port) => [
    await send(port, {
      body: chatBody({}).replace(
        /\}$/,
        ',"structured_outputs":{"json":{"type":"number","minimum":1e1000000000,"multipleOf":1e-1000000000}}}',
      ),
    }),
    await send(port, {
      body: chatBody({}).replace(
        /\}$/,
        `,"structured_outputs":{"json":{"type":"integer","multipleOf":${"7".repeat(100_000)},"maximum":${"9".repeat(100_000)}}}}`,
      ),
    }),
  ],
  "schema: compiles as long as it may": async (port) => [
    await chat(port, { structured_outputs: { json: slowSchema(0) } }),
  ],
  "schema: slow report": async (port) => [
    await chat(port, {
      structured_outputs: { json: JSON.parse(bombText("wideObject")) },
      tokenrail: { report: true },
    }),
  ],
  "schema: in the prompt, 8 MiB": json(
    () => ({ type: "integer", description: "words and words ".repeat(MiB / 2) }),
    { tokenrail: { schema_in_prompt: true } },
  ),
  "schema: objects nested in oneOf": json(() => multiplying(7, 3), { max_tokens: 120 }),
  "schema: objects nested in oneOf, closed": json(() => multiplying(7, 3), {
    ...{ max_tokens: 120, tokenrail: { on_length: "close" } },
  }),
  "schema: oneOf of 120 open objects": json(() => chained(120), { max_tokens: 60 }),
  "schema: oneOf of 120 open objects, closed": json(() => chained(120), {
    ...{ max_tokens: 60, tokenrail: { on_length: "close" } },
  }),
  "schema: oneOf of 40, 64 answers, stream": async (port) => [
    await chat(port, {
      ...{ n: 64, max_tokens: 40, stream: true },
      structured_outputs: { json: chained(40) },
    }),
  ],
  "schema: slow masks, closed": bomb("uniqueManyObjectsReq", {
    max_tokens: 100,
    tokenrail: { on_length: "close" },
  }),
  "schema: long names": json(() => ({
    type: "object",
    properties: Object.fromEntries(repeat(40, (i) => [`${"n".repeat(100_000)}${i}`, { type: "integer" }])),
    required: repeat(40, (i) => `${"n".repeat(100_000)}${i}`),
  })),
  "stop_regex: exponential": stopRegex(["(a|aa)+$b", "(a+)+c", "(a*)*d", "((a|a)|(a|a))*e"]),
  "stop_regex: large counts": stopRegex(["(a{1,16}){1,16}b", "[^b]{256}", "a{0,255}c"]),
  "stop_regex: one of 8 MiB": stopRegex("a".repeat(8 * MiB)),
  "stop_regex: a million": stopRegex(repeat(1_000_000, () => "a")),
  "stop_regex: alternatives of Unicode": stopRegex([
    `(${repeat(3_000, (i) => `a{1,9}\\u{${(0x4e00 + i).toString(16)}}`).join("|")})`,
  ]),
  "two-second compilations: ten at once": (port) =>
    Promise.all(repeat(10, (i) => chat(port, { structured_outputs: { json: slowSchema(i + 1) } }))),
  "two-second compilations: thirty left after 100 ms": async (port) => {
    const answers: Answer[] = []
    for (let i = 0; i < 30; i++) {
      const fields = { structured_outputs: { json: slowSchema(i + 20) } }
      answers.push(await chat(port, fields, { signal: AbortSignal.timeout(100) }))
    }
    // Where nobody waits any more nothing is left to do: this one is answered at once.
    answers.push(await chat(port, { max_tokens: 1 }))
    return answers
  },
  "left while a mask is made": async (port) => {
    const answers: Answer[] = []
    for (let i = 0; i < 10; i++) {
      const fields = { structured_outputs: { json: multiplying(7, 3) }, max_tokens: 400, seed: i }
      answers.push(await chat(port, fields, { signal: AbortSignal.timeout(100 + 150 * i) }))
    }
    return answers
  },
  "left in the stream, forty times": async (port) => {
    const leave = async (i: number) => {
      await setTimeout(20 * i)
      const fields = { stream: true, max_tokens: 1_500, ignore_eos: true }
      return chat(port, fields, { leaveAfterBytes: 1 + 300 * (i % 10) })
    }
    return Promise.all(repeat(40, leave))
  },
}
