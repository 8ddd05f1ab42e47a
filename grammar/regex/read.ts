/**
 * Parses patterns into regexpp's tree.
 *
 * JSON Schema's patterns are ECMAScript's under `u`, so every place that takes a pattern accepts
 * that grammar. In practice, patterns are written for many engines. A pattern that the `u` grammar
 * rejects is read with its meaning in other dialects, if they agree on one
 * (`dialect/translate.ts`). The tree then has the offsets and the texts of the source again.
 */
import { type AST, RegExpParser, visitRegExpAST } from "@eslint-community/regexpp"
import { checkLimit, defaultLimits, fixedBounds, GrammarError, limitError } from "../errors.ts"
import { type Translated, translate } from "./dialect/translate.ts"
import { errorPath } from "./place.ts"

export interface RegexFlags {
  ignoreCase: boolean
  multiline: boolean
  dotAll: boolean
  unicodeSets: boolean
  /** Whether `.` without the flag `s` excludes only the line feed, not all line terminators. */
  lineFeedOnly?: boolean
}

export interface ReadPattern {
  pattern: AST.Pattern
  flags: RegexFlags
  /** Groups of which only the first match counts. */
  atomics: ReadonlySet<AST.Node>
  /** Spellings that were read as another dialect's, each with what it became. */
  foreign: ReadonlyMap<string, string>
  /**
   * The text that closes an open quotation or comment at the end of the source, if another text is
   * to follow.
   */
  closing: string
}

const parser = new RegExpParser({ ecmaVersion: 2025 })
const nothing: Pick<ReadPattern, "atomics" | "foreign" | "closing"> = {
  atomics: new Set(),
  foreign: new Map(),
  closing: "",
}

/**
 * Parses a pattern. Throws `syntax` or `unsupported` with the reason and the way out, or `limit`.
 */
export function readPattern(
  source: string,
  flagText: string,
  path: string,
  limits = defaultLimits,
): ReadPattern {
  checkLimit(limits, "regexBytes", source.length, path)
  checkDepth(source, path)
  const flags = readFlags(flagText, path)
  const mode = flags.unicodeSets ? { unicodeSets: true } : { unicode: true }
  const strict = tryRead(source, mode)
  if (strict.pattern !== undefined) return { pattern: strict.pattern, flags, ...nothing }
  const translated = translate(source, flags.unicodeSets, path)
  checkDepth(translated.text, path)
  const { pattern, error } = tryRead(translated.text, mode)
  if (pattern === undefined) throw syntaxError(error, translated.offsets, path)
  const atomics = relocate(pattern, source, translated)
  return { pattern, flags, atomics, foreign: translated.foreign, closing: translated.closing }
}

/**
 * Returns `source` as a group that can be part of another pattern without affecting it. Throws as
 * `readPattern` does.
 */
export function groupOf(source: string, flagText: string, path: string): string {
  return `(?:${source}${readPattern(source, flagText, path).closing})`
}

/**
 * Maps the places and texts of the nodes back to the source. Returns the atomic groups among them.
 */
function relocate(pattern: AST.Pattern, source: string, { offsets, atomics }: Translated): Set<AST.Node> {
  const found = new Set<AST.Node>()
  const place = (node: AST.Node) => {
    if (node.type === "Group" && atomics.has(node.start)) found.add(node)
    node.start = offsets[node.start]
    node.end = offsets[node.end]
    node.raw = source.slice(node.start, node.end)
  }
  visitRegExpAST(pattern, {
    onPatternEnter: place,
    onGroupEnter: place,
    onCapturingGroupEnter: place,
    onQuantifierEnter: place,
    onAssertionEnter: place,
    onBackreferenceEnter: place,
    onCharacterSetEnter: place,
    onCharacterClassEnter: place,
  })
  return found
}

function readFlags(text: string, path: string): RegexFlags {
  const seen = new Set<string>()
  for (const flag of text) {
    if (!"dgimsuvy".includes(flag)) {
      throw new GrammarError("syntax", path, `flag ${JSON.stringify(flag)} is unknown. Use i, m, s, u or v`)
    }
    if (seen.has(flag)) throw new GrammarError("syntax", path, `flag "${flag}" is given twice`)
    seen.add(flag)
  }
  if (seen.has("u") && seen.has("v")) {
    throw new GrammarError("syntax", path, 'flags "u" and "v" exclude each other. Keep one')
  }
  return {
    ignoreCase: seen.has("i"),
    multiline: seen.has("m"),
    dotAll: seen.has("s"),
    unicodeSets: seen.has("v"),
  }
}

/** Returns the flags inside a group. */
export function modified(flags: RegexFlags, modifiers: AST.Modifiers | null): RegexFlags {
  if (modifiers === null) return flags
  const { add, remove } = modifiers
  return {
    ...flags,
    ignoreCase: (flags.ignoreCase || add.ignoreCase) && !remove?.ignoreCase,
    multiline: (flags.multiline || add.multiline) && !remove?.multiline,
    dotAll: (flags.dotAll || add.dotAll) && !remove?.dotAll,
  }
}

interface ReadError {
  message: string
  index: number
}

type Attempt = { pattern: AST.Pattern; error?: undefined } | { pattern?: undefined; error: ReadError }

function tryRead(source: string, mode: { unicode?: boolean; unicodeSets?: boolean }): Attempt {
  try {
    return { pattern: parser.parsePattern(source, 0, source.length, mode) }
  } catch (thrown) {
    const { message, index } = thrown as ReadError
    if (typeof index !== "number") throw thrown
    return { error: { message, index } }
  }
}

function syntaxError(error: ReadError, offsets: readonly number[], path: string): GrammarError {
  // regexpp repeats the whole pattern in front of the reason.
  const reason = error.message.replace(/^Invalid regular expression: \/.*\/[a-z]*: /s, "")
  const index = offsets[Math.min(error.index, offsets.length - 1)]
  // Other dialects accept a bare script name: in Java, Go and Rust it means `Script`, in PCRE and
  // Perl `Script_Extensions`.
  const hint =
    reason === "Invalid property name" ? ". Write a script as \\p{Script=…}, a category as \\p{L}" : ""
  return new GrammarError("syntax", errorPath(path, index), `${reason} at ${index} of the pattern${hint}`)
}

function checkDepth(source: string, path: string): void {
  let depth = 0
  let inClass = false
  for (let i = 0; i < source.length; i++) {
    const c = source[i]
    if (c === "\\") i++
    else if (c === "[") inClass = true
    else if (c === "]") inClass = false
    else if (!inClass && c === "(" && ++depth > fixedBounds.patternDepth) {
      throw limitError(fixedBounds, "patternDepth", depth, errorPath(path, i), { at: i })
    } else if (!inClass && c === ")") depth--
  }
}
