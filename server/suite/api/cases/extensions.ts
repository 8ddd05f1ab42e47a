/**
 * Cases of constraints beyond OpenAI's API: those of vLLM, SGLang and llama.cpp. A server may
 * refuse them; to reply with 200 and ignore them is the failure that this suite is about.
 */
import type { GrammarInput } from "../../../../runtime/index.ts"
import type { Asker } from "../ask.ts"
import { type ApiCase, type JsonObject, RawJson } from "../case.ts"
import { Constraint } from "../constraint.ts"
import { isRefused, textObeys } from "../judges.ts"

const regexes: readonly (readonly [name: string, pattern: string])[] = [
  ["a serial number", "[A-F]{2}-[0-9]{4}/zz"],
  ["alternatives", "(zork|qlax)(;(zork|qlax)){2}"],
  ["a Unicode class", "\\p{Lu}{3}_\\d"],
  ["lookahead", "(?=.*[0-9])(?=.*[A-Z])[0-9A-Z]{8}"],
  ["beyond the basic plane", "[🜁-🜄]{2}"],
]
const grammars: readonly (readonly [name: string, text: string])[] = [
  ["a literal", 'root ::= "zz-" [0-9] [0-9] "-q"'],
  ["repetition", 'root ::= ("ab" | "cd"){3} "!"'],
  ["recursion", 'root ::= "(" root ")" | "x9"'],
  ["rules", 'root ::= item ("," item)*\nitem ::= "q" [1-3] | "w"'],
]
const choices: readonly (readonly [name: string, options: string[]])[] = [
  ["two words", ["zq-kappa", "vrrm-9"]],
  ["common beginnings", ["art", "artful", "artfully-9"]],
  ["unicode", ["ключ-ж", "日本x語"]],
]
const schema =
  '{"type":"object","properties":{"a":{"enum":["qx-7","wv-3"]}},"required":["a"],"additionalProperties":false}'
const lark = 'start: "zz-" NUMBER "-q"\nNUMBER: /[0-9]{2}/'

type Row = readonly [name: string, fields: JsonObject, input: GrammarInput]

export function extensionCases(ask: Asker): ApiCase[] {
  const rows = [...regexRows(), ...grammarRows(), ...choiceRows(), ...otherRows()]
  const constrained = rows.map(
    ([name, fields, input]): ApiCase => ({
      area: "extensions",
      name,
      requests: [ask.chat("Write a sentence about the sea.", fields)],
      judge: textObeys(new Constraint(input)),
    }),
  )
  const refused = refusals.map(
    ([name, fields]): ApiCase => ({
      ...{ area: "extensions", name, isSentOnce: true },
      expectsRefusal: true,
      requests: [ask.chat("Write a sentence about the sea.", { ...fields, max_tokens: 16 })],
      judge: isRefused,
    }),
  )
  return [...constrained, ...refused]
}

function regexRows(): Row[] {
  return [
    ...regexes.map(
      ([name, pattern]): Row => [
        `structured_outputs.regex, ${name}`,
        { structured_outputs: { regex: pattern } },
        { kind: "regex", pattern },
      ],
    ),
    ...["guided_regex", "regex"].map(
      (field): Row => [field, { [field]: regexes[0][1] }, { kind: "regex", pattern: regexes[0][1] }],
    ),
    ...["regex", "pattern"].map(
      (key): Row => [
        `response_format of type regex, ${key}`,
        { response_format: { type: "regex", [key]: regexes[1][1] } },
        { kind: "regex", pattern: regexes[1][1] },
      ],
    ),
  ]
}

function grammarRows(): Row[] {
  const [, literal] = grammars[0]
  const input: GrammarInput = { kind: "gbnf", text: literal }
  return [
    ...grammars.map(([name, text]): Row => [`grammar, ${name}`, { grammar: text }, { kind: "gbnf", text }]),
    ...grammars.map(
      ([name, text]): Row => [
        `structured_outputs.grammar, ${name}`,
        { structured_outputs: { grammar: text } },
        { kind: "gbnf", text },
      ],
    ),
    ["guided_grammar", { guided_grammar: literal }, input],
    ["ebnf", { ebnf: literal }, input],
    ["response_format of type grammar", { response_format: { type: "grammar", grammar: literal } }, input],
    [
      "structured_outputs.grammar, in Lark",
      { structured_outputs: { grammar: lark } },
      { kind: "lark", text: lark },
    ],
  ]
}

function choiceRows(): Row[] {
  return [
    ...choices.map(
      ([name, options]): Row => [
        `structured_outputs.choice, ${name}`,
        { structured_outputs: { choice: options } },
        { kind: "choice", options },
      ],
    ),
    ["guided_choice", { guided_choice: choices[0][1] }, { kind: "choice", options: choices[0][1] }],
  ]
}

function otherRows(): Row[] {
  const input: GrammarInput = { kind: "json", schema }
  const raw = new RawJson(schema)
  const anyObject: GrammarInput = { kind: "json", schema: '{"type":"object"}' }
  const tag = { type: "tag", begin: "<q9>", content: { type: "regex", pattern: "[0-9]{3}" }, end: "</q9>" }
  return [
    ["structured_outputs.json", { structured_outputs: { json: raw } }, input],
    ["structured_outputs.json, as a text", { structured_outputs: { json: schema } }, input],
    ["guided_json", { guided_json: raw }, input],
    ["json_schema", { json_schema: raw }, input],
    [
      "response_format of type json_object, schema",
      { response_format: { type: "json_object", schema: raw } },
      input,
    ],
    [
      "response_format of type json_schema, schema",
      { response_format: { type: "json_schema", schema: raw } },
      input,
    ],
    ["structured_outputs.json_object", { structured_outputs: { json_object: true } }, anyObject],
    [
      "structural tag",
      { response_format: { type: "structural_tag", format: tag } },
      { kind: "regex", pattern: "<q9>[0-9]{3}</q9>" },
    ],
  ]
}

const refusals: readonly (readonly [name: string, fields: JsonObject])[] = [
  ["two constraints at once", { structured_outputs: { regex: "a+", choice: ["b"] } }],
  ["two fields at once", { guided_regex: "a+", response_format: { type: "json_object" } }],
  ["an unknown constraint", { structured_outputs: { regexp: "[0-9]{3}" } }],
  ["a misspelt field", { guided_jsonn: { type: "object" } }],
  ["a misspelt response format", { reponse_format: { type: "json_object" } }],
  ["a regex that is none", { structured_outputs: { regex: "([0-9" } }],
  ["a grammar that is none", { grammar: "root ::= (" }],
  ["a grammar without its rule", { grammar: "root ::= missing" }],
  ["an empty choice", { structured_outputs: { choice: [] } }],
]
