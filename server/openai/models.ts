/** The model names that a server accepts: one model, under its own name and its aliases. */
import type { Engine } from "../../runtime/index.ts"
import { invalid, Refusal } from "../errors.ts"
import { quote } from "../http/quote.ts"

export interface ModelNameOptions {
  /** Further names of the loaded model. */
  aliases?: readonly string[]
  /** Whether any name means the loaded model. */
  anyModel?: boolean
}

export class ModelNames {
  private readonly engine: Engine
  private readonly names: readonly string[]
  private readonly anyModel: boolean

  constructor(engine: Engine, { aliases = [], anyModel = false }: ModelNameOptions) {
    this.engine = engine
    this.names = [engine.model.id, ...aliases]
    this.anyModel = anyModel
  }

  /** The model's own name, then its aliases. */
  get all(): readonly string[] {
    return this.names
  }

  /** Whether a request may use this name. */
  has(name: string): boolean {
    return this.anyModel || this.names.includes(name)
  }

  /** Throws `Refusal` (404) for an unknown name. */
  check(name: string): void {
    if (this.has(name)) return
    throw new Refusal("model_not_found", `there is no model ${quote(name)}`, {
      param: "model",
      hint: `Use ${this.names.map((known) => quote(known)).join(" or ")}, or start the server with --alias or --any-model`,
    })
  }

  /** All names, in OpenAI's form. */
  list(): object {
    return { object: "list", data: this.names.map((name) => this.describe(name)) }
  }

  /** Returns a page of the names in Anthropic's form. Throws `Refusal`. */
  listAnthropic(query: URLSearchParams): object {
    const limit = Number(query.get("limit") ?? 20)
    if (!Number.isInteger(limit) || limit < 1 || limit > 1000) {
      throw invalid("limit", `is ${quote(query.get("limit"))}, it must be from 1 to 1000`)
    }
    const placeOf = (field: string): number | null => {
      const id = query.get(field)
      if (id === null) return null
      const place = this.names.indexOf(id)
      if (place >= 0) return place
      throw invalid(field, `: there is no model ${quote(id)}`)
    }
    const before = placeOf("before_id")
    const after = placeOf("after_id")
    const start = before === null ? (after ?? -1) + 1 : Math.max(0, before - limit)
    const end = before === null ? start + limit : before
    const page = this.names.slice(start, end)
    return {
      data: page.map((name) => this.describeAnthropic(name)),
      has_more: before === null ? end < this.names.length : start > 0,
      first_id: page[0] ?? null,
      last_id: page.at(-1) ?? null,
    }
  }

  describeAnthropic(name: string): object {
    const { createdAt, contextLength } = this.engine.model
    return {
      type: "model",
      id: name,
      display_name: name,
      created_at: new Date(createdAt * 1000).toISOString().replace(".000Z", "Z"),
      max_input_tokens: contextLength,
      max_tokens: contextLength,
      capabilities: null,
    }
  }

  describe(name: string): object {
    const { id, createdAt, contextLength } = this.engine.model
    return {
      id: name,
      object: "model",
      created: createdAt,
      owned_by: "tokenrail",
      root: id,
      parent: name === id ? null : id,
      max_model_len: contextLength,
    }
  }
}
