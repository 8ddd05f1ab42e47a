/**
 * Parses formats of structural tags into trees. Each node is checked by itself and keeps its JSON
 * pointer.
 *
 * Mistakes of a single node are refused here (unknown and missing fields, types, counts). Relations
 * between nodes (triggers and their tags, ends of texts) are checked by `lower.ts`.
 */
import { checkLimit, GrammarError, type Limits } from "../errors.ts"
import { type ExprId, exprs } from "../lexeme/expr/expr.ts"
import { parseRegex } from "../regex/parse.ts"
import { Fields, filledText, type Placed, shown, textOf } from "./fields.ts"

/** A reference to a token by its name or its id. */
export interface TokenRef {
  readonly token: string | number
  readonly path: string
}

/** The beginning or the end of a tag: a string or a token. */
export type Mark = { readonly kind: "text"; readonly text: string; readonly path: string } | TokenMark
interface TokenMark extends TokenRef {
  readonly kind: "token"
}

/** A string with its place. */
export interface Text {
  readonly text: string
  readonly path: string
}

export interface Tag {
  readonly kind: "tag"
  readonly path: string
  readonly begin: Mark
  readonly content: Format
  /** The tag ends with any of these. */
  readonly ends: readonly Mark[]
}

/** The order of text and tags. */
export interface TagOrder {
  readonly atLeastOne: boolean
  readonly stopAfterFirst: boolean
  /** Whether text may precede the first tag. */
  readonly leadingText: boolean
}

export type Format =
  | ({ readonly path: string } & (
      | { readonly kind: "const"; readonly text: string }
      | { readonly kind: "regex"; readonly expr: ExprId; readonly pattern: string }
      | { readonly kind: "grammar"; readonly text: string }
      | {
          readonly kind: "schema"
          readonly schema: unknown
          /** Place of the schema. */
          readonly schemaPath: string
          readonly style: string
          readonly anyOrder: boolean
          /**
           * Most characters of white space in a row between the parts of a value; null to follow
           * the policy.
           */
          readonly maxWhitespace: number | null
          readonly excludes: readonly string[]
        }
      | {
          readonly kind: "text"
          readonly excludes: readonly string[]
          readonly maxTokens: number | null
          readonly maxChars: number | null
        }
      | { readonly kind: "sequence" | "or"; readonly parts: readonly Format[] }
      | { readonly kind: "repeat"; readonly content: Format; readonly min: number; readonly max: number }
      | ({
          readonly kind: "triggered"
          readonly triggers: readonly Text[]
          readonly tags: readonly Tag[]
          readonly excludes: readonly Text[]
        } & TagOrder)
      | ({
          readonly kind: "tokenTriggered"
          readonly triggers: readonly TokenRef[]
          readonly tags: readonly Tag[]
          readonly excludes: readonly TokenRef[]
        } & TagOrder)
      | {
          readonly kind: "separated"
          readonly tags: readonly Tag[]
          readonly separator: string
          readonly atLeastOne: boolean
          readonly stopAfterFirst: boolean
        }
      | {
          readonly kind: "dispatch"
          readonly rules: readonly { readonly trigger: Text; readonly format: Format }[]
          readonly excludes: readonly Text[]
          readonly loops: boolean
        }
      | {
          readonly kind: "tokenDispatch"
          readonly rules: readonly { readonly trigger: TokenRef; readonly format: Format }[]
          readonly excludes: readonly TokenRef[]
          readonly loops: boolean
        }
      | { readonly kind: "token"; readonly token: TokenRef }
      | { readonly kind: "otherToken"; readonly excludes: readonly TokenRef[] }
      | { readonly kind: "tokens"; readonly excludes: readonly TokenRef[]; readonly maxTokens: number | null }
    ))
  | Tag

type Reader = (fields: Fields, reader: FormatReader) => Format

/** By `type`: the fields of a node and the function that reads it. */
const readers: Readonly<Record<string, { fields: readonly string[]; read: Reader }>> = {
  const_string: {
    fields: ["value"],
    read: (fields) => ({ kind: "const", path: fields.path, text: fields.text("value") }),
  },
  regex: {
    fields: ["pattern"],
    read(fields, { limits }) {
      const { path } = fields.at("pattern")
      const pattern = fields.text("pattern")
      const expr = parseRegex(pattern, { mode: "match", path, limits })
      return { kind: "regex", path: fields.path, expr, pattern }
    },
  },
  grammar: {
    fields: ["grammar"],
    read: (fields) => ({ kind: "grammar", path: fields.path, text: fields.text("grammar") }),
  },
  json_schema: {
    fields: ["json_schema", "style", "any_order", "max_whitespace_cnt", "excludes"],
    read: (fields, reader) => reader.schema(fields, fields.has("style") ? fields.text("style") : "json"),
  },
  // The older name of `json_schema` in this style.
  qwen_xml_parameter: {
    fields: ["json_schema", "any_order", "max_whitespace_cnt", "excludes"],
    read: (fields, reader) => reader.schema(fields, "qwen_xml"),
  },
  any_text: {
    fields: ["excludes", "max_tokens", "max_chars"],
    read: (fields, reader) => ({
      kind: "text",
      path: fields.path,
      excludes: reader.excludes(fields).map(({ text }) => text),
      maxTokens: fields.count("max_tokens"),
      maxChars: fields.count("max_chars"),
    }),
  },
  sequence: {
    fields: ["elements"],
    read: (fields, reader) => ({
      kind: "sequence",
      path: fields.path,
      parts: reader.formats(fields, "elements"),
    }),
  },
  or: {
    fields: ["elements"],
    read: (fields, reader) => ({ kind: "or", path: fields.path, parts: reader.formats(fields, "elements") }),
  },
  optional: {
    fields: ["content"],
    read: (fields, reader) => reader.repeat(fields, 0, 1),
  },
  plus: {
    fields: ["content"],
    read: (fields, reader) => reader.repeat(fields, 1, Number.POSITIVE_INFINITY),
  },
  star: {
    fields: ["content"],
    read: (fields, reader) => reader.repeat(fields, 0, Number.POSITIVE_INFINITY),
  },
  repeat: {
    fields: ["min", "max", "content"],
    read(fields, reader) {
      fields.needed("min", "the fewest times")
      const max = fields.needed("max", "the most times, -1 for any number")
      const least = fields.count("min") as number
      const most = fields.count("max", -1) as number
      if (most !== -1 && most < least) {
        throw new GrammarError("syntax", max.path, `max is ${most}, below min, which is ${least}. Swap them`)
      }
      for (const name of ["min", "max"])
        checkLimit(reader.limits, "maxRepeat.tag", fields.count(name, -1) ?? 0, fields.at(name).path)
      return reader.repeat(fields, least, most === -1 ? Number.POSITIVE_INFINITY : most)
    },
  },
  tag: {
    fields: ["begin", "content", "end"],
    read: (fields, reader) => reader.tag(fields),
  },
  triggered_tags: {
    fields: ["triggers", "tags", "at_least_one", "stop_after_first", "excludes", "leading_text"],
    read: (fields, reader) => ({
      kind: "triggered",
      path: fields.path,
      triggers: reader.triggers(fields.texts("triggers", "triggers", 1), fields.at("triggers").path),
      tags: reader.tags(fields),
      excludes: reader.excludes(fields),
      ...orderOf(fields),
    }),
  },
  tags_with_separator: {
    fields: ["tags", "separator", "at_least_one", "stop_after_first"],
    read: (fields, reader) => ({
      kind: "separated",
      path: fields.path,
      tags: reader.tags(fields),
      separator: fields.text("separator"),
      atLeastOne: fields.isSet("at_least_one", false),
      stopAfterFirst: fields.isSet("stop_after_first", false),
    }),
  },
  dispatch: {
    fields: ["rules", "loop", "excludes"],
    read(fields, reader) {
      const rules = pairsOf(fields).map(({ first, second }) => {
        const trigger = { text: filledText(first, "strings that switch"), path: first.path }
        return { trigger, format: reader.format(second) }
      })
      reader.triggers(rules, fields.at("rules").path)
      const excludes = reader.excludes(fields)
      return { kind: "dispatch", path: fields.path, rules, excludes, loops: fields.isSet("loop", true) }
    },
  },
  token: {
    fields: ["token"],
    read: (fields) => ({
      kind: "token",
      path: fields.path,
      token: tokenOf(fields.needed("token", "a name or an id")),
    }),
  },
  exclude_token: {
    fields: ["exclude_tokens"],
    read: (fields) => ({
      kind: "otherToken",
      path: fields.path,
      excludes: tokensOf(fields, "exclude_tokens"),
    }),
  },
  any_tokens: {
    fields: ["exclude_tokens", "max_tokens"],
    read: (fields) => ({
      kind: "tokens",
      path: fields.path,
      excludes: tokensOf(fields, "exclude_tokens"),
      maxTokens: fields.count("max_tokens"),
    }),
  },
  token_triggered_tags: {
    fields: ["trigger_tokens", "tags", "exclude_tokens", "at_least_one", "stop_after_first", "leading_text"],
    read: (fields, reader) => ({
      kind: "tokenTriggered",
      path: fields.path,
      triggers: reader.triggers(tokensOf(fields, "trigger_tokens", 1), fields.at("trigger_tokens").path),
      tags: reader.tags(fields),
      excludes: tokensOf(fields, "exclude_tokens"),
      ...orderOf(fields),
    }),
  },
  token_dispatch: {
    fields: ["rules", "loop", "exclude_tokens"],
    read(fields, reader) {
      const rules = pairsOf(fields).map(({ first, second }) => ({
        trigger: tokenOf(first),
        format: reader.format(second),
      }))
      reader.triggers(rules, fields.at("rules").path)
      const excludes = tokensOf(fields, "exclude_tokens")
      return { kind: "tokenDispatch", path: fields.path, rules, excludes, loops: fields.isSet("loop", true) }
    },
  },
}

/**
 * Returns the tree of a structural tag: `{type: "structural_tag", format}`, the older `{structures,
 * triggers}`, or a format by itself. Throws `syntax` and `limit`, and what its patterns throw.
 */
export function readStructuralTag(value: unknown, limits: Limits): Format {
  const placed = { value, path: "" }
  const fields = new Fields(placed, "a structural tag")
  const reader = new FormatReader(limits)
  if (fields.has("structures")) return reader.structures(fields)
  const isWrapped = fields.has("type") ? fields.at("type").value === "structural_tag" : fields.has("format")
  if (!isWrapped) return reader.format(placed)
  fields.allowOnly(["type", "format"], "a structural tag")
  return reader.format(fields.needed("format", "a format"))
}

/** Returns whether the empty text may satisfy `format`. Schemas and grammars are not examined. */
export function canBeEmpty(format: Format): boolean {
  switch (format.kind) {
    case "const":
      return format.text === ""
    case "regex":
      return exprs.nullable(format.expr)
    case "text":
    case "tokens":
    case "dispatch":
    case "tokenDispatch":
      return true
    case "sequence":
      return format.parts.every(canBeEmpty)
    case "or":
      return format.parts.some(canBeEmpty)
    case "repeat":
      return format.min === 0 || canBeEmpty(format.content)
    case "tag": {
      const isEmpty = (mark: Mark) => mark.kind === "text" && mark.text === ""
      return isEmpty(format.begin) && canBeEmpty(format.content) && format.ends.some(isEmpty)
    }
    case "triggered":
    case "tokenTriggered":
    case "separated":
      return !format.atLeastOne
    default:
      return false
  }
}

class FormatReader {
  readonly limits: Limits
  private depth = 0
  private tagCount = 0

  constructor(limits: Limits) {
    this.limits = limits
  }

  format(placed: Placed): Format {
    const fields = new Fields(placed, "a format")
    const type = fields.text("type")
    const known = Object.hasOwn(readers, type) ? readers[type] : undefined
    if (known === undefined) {
      throw new GrammarError(
        "syntax",
        fields.at("type").path,
        `no format is of the type ${shown(type)}. There are ${Object.keys(readers).join(", ")}`,
      )
    }
    fields.allowOnly(["type", ...known.fields], type)
    return this.nested(placed.path, () => known.read(fields, this))
  }

  /** Reads the form that was used before formats. */
  structures(fields: Fields): Format {
    fields.allowOnly(["type", "structures", "triggers"], "a structural tag with structures")
    if (fields.has("type") && fields.text("type") !== "structural_tag") {
      throw new GrammarError("syntax", fields.at("type").path, 'expected "structural_tag"')
    }
    const tags = fields.list("structures", "structures", 1).map((placed) => {
      const own = new Fields(placed, "a structure")
      own.allowOnly(["begin", "schema", "end"], "a structure")
      checkLimit(this.limits, "tags", ++this.tagCount, own.path)
      const schema = own.needed("schema", "a schema")
      return {
        kind: "tag",
        path: own.path,
        begin: { kind: "text", text: own.text("begin"), path: own.at("begin").path },
        content: {
          kind: "schema",
          path: own.path,
          schema: schema.value,
          schemaPath: schema.path,
          style: "json",
          anyOrder: false,
          maxWhitespace: null,
          excludes: [],
        },
        ends: [{ kind: "text", text: own.text("end"), path: own.at("end").path }],
      } as const
    })
    const triggers = this.triggers(fields.texts("triggers", "triggers", 1), fields.at("triggers").path)
    return { kind: "triggered", path: fields.path, triggers, tags, excludes: [], ...orderOf(fields) }
  }

  formats(fields: Fields, name: string): Format[] {
    return fields.list(name, "formats", 1).map((placed) => this.format(placed))
  }

  repeat(fields: Fields, min: number, max: number): Format {
    const content = this.format(fields.needed("content", "a format"))
    return { kind: "repeat", path: fields.path, content, min, max }
  }

  /** Reads a list of tags. Tags in a list need not have `type: "tag"`. */
  tags(fields: Fields): Tag[] {
    return fields.list("tags", "tags", 1).map((placed) => {
      const own = new Fields(placed, "a tag")
      if (own.has("type") && own.text("type") !== "tag") {
        throw new GrammarError(
          "syntax",
          own.at("type").path,
          `expected "tag", found ${shown(own.text("type"))}: this list holds tags alone`,
        )
      }
      own.allowOnly(["type", "begin", "content", "end"], "tag")
      return this.nested(placed.path, () => this.tag(own))
    })
  }

  tag(fields: Fields): Tag {
    checkLimit(this.limits, "tags", ++this.tagCount, fields.path)
    const begin = markOf(fields.needed("begin", "a string or a token"))
    const end = fields.needed("end", "a string, a token, or a list of them")
    const ends = Array.isArray(end.value)
      ? fields.list("end", "strings and tokens", 1).map(markOf)
      : [markOf(end)]
    const content = this.format(fields.needed("content", "a format"))
    return { kind: "tag", path: fields.path, begin, content, ends }
  }

  schema(fields: Fields, style: string): Format {
    return {
      kind: "schema",
      path: fields.path,
      schema: fields.needed("json_schema", "a schema").value,
      schemaPath: fields.at("json_schema").path,
      style,
      anyOrder: fields.isSet("any_order", false),
      maxWhitespace: fields.count("max_whitespace_cnt"),
      excludes: this.excludes(fields).map(({ text }) => text),
    }
  }

  excludes(fields: Fields): Text[] {
    return this.triggers(fields.texts("excludes", "excludes"), fields.at("excludes").path)
  }

  /** Checks the number of `triggers` or excluded parts, and returns them. */
  triggers<T>(triggers: T[], path: string): T[] {
    checkLimit(this.limits, "triggers", triggers.length, path)
    return triggers
  }

  private nested<T>(path: string, read: () => T): T {
    checkLimit(this.limits, "grammarDepth.formats", ++this.depth, path)
    const made = read()
    this.depth--
    return made
  }
}

function orderOf(fields: Fields): TagOrder {
  const atLeastOne = fields.isSet("at_least_one", false)
  return {
    atLeastOne,
    stopAfterFirst: fields.isSet("stop_after_first", false),
    leadingText: fields.isSet("leading_text", !atLeastOne),
  }
}

/** Returns the pairs of `rules`: what switches, and the format that it switches to. */
function pairsOf(fields: Fields): { first: Placed; second: Placed }[] {
  return fields.list("rules", "pairs of what switches and a format", 1).map(({ value, path }) => {
    if (!Array.isArray(value) || value.length !== 2) {
      const found = Array.isArray(value) ? `a list of ${value.length}` : shown(value)
      throw new GrammarError("syntax", path, `expected a pair of what switches and a format, found ${found}`)
    }
    return {
      first: { value: value[0], path: `${path}/0` },
      second: { value: value[1], path: `${path}/1` },
    }
  })
}

function markOf(placed: Placed): Mark {
  if (typeof placed.value === "string")
    return { kind: "text", text: textOf(placed, "a string"), path: placed.path }
  const fields = new Fields(placed, "a string or a token")
  if (fields.text("type") !== "token") {
    throw new GrammarError(
      "syntax",
      fields.at("type").path,
      `expected "token", found ${shown(fields.text("type"))}: a tag begins and ends with strings and tokens`,
    )
  }
  fields.allowOnly(["type", "token"], "token")
  return { kind: "token", ...tokenOf(fields.needed("token", "a name or an id")) }
}

function tokensOf(fields: Fields, name: string, least = 0): TokenRef[] {
  return fields.list(name, "tokens", least).map(tokenOf)
}

function tokenOf(placed: Placed): TokenRef {
  const { value, path } = placed
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return { token: value, path }
  if (typeof value === "string") return { token: filledText(placed, "names of tokens"), path }
  throw new GrammarError("syntax", path, `expected the name of a token or its id, found ${shown(value)}`)
}
