import { expect, test } from "vitest"
import { type CompileOptions, compile, type GrammarInput, OptionError } from "../../grammar/index.ts"
import { checkOptions, type Fields } from "../../grammar/options.ts"
import { policyWord, policyWords } from "../../grammar/policies.ts"
import { TokenFsm } from "../../mask/index.ts"
import { acceptsText, jsonVocabulary } from "../support/oracle.ts"

const fields: Fields = {
  count: "number",
  isPlain: "boolean",
  name: "text",
  names: "texts",
  documents: "textmap",
  list: "list",
  log: "function",
  part: { fields: { least: "number" } },
  mode: { words: ["thread", "none"] },
  anything: "any",
}

test.each<[unknown, string | RegExp | null]>([
  [{}, null],
  [
    { count: 1, isPlain: false, name: "", names: ["a"], documents: { a: "b" }, list: [1], log: () => {} },
    null,
  ],
  [{ count: null, name: undefined, mode: "none", part: { least: 0 }, anything: Symbol.iterator }, null],
  [{ cuont: 1 }, "cuont: unknown name. Did you mean count?"],
  [{ zzz: undefined }, /^zzz: unknown name. The known names are count, isPlain/],
  [{ other: 1 }, "other: unknown name. Did you mean count?"],
  [{ toString: 1 }, /^toString: unknown name/],
  [{ count: "1" }, 'count: "1" is not a number'],
  [{ isPlain: "false" }, 'isPlain: "false" is not true or false'],
  [{ name: 5 }, "name: 5 is not a string"],
  [{ names: "a" }, 'names: "a" is not a list of strings'],
  [{ names: ["a", 1] }, "names: a list is not a list of strings"],
  [{ documents: { a: {} } }, "documents: an object is not an object of strings"],
  [{ list: {} }, "list: an object is not a list"],
  [{ log: true }, "log: true is not a function"],
  [{ part: { lest: 1 } }, "part.lest: unknown name. Did you mean least?"],
  [{ part: 1 }, "part: 1 is not an object of options"],
  [{ mode: "threads" }, 'mode: "threads" is none of thread, none. Did you mean "thread"?'],
  [{ mode: ["none"] }, "mode: a list is none of thread, none"],
  [null, "options: null is not an object of options"],
  [[], "options: a list is not an object of options"],
  ["x".repeat(100), /^options: "x{56}… is not an object/],
])("%j: %s", (options, message) => {
  const check = () => checkOptions(options, fields, { aliases: { other: "count" } })
  if (message === null) expect(check).not.toThrow()
  else expect(check).toThrow(message)
})

test("an OptionError names the option, with its path", () => {
  expect(() => checkOptions({ part: { lest: 1 } }, fields)).toThrow(
    expect.objectContaining({ name: "OptionError", option: "part.lest" }),
  )
})

test.each<[GrammarInput | object | string, object, string | null]>([
  [{ kind: "regex", pattern: "a" }, {}, null],
  [
    { kind: "regex", pattern: "a" },
    { whitepace: "any" },
    "whitepace: unknown name. Did you mean whitespace?",
  ],
  [
    { kind: "regex", pattern: "a" },
    { limits: { node: 5 } },
    "limits.node: unknown name. Did you mean nodes?",
  ],
  [{ kind: "regex", pattern: "a" }, { limits: { nodes: Number.NaN } }, "limits.nodes: NaN is no bound"],
  [{ kind: "regex", pattern: "a" }, { limits: { nodes: undefined } }, null],
  [{ kind: "json", schema: {} }, { surface: "conforms" }, 'Did you mean "conform"?'],
  [{ kind: "json", schema: {} }, { documents: { "urn:a": {} } }, "documents: an object is not an object of"],
  [{ kind: "jsno", schema: {} }, {}, 'kind: "jsno" is none of json, regex'],
  [{ kind: "regex", pattern: "a", flag: "i" }, {}, "flag: unknown name. Did you mean flags?"],
  [{ kind: "regex", pattern: /a/ }, {}, "pattern: an object is not a string"],
  [{ kind: "json", schema: undefined }, {}, "schema: it is undefined"],
  [{ kind: "json" }, {}, "schema: it is missing"],
  [{ kind: "tag" }, {}, "format: it is missing"],
  [{ kind: "choice", options: ["a", 1] }, {}, "options: a list is not a list of strings"],
  [{ kind: "substring" }, {}, "text: it is missing"],
  [{ kind: "substring", chunks: ["a"] }, {}, null],
  [
    { kind: "lark", text: "start: @a", named: { a: { kind: "regx", pattern: "a" } } },
    {},
    'Did you mean "regex"?',
  ],
  ["{}", {}, "input: {} is not a constraint"],
])("compile(%j, %j): %s", (input, options, message) => {
  const call = () => compile(input as GrammarInput, options as CompileOptions)
  if (message === null) expect(call).not.toThrow()
  else {
    expect(call).toThrow(OptionError)
    expect(call).toThrow(message)
  }
})

test.each(["order", "whitespace", "escapes", "numbers", "formats"] as const)("the words of %s", (name) => {
  const { words, older } = policyWords[name]
  for (const word of words) expect(policyWord(name, word)).toBe(word)
  for (const [old, word] of Object.entries(older)) {
    expect(words).toContain(policyWord(name, old))
    expect(policyWord(name, old)).toBe(word)
  }
  expect(policyWord(name, null)).toBeUndefined()
  for (const value of ["", "bounde", 1, {}]) expect(() => policyWord(name, value)).toThrow(/is none of/)
})

test("an older word gives the masks of the new one", () => {
  const texts = ['{"a":1}', '{"a": 1}', '{ "a": 1 }']
  const verdicts = (whitespace: CompileOptions["whitespace"]) => {
    const { grammar } = compile({ kind: "json", schema: { type: "object", required: ["a"] } }, { whitespace })
    const fsm = new TokenFsm(grammar, jsonVocabulary)
    return texts.map((text) => acceptsText(fsm, text))
  }
  expect(verdicts("compact")).toEqual(verdicts("none"))
  expect(verdicts("tight")).toEqual(verdicts("spaced"))
  expect(verdicts("flexible")).toEqual(verdicts("bounded"))
  expect(verdicts("none")).toEqual([true, false, false])
})
