/**
 * Values of schemas inside structural tags: as JSON, or as the arguments of a tool-call style that
 * writes them one by one.
 */
import type { Rules } from "../ebnf/rules.ts"
import { GrammarError, type Limits } from "../errors.ts"
import type { Grammar } from "../grammar.ts"
import { compileJsonSchema, type JsonOptions } from "../json/compile.ts"
import { Types } from "../json/facts/conjunction.ts"
import { fromValue, toText } from "../json/read/reader.ts"
import { withMostWhitespace } from "../json/spelling.ts"
import { styles } from "./styles/all.ts"
import { type Arguments, openArguments } from "./styles/arguments.ts"
import { parameterForms } from "./styles/parameterforms.ts"
import { parameterArguments } from "./styles/parameters.ts"
import type { Parameter, Style } from "./styles/style.ts"
import { key, value, wire } from "./styles/wire.ts"

/** The style in which the values of a schema are written. */
export interface SchemaStyle {
  readonly style: string
  readonly anyOrder: boolean
  /**
   * Most characters of white space in a row between the parts of a value; null to follow the
   * policy.
   */
  readonly maxWhitespace: number | null
  /** Texts that no string of a value contains. */
  readonly excludes: readonly string[]
}

const argumentStyles = new Map<string, { style: Style; parameter: Parameter }>()
for (const style of styles) {
  const parameter = style.blocks.find((block) => block.parameter !== undefined)?.parameter
  if (parameter !== undefined) argumentStyles.set(style.name, { style, parameter })
}

/** Cohere's elements, for scalars only: other values would be nested elements. */
const cohere = (type: string) => wire`<cofl:value name="${key}" type="${type}">${value}</cofl:value>`
const cohereXml: { controls: readonly string[]; parameter: Parameter } = {
  controls: [],
  parameter: {
    forms: [
      { types: ["string"], wire: cohere("raw") },
      { types: ["number", "boolean", "null"], wire: cohere("json") },
    ],
  },
}

/** XGrammar's names of styles. */
const otherNames: Readonly<Record<string, string>> = {
  kimi_k3_xml: "kimi_k3",
  deepseek_v4_1_xml: "deepseek_v4_1",
}

/** The styles that a schema may name. */
export const schemaStyles: readonly string[] = [
  "json",
  ...argumentStyles.keys(),
  ...Object.keys(otherNames),
  "cohere_xml",
]

/**
 * Returns the grammar of the values of `schema`. The paths of its errors are pointers into the
 * schema.
 */
export function compileSchema(
  schema: unknown,
  { style, anyOrder, maxWhitespace, excludes }: SchemaStyle,
  rules: Rules,
  options: Omit<JsonOptions, "key">,
): Grammar {
  const ordered = anyOrder ? { ...options.policy, order: "any" as const } : options.policy
  const policy = withMostWhitespace(ordered, maxWhitespace)
  const own = { ...options, policy, excludes: [...(options.excludes ?? []), ...excludes] }
  if (style === "json") {
    const compile = (of: unknown, isChecked: boolean) => {
      const key = () => JSON.stringify([of, anyOrder, maxWhitespace, excludes])
      return compileJsonSchema(of, { ...own, key, isChecked }).grammar
    }
    return rules.schemas.of(schema, compile, (of) => textOf(of, own.limits))
  }
  const named = argumentStyles.get(otherNames[style] ?? style)
  const { controls, parameter } =
    named === undefined ? cohereXml : { controls: named.style.controls, parameter: named.parameter }
  const most = maxWhitespace ?? (policy.whitespace === "any" ? Number.POSITIVE_INFINITY : MaxGap)
  const forms = parameterForms(rules, parameter, controls, parameter.notation === "python" ? null : most)
  const tool = { name: "", schema, path: "", isCustom: false, lark: null }
  const kept = [...new Set([...own.excludes, ...controls, ...forms.excludes])]
  const args = openArguments(tool, { ...own, excludes: kept })
  if (named === undefined) refuseContainers(args)
  return parameterArguments(args, forms)
}

/** Most characters of white space between elements, if nothing else is given. */
const MaxGap = 32

function refuseContainers({ specs, language }: Arguments): void {
  for (const { names, classes } of specs) {
    for (const each of [...names, ...classes]) {
      if (language.stepsOfTypes(each.value, Types.object | Types.array).length === 0) continue
      const what =
        "name" in each ? `the property ${JSON.stringify(each.name)}` : "a property that is not declared"
      const wayOut =
        'Let properties be strings, numbers, booleans and null, with "additionalProperties": false'
      throw new GrammarError(
        "unsupported",
        language.all.pathOf(each.value),
        `${what} may be an object or an array, which cohere_xml writes as elements within elements. ${wayOut}`,
      )
    }
  }
}

/**
 * Returns `schema` as JSON text, so that later changes of the object have no effect; null if the
 * text would be too long.
 */
function textOf(schema: unknown, limits: Limits): string | null {
  if (typeof schema === "string") return schema
  const text = toText(fromValue(schema, { maxDepth: limits.schemaDepth }))
  return text.length > limits.schemaBytes ? null : text
}
