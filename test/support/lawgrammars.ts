/**
 * Grammars of every kind over one small vocabulary, for the laws of the matcher that hold for all of them. A notation adds a
 * line, and every law is tried on it.
 */
import { Rules } from "../../grammar/ebnf/rules.ts"
import { defaultLimits } from "../../grammar/errors.ts"
import { compile, type Grammar, type GrammarInput } from "../../grammar/index.ts"
import { exprs } from "../../grammar/lexeme/expr/expr.ts"
import { isAllowed, type Matcher, Vocabulary } from "../../mask/index.ts"

const encoder = new TextEncoder()

/** Ordinary tokens by id: two spell `ab`, one an end of `é`. */
export const lawTokens = [...'{}[]",:ab01+ é', "true", "ab", '{"', '":', "ab", "null", "[]", '"a"', "1+0"]
const first = lawTokens.length
/** Two end ids with a hole between them. */
export const lawEnds = [first, first + 2]
const open = first + 3
const close = first + 4
/** A padded width that is no multiple of 32. */
export const lawVocabulary = Vocabulary.fromBytes(
  [...lawTokens.map((text) => encoder.encode(text)), null, null, null, null, null, Uint8Array.of(0xa9)],
  { width: 61, endIds: lawEnds, specials: { "<open>": open, "<close>": close } },
)

export const idOf = (text: string) => lawTokens.indexOf(text)

const compiled = (input: GrammarInput) => compile(input).grammar

/** Sums with parentheses, left-recursive: `e: e "+" t | t`, `t: "[" e "]" | /[01]+/`. */
function sums(): Grammar {
  const rules = new Rules(defaultLimits)
  const { terms } = rules
  const [e, t] = [rules.declare("e"), rules.declare("t")]
  rules.define(e, [e, t], () =>
    terms.or([terms.concat(rules.use(e), terms.text("+"), rules.use(t)), rules.use(t)]),
  )
  rules.define(t, [e], () => {
    const digits = terms.expr(exprs.loop(exprs.or([exprs.literal("0"), exprs.literal("1")]), 1, Infinity))
    return terms.or([terms.concat(terms.text("["), rules.use(e), terms.text("]")), digits])
  })
  return rules.grammar(e, { key: () => "sums", title: "sums" })!
}

/** Texts between control tokens, nested: `s: (<open> s <close> | "ab" | token of "a" or "true" or an end id)*`. */
function controlled(): Grammar {
  const rules = new Rules(defaultLimits)
  const { terms } = rules
  const s = rules.declare("s")
  rules.define(s, [s], () => {
    const inner = terms.concat(terms.token([open]), rules.use(s), terms.token([close]))
    return terms.star(terms.or([inner, terms.text("ab"), terms.token([idOf("a"), idOf("true"), lawEnds[1]])]))
  })
  return rules.grammar(s, { key: () => "controlled", title: "controlled" })!
}

/** Lists of numbers that take so many tokens each, lists in lists: `s: "[" (n ("," n)*)? "]"`, `n[max_tokens=2]: s | [01+]+`. */
function counted(): Grammar {
  const rules = new Rules(defaultLimits)
  const { terms } = rules
  const [s, n] = [rules.declare("s"), rules.declare("n")]
  const digit = exprs.codePoints([0x2b, 0x2b, 0x30, 0x31])
  rules.define(s, [n], () => {
    const items = terms.concat(rules.use(n), terms.star(terms.concat(terms.text(","), rules.use(n))))
    return terms.budget(
      terms.concat(terms.text("["), terms.or([terms.empty, items]), terms.text("]")),
      7,
      "s",
    )
  })
  rules.define(n, [s], () =>
    terms.or([rules.use(s), terms.budget(terms.whole(exprs.loop(digit, 1, Infinity)), 2, "n")]),
  )
  return rules.grammar(s, { key: () => "counted", title: "counted" })!
}

/** Words and numbers, each as long as it can be: `s: (word | number | " ")*`, `word: (a | b | ab0)+`, `number: [01]+ ("+0")?`. */
function greedy(): Grammar {
  const rules = new Rules(defaultLimits)
  const { terms } = rules
  const s = rules.declare("s")
  const some = (...texts: string[]) => exprs.loop(exprs.or(texts.map(exprs.literal)), 1, Infinity)
  rules.define(s, [], () => {
    const number = exprs.concat(some("0", "1"), exprs.or([exprs.literal(""), exprs.literal("+0")]))
    const parts = [
      terms.greedy(some("a", "b", "ab0")),
      terms.greedy(number),
      terms.text(" "),
      terms.text("+"),
    ]
    return terms.star(terms.or(parts))
  })
  return rules.grammar(s, { key: () => "greedy", title: "greedy" })!
}

export const lawGrammars: readonly [name: string, grammar: Grammar][] = [
  ["any JSON", compiled({ kind: "json", schema: true })],
  [
    "an object",
    compiled({ kind: "json", schema: { type: "object", properties: { a: { type: "integer" }, ab: {} } } }),
  ],
  [
    "unique items",
    compiled({
      kind: "json",
      schema: { type: "array", uniqueItems: true, items: { enum: [0, 1, "a", true, null] } },
    }),
  ],
  ["a short string", compiled({ kind: "json", schema: { type: "string", maxLength: 3 } })],
  ["a regular expression", compiled({ kind: "regex", pattern: "(ab|a)*é?" })],
  ["a choice", compiled({ kind: "choice", options: ["ab", "a", "true", "nulltrue"] })],
  ["left recursion", sums()],
  ["control tokens", controlled()],
  ["budgets of tokens", counted()],
  ["greedy lexemes", greedy()],
]

/** The ids that the mask of `matcher` allows, ascending. */
export function allowedIds(matcher: Matcher): number[] {
  const { width, words } = matcher.fsm.vocabulary
  const row = new Uint32Array(words)
  matcher.fillMask(row)
  return Array.from({ length: width }, (_, id) => id).filter((id) => isAllowed(row, id))
}

/** Accepts an allowed token for each of `choices`, as far as the text goes on. Returns the tokens. */
export function walkOn(matcher: Matcher, choices: readonly number[]): number[] {
  const path: number[] = []
  for (const choice of choices) {
    if (matcher.isTerminated()) break
    const ids = allowedIds(matcher)
    const token = ids[choice % ids.length]
    if (!matcher.accept(token)) throw new Error(`token ${token} is in the mask, and not accepted`)
    path.push(token)
  }
  return path
}

/** One row of a matcher, over one that holds ones from before. */
export function rowOf(matcher: Matcher): { kind: string; row: number[] } {
  const row = new Uint32Array(matcher.fsm.vocabulary.words).fill(0xffffffff)
  return { kind: matcher.fillMask(row), row: Array.from(row) }
}
