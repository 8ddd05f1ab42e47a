/**
 * Every bound of `grammar/` and `mask/` above which a constraint is refused, with its value.
 *
 * `Limits` are options: a caller that has the time may raise them for one constraint. `fixedBounds` are not. Some are what a
 * format or a width of bits allows. Some keep calls from nesting deeper than the stack. The others bound searches of expressions
 * and lexemes: what they find is kept for all constraints of the process, so it cannot depend on the options of one. Bounds that
 * refuse nothing, such as those of caches, stay in their files. docs/limits.md lists all of these.
 */

/**
 * What one constraint may cost. Each bound is an inclusive maximum; above it a `GrammarError` of kind `limit`
 * is thrown.
 */
export interface Limits {
  /** Schema text with its documents, in UTF-16 units. */
  schemaBytes: number
  /** Nesting of a schema text. */
  schemaDepth: number
  /** Schema nodes with their dynamic copies. */
  nodes: number
  /** Ways to come to a dynamic anchor. */
  dynamicScopes: number
  /** Steps of the satisfiability test, at compile time and in residues together. */
  satSteps: number
  /** Finite sets of values that are enumerated. */
  finiteValues: number
  /** Steps to list the values of items that must differ. */
  valueSteps: number
  /** Comparisons of the branches of a `oneOf` about one value. */
  oneOfSteps: number
  /** Steps to meet the obligations of an object. */
  objectSteps: number
  /** Ways in which the patterns of an object's names overlap. */
  nameClasses: number
  /** Expressions that are made to tell those patterns apart. */
  nameStates: number
  /** Items that a `contains` counts. */
  containsItems: number
  /** Ways to count one item by several `contains`. */
  containsWays: number
  /** Such ways that are looked at for one answer. */
  containsTries: number
  /** Steps to count unique items by several `contains`. */
  containsSteps: number
  /** Values that are looked at to find different ones for unique items. */
  uniqueSteps: number
  /** States of arrays with two equal items. */
  equalItems: number
  /** Threads in one state, stacks below one thread, alternatives of an object, and ways in which one value or one property can be read. */
  threads: number
  /** Frames on one stack. */
  stackDepth: number
  /** Options of a choice. */
  choices: number
  /** Source of one regular expression, in UTF-16 units. */
  regexBytes: number
  /** Lookarounds of one regular expression. */
  lookarounds: number
  /** Text of a grammar in a notation, in UTF-16 units. */
  grammarBytes: number
  /** Nesting of groups in a grammar's text. */
  grammarDepth: number
  /** Count of one repetition in a grammar or a regular expression. */
  maxRepeat: number
  /** Rules of a grammar, those that it takes in from others included. */
  rules: number
  /** Terms that the rules of a grammar consist of, once they are simplified. */
  symbols: number
  /** Uses of templates of a grammar with different values. */
  templates: number
  /** States of a lexeme that is cut in two for a capture beside a suffix. */
  suffixStates: number
  /** Steps to find what one text captures; more than 2^25 count as that. */
  captureSteps: number
  /** Chunks of which a substring is a run. */
  chunks: number
  /** Tags of a structural tag, nested ones included. */
  tags: number
  /** Triggers of one free text, and what it excludes. */
  triggers: number
  /** Columns of the tables of `sqlGrammar`, together. */
  sqlColumns: number
  /** Pairs of columns by which those tables may be joined. */
  sqlLinks: number
  /** Sets of tables that one FROM may hold; each is a thread. */
  sqlScopes: number
  /** UTF-16 units that end one state of a machine ahead of time. */
  storedEnding: number
  /** Those of all its states. */
  storedEndings: number
  /** Wall time of one compilation, in milliseconds, see `deadline.ts`. Infinity by default: all other bounds are counts. */
  compileMs: number
}

/** The bounds that hold where a caller gives no others. */
export const defaultLimits: Readonly<Limits> = {
  schemaBytes: 8 << 20,
  schemaDepth: 512,
  nodes: 500_000,
  dynamicScopes: 4_096,
  satSteps: 1_000_000,
  finiteValues: 65_536,
  valueSteps: 400_000,
  oneOfSteps: 1_000_000,
  objectSteps: 20_000,
  nameClasses: 512,
  nameStates: 100_000,
  containsItems: 1_000,
  containsWays: 1_024,
  containsTries: 100_000,
  containsSteps: 200_000,
  uniqueSteps: 20_000_000,
  equalItems: 4_096,
  threads: 1_024,
  stackDepth: 1_024,
  choices: 200_000,
  regexBytes: 64 << 10,
  lookarounds: 32,
  grammarBytes: 8 << 20,
  grammarDepth: 512,
  maxRepeat: 1_000_000,
  rules: 50_000,
  symbols: 500_000,
  templates: 10_000,
  suffixStates: 4_096,
  captureSteps: 5_000_000,
  chunks: 200_000,
  tags: 4_096,
  triggers: 1_024,
  sqlColumns: 10_000,
  sqlLinks: 20_000,
  sqlScopes: 256,
  storedEnding: 256,
  storedEndings: 1 << 19,
  compileMs: Number.POSITIVE_INFINITY,
}

/** Bounds that no option raises: the refusal says what to simplify. */
export const fixedBounds = {
  // What a format allows, and widths.
  /** Tools of one turn. */
  tools: 4_096,
  /** Bytes of a PostgreSQL name, which cuts longer ones. */
  sqlNameBytes: 63,
  /** Exponent of a number, of either sign: sums of a few are exact. */
  exponent: 2 ** 50,
  /** Significant digits of a bound or a divisor. */
  digits: 1_000,
  /** Obligations of one object, by negation. */
  obligations: 8_192,

  // Nesting of calls.
  /** Groups of a pattern inside each other. */
  patternDepth: 512,
  /** Schemas that refer to each other about one value: allOf, anyOf, not, $ref. */
  inPlaceDepth: 1_000,
  /** Items ahead that a count of unique items looks at. */
  containsAhead: 500,
  /** Conditions of a Lark rule inside each other. */
  conditionDepth: 64,

  // Texts that nobody would write.
  /** Bytes of a shortest text of a pattern, a lexeme or a rule, and of what a part of it may need once it was begun. */
  shortestBytes: 1 << 20,
  /** UTF-16 units of the shortest value of a schema, wherever a text may come to it; minLength, minItems and the like. */
  witnessUnits: 1 << 20,
  /** UTF-16 units of an item that is compared with others. */
  comparedUnits: 1 << 17,

  // Searches whose findings all constraints share.
  /** Automaton states to find a text that a pattern accepts, and expressions that are made meanwhile. */
  emptinessStates: 40_000,
  emptinessExprs: 400_000,
  /** Words that the ways to go on in a pattern take. */
  derivativeWords: 4 << 20,
  /** Repetitions around a lookaround that may stand alone. */
  unrolled: 64,
  /** Ways in which lookarounds inside repetitions combine. */
  lookaroundTerms: 4_096,
  /** Automaton states of a pattern with a length, and bytes to count its lengths. */
  lengthStates: 50_000,
  lengthBytes: 32 << 20,
  /** Automaton states and transitions to find a shortest text of a pattern. */
  shortestStates: 100_000,
  shortestRanges: 350_000,
  /** Beginnings between two texts of a pattern. */
  textsBetween: 30_000,
  /** States of a lexeme to find its shortest text. */
  lexemeStates: 30_000,
  /** Parts of a combination of number constraints: a formula beyond it has exploded. */
  numberParts: 20_000,
  /** Chunks of a substring that may be open at once. */
  substringReadings: 1_024,
} as const
