/** Calls of functions: what is accepted and refused, and the checker of TypeScript on random walks beside the declarations. */
import { ts } from "@ts-morph/common"
import { describe, expect, test } from "vitest"
import { callGrammar, callTypes, GrammarError } from "../../../grammar/index.ts"
import { DeadState, States } from "../../../grammar/state.ts"
import { utf8 } from "../../../grammar/utf8.ts"
import { randomOf } from "../../support/oracle.ts"
import { randomSchema } from "../../support/randomschemas.ts"
import { randomText } from "../../support/randomtext.ts"

const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] }
const closed = { ...path, additionalProperties: false }
const tools = [
  {
    type: "function" as const,
    function: { name: "files.read", description: "Reads */ a file.", parameters: closed },
  },
  { name: "files.delete", parameters: closed },
  { name: "files", parameters: path },
  { name: "now" },
]

const cases: readonly [
  name: string,
  options: Parameters<typeof callGrammar>[1],
  accept: string[],
  reject: string[],
][] = [
  [
    "one call",
    {},
    ['files.read({"path": "a"})', 'files({"path":"a"})', "now()", 'files.delete({"path": "\\n"})'],
    [
      "",
      "now({})",
      "files.read()",
      'files.read({"paht": "a"})',
      "now();",
      "await now()",
      "now();\nnow()",
      "later()",
    ],
  ],
  [
    "calls that are awaited",
    { await: "always", maxCalls: 2 },
    ["await now()", 'await now();\nawait files({"path": "a"})'],
    ["now()", "await now();\nnow()", "await now();\nawait now();\nawait now()"],
  ],
  [
    "any number of calls",
    { await: "optional", maxCalls: Number.POSITIVE_INFINITY },
    ["now()", "await now();\nnow();\nnow();\nawait now()"],
    ["now(); now()", "now()\nnow()"],
  ],
]

test.each(cases)("%s", (_, options, accept, reject) => {
  const states = new States(callGrammar(tools, options))
  const accepts = (text: string) => states.isAccepting(states.advance(states.start, utf8(text)))
  expect(accept.filter((text) => !accepts(text))).toEqual([])
  expect(reject.filter(accepts)).toEqual([])
})

test("the declarations say what the grammar takes", () => {
  expect(callTypes(tools)).toMatchInlineSnapshot(`
    "declare const files: {
      (args: { "path": string; [key: string]: unknown }): unknown
      read: {
        /** Reads * / a file. */
        (args: { "path": string }): unknown
      }
      delete: {
        (args: { "path": string }): unknown
      }
    }
    declare const now: {
      (): unknown
    }
    "
  `)
})

const mistakes: readonly [name: string, tools: unknown, options: object, kind: string, path: string][] = [
  ["no tools", [], {}, "syntax", ""],
  ["a tool of another type", [{ type: "web_search" }], {}, "unsupported", "/0/type"],
  ["a name that is none", [{ name: "get-time" }], {}, "syntax", "/0/name"],
  ["a reserved word", [{ name: "delete" }], {}, "syntax", "/0/name"],
  ["an empty segment", [{ type: "function", function: { name: "a..b" } }], {}, "syntax", "/0/function/name"],
  ["one name twice", [{ name: "a" }, { name: "a" }], {}, "syntax", "/1/name"],
  [
    "an argument that is a text",
    [{ name: "a", parameters: { type: "string" } }],
    {},
    "unsupported",
    "/0/parameters/type",
  ],
  [
    "a schema that nothing satisfies",
    [{ name: "a", parameters: { type: "object", required: ["b"], properties: { b: false } } }],
    {},
    "unsatisfiable",
    "/0/parameters/required",
  ],
  ["half a call", [{ name: "a" }], { maxCalls: 0.5 }, "syntax", "maxCalls"],
]

test.each(mistakes)("%s is refused", (_, wrong, options, kind, path) => {
  let error: unknown
  try {
    callGrammar(wrong as never, options)
  } catch (thrown) {
    error = thrown
  }
  expect(error).toBeInstanceOf(GrammarError)
  expect([(error as GrammarError).kind, (error as GrammarError).path]).toEqual([kind, path])
})

/** Schemas of all that types say, and some of what they leave out. */
const handwritten: readonly object[] = [
  { type: "object", properties: { a: { enum: ["x", 1, null, true, [1, "b"], { c: [] }] } }, required: ["a"] },
  { type: "object", properties: { a: { const: { b: [1, { c: null }] } } }, additionalProperties: false },
  {
    type: "object",
    properties: {
      shape: {
        anyOf: [
          {
            type: "object",
            properties: { kind: { const: "circle" }, r: { type: "number", minimum: 0 } },
            required: ["kind", "r"],
            additionalProperties: false,
          },
          {
            type: "object",
            properties: { kind: { const: "box" }, w: { type: "integer" }, h: { type: "integer" } },
            required: ["kind"],
            additionalProperties: false,
          },
        ],
      },
      list: {
        type: "array",
        items: {
          oneOf: [
            { type: "string", pattern: "^a*$" },
            { type: "object", properties: { b: { type: "boolean" } }, additionalProperties: false },
          ],
        },
      },
    },
    required: ["shape"],
    additionalProperties: false,
  },
  { type: "object", additionalProperties: { type: ["string", "null"] } },
  { type: "object", properties: {}, additionalProperties: false },
  {
    type: "object",
    allOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      {
        type: "object",
        properties: { b: { type: "array", items: { type: "array", items: {} } } },
        required: ["b", "c"],
      },
    ],
  },
  {
    type: "object",
    patternProperties: { "^n": { type: "number" } },
    additionalProperties: false,
    properties: { a: { type: ["boolean", "array"], maxItems: 2, prefixItems: [{ type: "null" }] } },
  },
  {
    type: "object",
    properties: { tree: { $ref: "#/$defs/tree" } },
    $defs: { tree: { type: "object", properties: { next: { $ref: "#/$defs/tree" } } } },
  },
]

/** What the checker says of modules, each a text. Those of one list are checked together. */
function diagnostics(modules: readonly string[]): string[] {
  const files = new Map(modules.map((text, i) => [`/${i}.ts`, text]))
  // All of the library that declarations and literals need.
  files.set(
    "/lib.d.ts",
    "interface Array<T> { length: number; [n: number]: T }\ninterface Boolean {}\ninterface CallableFunction {}\n" +
      "interface Function {}\ninterface IArguments {}\ninterface NewableFunction {}\ninterface Number {}\n" +
      "interface Object {}\ninterface RegExp {}\ninterface String {}\n",
  )
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    noLib: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    types: [],
  }
  const host: ts.CompilerHost = {
    getSourceFile: (name, version) => {
      const text = files.get(name)
      return text === undefined ? undefined : ts.createSourceFile(name, text, version)
    },
    getDefaultLibFileName: () => "/lib.d.ts",
    writeFile: () => {},
    getCurrentDirectory: () => "/",
    getCanonicalFileName: (name) => name,
    useCaseSensitiveFileNames: () => true,
    getNewLine: () => "\n",
    fileExists: (name) => files.has(name),
    readFile: (name) => files.get(name),
  }
  const program = ts.createProgram([...files.keys()], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
    return `${ts.flattenDiagnosticMessageText(messageText, "\n")}\n${file?.text ?? ""}`
  })
}

describe("the checker", () => {
  test("refuses what the declarations refuse", () => {
    const wrong = ['files.read({"paht": "a"})', "now({})", 'files.delete({"path": 1})', "later()"]
    const found = diagnostics(wrong.map((text) => `${callTypes(tools)}${text}\nexport {}\n`))
    expect(found.length).toBe(wrong.length)
  })

  test("has nothing to say of 1,200 random walks", { timeout: 120_000 }, () => {
    const modules: string[] = []
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomOf(seed)
      const schemas = [randomSchema(seed), handwritten[seed % handwritten.length], randomSchema(1_000 + seed)]
      const some = schemas.map((parameters, i) => ({
        name: ["one", "ns.two", "ns.deep.delete"][i],
        parameters,
      }))
      const declared = callTypes([...some, { name: "none" }])
      const states = new States(callGrammar([...some, { name: "none" }], { await: "optional", maxCalls: 3 }))
      for (let walk = 0; walk < 20; walk++) {
        const text = randomText(states, random, 300)
        expect(states.advance(states.start, utf8(text))).not.toBe(DeadState)
        modules.push(`${declared}${text}\nexport {}\n`)
      }
    }
    expect(modules.length).toBe(1_200)
    expect(diagnostics(modules)).toEqual([])
  })
})
