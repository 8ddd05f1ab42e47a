/**
 * The arguments of a tool: its schema, compiled as a document of its own and restricted to objects.
 * Errors about a tool that cannot be called have its name and its place in the list of tools.
 */
import { TimeError } from "../../deadline.ts"
import { GrammarError } from "../../errors.ts"
import { Grammar } from "../../grammar.ts"
import { type JsonOptions, keywordNotes, type OpenSchema, openSchema } from "../../json/compile.ts"
import { ObjectLanguage } from "../../json/object/object.ts"
import type { ObjectSpec } from "../../json/object/objectspec.ts"
import { checkReach } from "../../json/reach.ts"
import { whyEmpty } from "../../json/reason.ts"
import type { KeywordNote } from "../../report.ts"
import { owned } from "../../tables.ts"
import { quotedArguments } from "./quoted.ts"
import type { Tool } from "./tools.ts"

/** Options for reading schemas and spelling arguments. */
export interface ArgumentOptions extends Omit<JsonOptions, "key" | "unsatisfiable"> {
  /** Compiles the grammars of custom tools. They are refused if this is absent. */
  readonly lark?: (text: string) => Grammar
  /** Receives the notes on the keywords of each tool's schema. */
  readonly note?: (notes: () => KeywordNote[]) => void
}

/** A schema and the objects that satisfy it: one spec for each branch. */
interface OpenObjects extends OpenSchema {
  readonly specs: readonly ObjectSpec[]
}

/** A tool with its arguments. */
export interface Arguments extends OpenObjects {
  readonly tool: Tool
  /** The grammar of a custom tool's input, in addition to its schema; null if there is none. */
  readonly input: Grammar | null
}

const noArguments = { type: "object", additionalProperties: false }

/**
 * Most characters of the keys of `known`. The cached schemas take some 16 times as many bytes, and
 * more once they are used.
 */
const MaxKnown = 1 << 20
/**
 * Cache of recently opened schemas, by everything that they depend on. Requests with the same tool
 * share its language.
 */
const known = owned(
  "opened schemas",
  { objects: new Map<string, OpenObjects>(), keyLength: 0 },
  { entryBytes: 20_000 },
)

/**
 * Opens the schema of `tool`. An equal schema that was opened before is cached (0.03 instead of 0.6
 * ms for one of 4 kB).
 */
export function openArguments(tool: Tool, options: ArgumentOptions): Arguments {
  return ofTool(tool, () => {
    const open = openArgumentObjects(tool.schema ?? noArguments, options)
    if (tool.schema !== null && !tool.isCustom) options.note?.(() => notesOf(tool, open))
    return { ...open, tool, input: inputOf(tool, options) }
  })
}

/**
 * Returns the notes on a tool's schema. Paths are pointers into the list of tools, except those in
 * other documents.
 */
function notesOf(tool: Tool, { language, root }: OpenSchema): KeywordNote[] {
  const place = (path: string) => (path.startsWith("/") ? `${tool.path}${path}` : path)
  return keywordNotes(language, root).map((note) => ({ ...note, path: place(note.path) }))
}

function openArgumentObjects(schema: unknown, options: ArgumentOptions): OpenObjects {
  const key = keyOf(schema, options)
  const before = key === null ? undefined : known.objects.get(key)
  if (before !== undefined) return before
  const open = openSchema(schema, { ...options, isArguments: true })
  if (options.isChecked !== true) checkReach(open)
  const objects = { ...open, specs: open.language.objectsOf(open.value) }
  if (key === null || key.length > MaxKnown) return objects
  if (known.keyLength + key.length > MaxKnown) {
    known.objects.clear()
    known.keyLength = 0
  }
  known.objects.set(key, objects)
  known.keyLength += key.length
  return objects
}

/**
 * Returns the key for the cache; null for a schema that is not JSON. The key leaves out the time
 * limit, which does not affect the result.
 */
function keyOf(schema: unknown, options: ArgumentOptions): string | null {
  const { policy, limits, formats, unknownKeywords, dialect, documents, excludes } = options
  const said = [policy, { ...limits, compileMs: 0 }, formats, unknownKeywords, dialect, documents, excludes]
  said.push(options.openObjects)
  try {
    return JSON.stringify(said) + JSON.stringify(schema, (_, part) => (isJson(part) ? part : refuse()))
  } catch {
    // The schema has a cycle or a value that is not JSON. The error is thrown where the schema is
    // read.
    return null
  }
}

function isJson(part: unknown): boolean {
  switch (typeof part) {
    case "number":
      return Number.isFinite(part)
    case "string":
    case "boolean":
    case "object":
      return true
    default:
      return false
  }
}

function refuse(): never {
  throw new Error("no JSON")
}

function inputOf({ lark }: Tool, options: ArgumentOptions): Grammar | null {
  if (lark === null) return null
  if (options.lark !== undefined) return options.lark(lark)
  throw new GrammarError("unsupported", "", "a grammar in Lark cannot be read here. Use the syntax regex")
}

/** Returns the arguments as one JSON object. */
export function jsonArguments(args: Arguments): Grammar {
  const { tool, language, value, specs, input } = args
  return ofTool(tool, () => {
    if (input !== null) return quotedArguments(tool, input)
    const path = language.all.pathOf(value)
    const start = specs.flatMap((spec) => {
      const frame = new ObjectLanguage(spec, language, path, (part) => language.isProductive(part)).start()
      return frame === null ? [] : [{ lexeme: language.tokens.openObject, frames: [frame] }]
    })
    if (start.length === 0) throw noObject(args)
    const { limits } = language
    return new Grammar(start, { key: () => JSON.stringify(tool), title: `arguments of ${tool.name}`, limits })
  })
}

/** Returns the error that says why the schema allows no object. */
export function noObject({ language, root, value, isPossible }: Omit<OpenSchema, "nodes">): GrammarError {
  const reason = language.isProductive(value) ? null : whyEmpty(language, root, isPossible)
  if (reason !== null) {
    const message = `${reason.message}. Remove the keywords that contradict each other`
    return new GrammarError("unsatisfiable", reason.path, message)
  }
  return new GrammarError(
    "unsatisfiable",
    root.pointer,
    "arguments are an object, and the schema allows none. Let its type be object",
  )
}

/**
 * Runs `work` on a tool's schema. Errors that it throws get the tool's name and its place in the
 * list.
 */
export function ofTool<T>(tool: Tool, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof GrammarError) || error instanceof TimeError) throw error
    const message = error.path === "" ? error.message : error.message.slice(error.path.length + 2)
    // A custom tool has a grammar, whose errors have a line and a column instead of a pointer.
    const inner = tool.isCustom ? "" : error.path
    const told = tool.isCustom && tool.lark !== null ? error.message : message
    // A schema of a structural tag belongs to no tool.
    const said = tool.name === "" ? told : `the tool "${tool.name}": ${told}`
    throw new GrammarError(error.kind, `${tool.path}${inner}`, said)
  }
}
