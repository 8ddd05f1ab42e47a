/**
 * `chat_template_kwargs`: further variables for the model's own chat template.
 *
 * They set variables that a template defines itself (`enable_thinking`, `builtin_tools`). They
 * cannot set the variables that the server sets (the messages, the tools, the special tokens) or
 * choose the template itself. The number and length of values are bounded, because a template may
 * repeat them any number of times.
 */
import type { GenerateOptions } from "../../../runtime/index.ts"
import { invalid, type Refusal } from "../../errors.ts"
import { quote } from "../../http/quote.ts"
import { checkBound, extentOf, wholeBounds } from "./bounds.ts"

/** Names that the server sets, that the caller may not set, and that Jinja defines. */
const reserved = new Set([
  ...[
    "messages",
    "tools",
    "documents",
    "conversation",
    "chat_template",
    "tokenize",
    "additional_special_tokens",
  ],
  ...["add_generation_prompt", "continue_final_message", "return_dict", "return_tensors"],
  ...["return_assistant_tokens_mask", "padding", "truncation", "max_length"],
  ...[
    "true",
    "false",
    "none",
    "True",
    "False",
    "None",
    "range",
    "namespace",
    "raise_exception",
    "strftime_now",
  ],
  ...["loop", "self", "caller", "varargs", "kwargs", "__proto__"],
])

/**
 * Checks an object whose number of keys has already been bounded, see bounds.ts. Throws `Refusal`
 * that names the key.
 */
export function checkTemplateKwargs(kwargs: object): void {
  const { kwargs: values, kwargsUnits: units, kwargsLevels: levels } = wholeBounds
  let valueCount = 0
  let unitCount = 0
  for (const [key, value] of Object.entries(kwargs)) {
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(key)) {
      throw refusal(
        "chat_template_kwargs",
        `${quote(key)} is not the name of a variable`,
        "Use a name of letters, digits and _, at most 64 of them",
      )
    }
    const field = `chat_template_kwargs.${key}`
    if (reserved.has(key) || key.endsWith("_token")) {
      throw refusal(field, "a request cannot set this variable", "Leave it out")
    }
    const extent = extentOf(value, values.most - valueCount, levels.most)
    valueCount += extent.values
    checkBound(values, valueCount, field)
    checkBound(levels, extent.levels, field)
    unitCount += key.length + unitsOf(value, field)
    checkBound(units, unitCount, field)
  }
}

/** Returns the variables for the template. */
export function templateOptionsOf(
  variables: Readonly<Record<string, unknown>> | null | undefined,
): Pick<GenerateOptions, "templateOptions"> {
  if (variables === null || variables === undefined || Object.keys(variables).length === 0) return {}
  return { templateOptions: { variables } }
}

/**
 * Returns the total units of the strings and keys in a value. Throws `Refusal` for a number that is
 * not finite.
 */
function unitsOf(value: unknown, field: string): number {
  if (typeof value === "string") return value.length
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw refusal(field, "the number is too large", "Send one below 1.8e308")
  }
  if (typeof value !== "object" || value === null) return 0
  const names = Array.isArray(value) ? [] : Object.keys(value)
  return [...names, ...Object.values(value)].reduce((sum: number, each) => sum + unitsOf(each, field), 0)
}

function refusal(field: string, what: string, hint: string): Refusal {
  return invalid(field, `: ${what}`, hint)
}
