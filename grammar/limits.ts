/**
 * Every bound of `grammar/` and `mask/` above which a constraint is refused, with its value.
 *
 * `Limits` are options: a caller that has the time may raise them for one constraint. `fixedBounds`
 * are not. Some are limits of a format or of a width in bits. Some keep calls from nesting deeper
 * than the stack. The others bound searches of expressions and lexemes, whose results all
 * constraints of the process share, so they cannot depend on the options of one. Bounds that refuse
 * nothing, such as those of caches, stay in their files. docs/limits.md lists all of these.
 * `refusals` holds the messages.
 */
import { exprBounds } from "./lexeme/expr/nodes.ts"

/**
 * What one constraint may cost. Each bound is an inclusive maximum; above it a `GrammarError` of
 * kind `limit` is thrown.
 */
export interface Limits {
  /** Schema text with its documents, in UTF-16 units. */
  schemaBytes: number
  /** Nesting of a schema text. */
  schemaDepth: number
  /** Schema nodes with their dynamic copies. */
  nodes: number
  /** Ways to reach a dynamic anchor. */
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
  /** Expressions that are made to distinguish those patterns. */
  nameStates: number
  /** Items that a `contains` counts. */
  containsItems: number
  /** Ways to count one item by several `contains`. */
  containsWays: number
  /** Such ways that are tried for one answer. */
  containsTries: number
  /** Steps to count unique items by several `contains`. */
  containsSteps: number
  /** Values that are tried to find different ones for unique items. */
  uniqueSteps: number
  /** States of arrays with two equal items. */
  equalItems: number
  /**
   * Threads in one state, stacks below one thread, alternatives of an object, and readings of one
   * value or one property.
   */
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
  /** Rules of a grammar, including those that it imports. */
  rules: number
  /** Terms of the rules of a grammar, after they are simplified. */
  symbols: number
  /** Uses of templates of a grammar with different values. */
  templates: number
  /** States of a lexeme that is cut in two for a capture beside a suffix. */
  suffixStates: number
  /** Steps to find what one text captures. Values above 2^25 count as 2^25. */
  captureSteps: number
  /** Chunks of the text of a substring. */
  chunks: number
  /** Tags of a structural tag, including nested ones. */
  tags: number
  /** Triggers and excludes of one free text. */
  triggers: number
  /** Columns of the tables of `sqlGrammar`, together. */
  sqlColumns: number
  /** Pairs of columns by which those tables may be joined. */
  sqlLinks: number
  /** Sets of tables that one FROM may hold; each is a thread. */
  sqlScopes: number
  /** UTF-16 units that complete one state of a precompiled machine. */
  storedEnding: number
  /** UTF-16 units that complete all its states together. */
  storedEndings: number
  /**
   * Wall time of one compilation, in milliseconds, see `deadline.ts`. Infinity by default, since
   * all other bounds are counts.
   */
  compileMs: number
}

/** The bounds that apply unless a caller gives others. */
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

/** Bounds without an option. The refusal says what to simplify. */
export const fixedBounds = {
  // Limits of a format, and widths.
  /** Tools of one turn. */
  tools: 4_096,
  /** Bytes of a PostgreSQL name. PostgreSQL cuts longer ones. */
  sqlNameBytes: 63,
  /** Exponent of a number, of either sign. Sums of a few are exact. */
  exponent: 2 ** 50,
  /** Significant digits of a bound or a divisor. */
  digits: 1_000,
  /** Obligations of one object that come from negations. */
  obligations: 8_192,

  // Nesting of calls.
  /** Nested groups of a pattern. */
  patternDepth: 512,
  /** Schemas that refer to each other about one value: allOf, anyOf, not, $ref. */
  inPlaceDepth: 1_000,
  /** Items ahead that a count of unique items considers. */
  containsAhead: 500,
  /** Nested conditions of a Lark rule. */
  conditionDepth: 64,

  // Sizes of texts beyond any practical use.
  /**
   * Bytes of a shortest text of a pattern, lexeme or rule, and of what a begun part may still need.
   */
  shortestBytes: 1 << 20,
  /** UTF-16 units of the shortest value of a schema anywhere in a text; also minLength etc. */
  witnessUnits: 1 << 20,
  /** UTF-16 units of an item that is compared with others. */
  comparedUnits: 1 << 17,

  // Searches whose results all constraints share.
  /** Automaton states to find a text that a pattern accepts, and expressions made meanwhile. */
  emptinessStates: 40_000,
  emptinessExprs: 400_000,
  /** Words of the derivatives that one row of a pattern needs. */
  derivativeWords: exprBounds.derivativeWords,
  /** Minimum count of a repetition around a lookaround that may match without reading. */
  unrolled: 64,
  /** Ways in which lookarounds inside repetitions combine. */
  lookaroundTerms: exprBounds.lookaroundTerms,
  /** Automaton states of a pattern with a length, and bytes to count its lengths. */
  lengthStates: 50_000,
  lengthBytes: 32 << 20,
  /** Automaton states and transitions to find a shortest text of a pattern. */
  shortestStates: 100_000,
  shortestRanges: 350_000,
  /** Prefixes that are tried between two texts of a pattern. */
  textsBetween: 30_000,
  /** States of a lexeme to find its shortest text. */
  lexemeStates: 30_000,
  /** Parts of a combination of number constraints. More means that a formula has exploded. */
  numberParts: 20_000,
  /** Chunks of a substring that may be open at once. */
  substringReadings: 1_024,
} as const

/** Returns the text of a refusal that only names what was counted. */
function counted(what: string, wayOut = "Make the input smaller"): string {
  return `${what}: {value} is above the bound of {bound}. ${wayOut}`
}

/**
 * The texts of all refusals, by their bound. If a bound is refused in several ways, a dot and a
 * word follow its name. Words in braces are filled in: the value, the bound, and words from the
 * caller. The last sentence is the way out; `limitError` puts the option that raises the bound in
 * front of it.
 */
export const refusals = {
  schemaBytes: counted("length of the schema text"),
  "schemaBytes.tag": counted("length of the structural tag"),
  schemaDepth: "the text nests deeper than {bound} levels",
  "schemaDepth.value": "the value nests too deeply, or contains itself",
  nodes: counted("schemas that can be reached"),
  dynamicScopes: "dynamic anchors are reached first in more than {bound} ways. Use fewer, or $ref",
  satSteps: counted("satisfiability"),
  "satSteps.alternatives": counted("work to combine alternatives"),
  "satSteps.greedy": counted("steps of the search for what may follow greedy lexemes"),
  valueSteps:
    "the values of items that must differ take more than {bound} steps to list. Allow more values, or simplify the items",
  oneOfSteps:
    "a oneOf of {branches} branches about one value needs more than {bound} comparisons. Use fewer, or anyOf",
  objectSteps:
    "the obligations of an object need more than {bound} steps. Simplify the not or oneOf around it",
  nameClasses: "patterns of property names overlap in more than {bound} ways. Anchor them, or use fewer",
  nameStates:
    "distinguishing the property names that patterns match takes more than {bound} automaton states. Anchor the patterns, or use fewer",
  containsItems: "contains needs {value} items to be counted: above {bound}. Lower minItems or minContains",
  containsWays: "items that several contains count need more than {bound} combinations. Use fewer of them",
  containsTries: "items that several contains count need more than {bound} combinations. Use fewer of them",
  containsSteps:
    "unique items that several contains count need more than {steps} steps or {ahead} items ahead. Use fewer of them",
  containsAhead:
    "unique items that several contains count need more than {steps} steps or {ahead} items ahead. Use fewer of them",
  uniqueSteps:
    "unique items over finite sets of values need more than {bound} steps. Lower minItems or allow more values",
  equalItems:
    "arrays with two equal items that contains counts need more than {bound} states. Lower the counts",
  "threads.open": counted("readings of the text so far that are still open"),
  "threads.value": counted("alternatives of one value"),
  "threads.negation": counted("alternatives of a negation"),
  "threads.key": counted(
    "readings of one key in all alternatives of an object",
    "Simplify the not or oneOf around it",
  ),
  "threads.property": counted(
    "ways in which one property meets obligations",
    "Simplify the not or oneOf around it",
  ),
  "stackDepth.text": "the text nests deeper than {bound} levels",
  "stackDepth.value":
    "each value nests at least {value} levels deep, above the bound of {bound}. Leave out some of the required levels",
  "stackDepth.shortest": "its shortest value nests deeper than {bound} levels",
  choices: counted("options of the choice"),
  "choices.columns": counted("columns"),
  regexBytes: counted("length of the pattern"),
  lookarounds: "lookarounds: {value} at {at} is above the bound of {bound}. Join or drop some",
  grammarBytes: counted("length of the grammar"),
  "grammarDepth.groups": counted("groups inside each other"),
  "grammarDepth.brackets": counted("nesting of brackets", "Name the inner parts"),
  "grammarDepth.templates": "templates inside each other: {value} are above the bound of {bound}",
  "grammarDepth.grammars": counted("grammars inside each other"),
  "grammarDepth.formats": counted("nesting of formats"),
  "maxRepeat.gbnf": counted("bound of a repetition"),
  "maxRepeat.lark": "repetition: {written} is above the bound of {bound}. Use a smaller count",
  "maxRepeat.pattern": counted("repetition {written} at {at}", "Use a smaller count or none"),
  "maxRepeat.tag": counted("repetitions"),
  rules: counted("rules of the grammar"),
  "rules.greedy": counted("copies of the grammar's rules for greedy lexemes"),
  symbols: counted("symbols of the grammar"),
  templates: counted("uses of templates with different values"),
  suffixStates:
    "a capture beside a suffix: the lexeme has more than {bound} states. Use smaller counts, or capture the whole in another rule",
  captureSteps:
    "captures: after {place} bytes, reading the text again takes more than {most} steps. Make the rules around captures less ambiguous",
  chunks: counted("chunks of a substring"),
  tags: counted("tags"),
  triggers: counted("triggers"),
  sqlColumns: counted("columns", "Name fewer"),
  sqlLinks: "pairs of columns that may join tables are above the bound of {bound}. Declare foreignKeys",
  sqlScopes: counted("tables", "Name fewer"),
  "sqlScopes.joined":
    "the sets of at most {maxTables} tables that can be joined are {value}, above the bound of {bound}. Declare foreignKeys, lower maxTables, or name fewer tables",
  storedEnding:
    "the completion of one state has {value} characters, above the bound of {bound} for a precompiled machine. Lower minLength, or the length of the pattern",
  storedEndings:
    "the completions of all states have {value} characters together, above the bound of {bound} for a precompiled machine. Lower minLength, or the length of the pattern",

  tools: counted("tools", "Send fewer"),
  "tools.functions": counted("tools", "Name fewer"),
  sqlNameBytes: "the name {name} has {value} bytes, PostgreSQL keeps {bound}. Shorten it",
  exponent: "the exponent of {text} is beyond ±2^50. Write a smaller exponent",
  digits: "a number with {value} significant digits is above the bound of {bound}. Round it",
  "digits.multiple":
    "the common multiple of {divisors} divisors has {value} digits, above the bound of {bound}. Use fewer of them",
  obligations: counted("obligations of one object, by negation", "Simplify the not or oneOf around it"),
  patternDepth: counted("nesting of groups at {at}", "Write fewer groups inside each other"),
  inPlaceDepth:
    "schemas refer to each other in place more than {bound} deep. Leave out some of the steps between",
  conditionDepth: "conditions nest deeper than the bound of {bound}. Split the alternative",
  "shortestBytes.text": counted("bytes of {what}"),
  "shortestBytes.alternative": counted("bytes of an alternative"),
  "shortestBytes.rule":
    "the shortest text of a rule has at least {value} bytes, above the bound of {bound}. Lower its repetitions",
  "shortestBytes.rulePart":
    'a part of the rule "{rule}" takes at least {value} bytes, above the bound of {bound}. Lower its repetitions',
  "shortestBytes.lexeme":
    "the shortest text has at least {value} bytes, above the bound of {bound}. Lower minLength",
  "shortestBytes.pattern":
    "the shortest text has at least {value} bytes, above the bound of {bound}. Lower minLength or the repeat counts",
  "shortestBytes.patternPart":
    "a part of the pattern takes at least {value} bytes, above the bound of {bound}. Lower its repeat counts",
  witnessUnits:
    "its shortest value has {value} characters or more, above the bound of {bound}. Lower the counts of the schema",
  "witnessUnits.above":
    "only values above {least} satisfy the schema: each is longer than the bound of {bound} characters. Lower it",
  "witnessUnits.count":
    "{what} of at least {value} {unit} is longer than the bound of {bound} characters. Lower {keyword}",
  comparedUnits:
    "a shortest item that is compared with others has {value} characters, above the bound of {bound}. Lower the counts of the items",
  emptinessStates:
    "the search for a text that a pattern accepts visited more than {bound} automaton states. Use smaller repeat counts or fewer lookarounds",
  emptinessExprs:
    "the search for a text that a pattern accepts made more than {bound} expressions. Use smaller repeat counts or fewer lookarounds",
  derivativeWords:
    "a pattern has too many possible continuations: they take more than {bound} words. Use fewer optional parts in a row",
  unrolled:
    "a lookaround that may match without reading is repeated at least {value} times, above the bound of {bound}. Lower the count",
  lookaroundTerms:
    "lookarounds inside repetitions combine in more than {bound} ways. Move them out of the repetition",
  lengthStates: "a pattern with a length needs more than {bound} automaton states. Write a simpler pattern",
  lengthBytes:
    "the lengths of a pattern need more than {bound} bytes. Use a smaller repeat count or drop minLength and maxLength",
  shortestStates:
    "the search for a shortest text of a pattern visited {visited}, above the bounds of {bounds}. Use smaller repeat counts or fewer lookarounds",
  shortestRanges:
    "the search for a shortest text of a pattern visited {visited}, above the bounds of {bounds}. Use smaller repeat counts or fewer lookarounds",
  textsBetween:
    "the search for the next text of a pattern tried more than {bound} prefixes. Use fewer lookarounds, or lower the number of names or items",
  lexemeStates:
    "the search for a shortest text met {value} states of a lexeme, above the bound of {bound}. Use smaller repeat counts, fewer lookarounds or fewer names",
  numberParts: "a combination of number constraints needs more than {bound} parts. Simplify the schema",
  substringReadings:
    "{value} chunks of a substring are open at once, above the bound of {bound}, because they are prefixes of each other. Cut the text into chunks that are not",

  // Options of `precompile`.
  "maxStates.differing":
    "the machine has more than {bound} states: names or items must differ from all earlier ones, so each of their texts is a state of its own. Name the properties and forbid others (additionalProperties: false), or bound the items' values",
  "maxStates.deep":
    "the machine has more than {bound} states: the text nests {depth} levels deep by then. Bound the recursion",
  "maxStates.counts":
    "the machine has more than {bound} states: counts and lengths multiply. Lower them, or raise maxStates",
} as const
