/** Random tools and calls of them, in the manner of function-calling benchmarks. */
import type { Arguments } from "./support.ts"

export interface RandomTool {
  name: string
  parameters: Record<string, unknown>
}

const words = [
  "city",
  "date_range",
  "unit",
  "n",
  "values",
  "查询",
  "is_exact",
  "user-id",
  "filter.by",
  "note",
]
const texts = [
  "",
  "a",
  "Zürich",
  "5",
  "true",
  "null",
  "line\nline",
  '"quoted" \\ back',
  "<b>",
  "日本 🎉",
  "{x}",
  " x ",
  "\n",
  "[1",
  "it's",
  `'"`,
]
const names = [
  "math.factorial",
  "get",
  "get_weather",
  "get_weather_by_id",
  "calc-area",
  "Ping",
  "solve_quadratic.v2",
]

export class RandomTools {
  readonly random: () => number

  constructor(random: () => number) {
    this.random = random
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.random() * list.length)]
  }

  tools(count: number): RandomTool[] {
    const left = [...names]
    return Array.from({ length: count }, () => {
      const [name] = left.splice(Math.floor(this.random() * left.length), 1)
      return { name, parameters: this.object(2) }
    })
  }

  private object(depth: number): Record<string, unknown> {
    const keys = words.filter(() => this.random() < 0.4)
    const properties = Object.fromEntries(keys.map((key) => [key, this.schema(depth - 1)]))
    const schema: Record<string, unknown> = { type: "object", properties }
    const required = keys.filter(() => this.random() < 0.5)
    if (required.length > 0) schema.required = required
    if (this.random() < 0.5) schema.additionalProperties = false
    return schema
  }

  private schema(depth: number): Record<string, unknown> {
    const kind = Math.floor(this.random() * (depth > 0 ? 12 : 9))
    switch (kind) {
      case 0:
        return { type: "integer", description: "a number", default: 3 }
      case 1:
        return { type: "number", minimum: -10 }
      case 2:
        return { type: "boolean" }
      case 3:
        return { type: "string", enum: ["celsius", "fahrenheit", "\n", "a b"] }
      case 4:
        return { type: ["string", "null"] }
      case 5:
        return { type: ["integer", "string"] }
      case 6:
        return { type: "string", maxLength: 12 }
      case 7:
        return { enum: ["a", 1, null, true] }
      case 8:
        return { type: "string" }
      case 9:
        return { type: "array", items: this.schema(depth - 1) }
      case 10:
        return this.object(depth)
      default:
        return {
          anyOf: [
            { type: "array", items: { type: "string" }, minItems: 1 },
            { type: "string", pattern: "^[a-zA-Z]" },
          ],
        }
    }
  }

  /** Arguments of the tool, in the order of its schema. */
  arguments({ parameters }: RandomTool): Arguments {
    return this.value(parameters) as Arguments
  }

  value(schema: Record<string, unknown>): unknown {
    if (schema.enum !== undefined) return this.pick(schema.enum as unknown[])
    if (schema.anyOf !== undefined)
      return this.random() < 0.5 ? [this.text(12), this.text(12)] : `x${this.text(40)}`
    const type = Array.isArray(schema.type) ? this.pick(schema.type) : schema.type
    switch (type) {
      case "integer":
        return Math.floor(this.random() * 200) - 100
      case "number":
        return this.pick([0, 2.5, -1, 1000000, 0.125])
      case "boolean":
        return this.random() < 0.5
      case "null":
        return null
      case "string":
        return this.text((schema.maxLength as number) ?? 40)
      case "array":
        return Array.from({ length: Math.floor(this.random() * 3) }, () =>
          this.value(schema.items as Record<string, unknown>),
        )
      default: {
        const required = (schema.required as string[]) ?? []
        const entries = Object.entries(schema.properties as Record<string, Record<string, unknown>>)
          .filter(([key]) => required.includes(key) || this.random() < 0.6)
          .map(([key, inner]) => [key, this.value(inner)] as const)
        if (schema.additionalProperties !== false && this.random() < 0.2)
          entries.push(["extra_1", this.text(9)])
        return Object.fromEntries(entries)
      }
    }
  }

  private text(most: number): string {
    const fitting = texts.filter((text) => [...text].length <= most)
    return this.pick(fitting)
  }
}
