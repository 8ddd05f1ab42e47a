/** Values of schemas inside of structural tags: as JSON, or as the arguments of a tool-call style that writes them one by one. */
import type { Rules } from "../ebnf/rules.ts"
import type { Limits } from "../errors.ts"
import type { Grammar } from "../grammar.ts"
import { compileJsonSchema, type JsonOptions } from "../json/compile.ts"
import { fromValue, toText } from "../json/read/reader.ts"
import { styles } from "./styles/all.ts"
import { openArguments } from "./styles/arguments.ts"
import { parameterForms } from "./styles/parameterforms.ts"
import { parameterArguments } from "./styles/parameters.ts"
import type { Parameter, Style } from "./styles/style.ts"

/** How the values of a schema are written. */
export interface SchemaStyle {
  readonly style: string
  readonly anyOrder: boolean
  /** Texts that no string of a value holds. */
  readonly excludes: readonly string[]
}

const argumentStyles = new Map<string, { style: Style; parameter: Parameter }>()
for (const style of styles) {
  const parameter = style.blocks.find((block) => block.parameter !== undefined)?.parameter
  if (parameter !== undefined) argumentStyles.set(style.name, { style, parameter })
}

/** The styles that a schema may name. */
export const schemaStyles: readonly string[] = ["json", ...argumentStyles.keys()]

/** The values of `schema`. Places of what is refused are pointers into it. */
export function compileSchema(
  schema: unknown,
  { style, anyOrder, excludes }: SchemaStyle,
  rules: Rules,
  options: Omit<JsonOptions, "key">,
): Grammar {
  const policy = anyOrder ? { ...options.policy, order: "any" as const } : options.policy
  const own = { ...options, policy, excludes: [...(options.excludes ?? []), ...excludes] }
  const known = argumentStyles.get(style)
  if (known === undefined) {
    const compile = (of: unknown, isChecked: boolean) => {
      const key = () => JSON.stringify([of, anyOrder, excludes])
      return compileJsonSchema(of, { ...own, key, isChecked }).grammar
    }
    return rules.schemas.of(schema, compile, (of) => textOf(of, own.limits))
  }
  const { controls } = known.style
  const forms = parameterForms(rules, known.parameter, controls)
  const tool = { name: "", schema, path: "", isCustom: false, lark: null }
  const kept = [...new Set([...own.excludes, ...controls, ...forms.excludes])]
  return parameterArguments(openArguments(tool, { ...own, excludes: kept }), forms)
}

/** `schema` as a text, which nobody changes; null where it is longer than a text may be. */
function textOf(schema: unknown, limits: Limits): string | null {
  if (typeof schema === "string") return schema
  const text = toText(fromValue(schema, { maxDepth: limits.schemaDepth }))
  return text.length > limits.schemaBytes ? null : text
}
