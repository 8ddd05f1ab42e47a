/**
 * The models that a server answers for: one, under its own name and the aliases it was given.
 */
import type { Engine } from "../../runtime/index.ts"
import { Refusal } from "../errors.ts"
import { quote } from "../http/quote.ts"

export interface ModelNameOptions {
  /** Further names that mean the loaded model. */
  aliases?: readonly string[]
  /** Any name means the loaded model. */
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

  /** Throws `Refusal` (404) for a name that nobody gave. */
  check(name: string): void {
    if (this.anyModel || this.names.includes(name)) return
    throw new Refusal("model_not_found", `there is no model ${quote(name)}`, {
      param: "model",
      hint: `Use ${this.names.map((known) => quote(known)).join(" or ")}, or start the server with --alias or --any-model`,
    })
  }

  list(): object {
    return { object: "list", data: this.names.map((name) => this.describe(name)) }
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
