/**
 * Fixed texts as a model writes them: where one holds the spelling of a control token, the token is meant, since no model spells
 * it out. At each place the longest name counts. Without a vocabulary a fixed text is what it spells.
 */
import type { Rules, TokenNames } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"

/** A part of a fixed text: as bytes, or the control token that is spelled so. */
export interface Piece {
  readonly text: string
  readonly token: number | null
}

/** What finds the names of control tokens, by vocabulary. Null: it has none. */
const finders = new WeakMap<TokenNames, RegExp | null>()

function finderOf(tokens: TokenNames): RegExp | null {
  let finder = finders.get(tokens)
  if (finder === undefined) {
    const names = [...tokens.specials.keys()].filter((name) => name !== "")
    // The first alternative that fits is taken.
    names.sort((a, b) => b.length - a.length)
    const escaped = names.map((name) => name.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
    finder = names.length === 0 ? null : new RegExp(escaped.join("|"), "g")
    finders.set(tokens, finder)
  }
  return finder
}

/** `text` in its pieces; none for the empty text. Neighbours are not both bytes. */
export function piecesOf(text: string, tokens: TokenNames | null): Piece[] {
  const finder = tokens === null ? null : finderOf(tokens)
  if (finder === null || tokens === null) return text === "" ? [] : [{ text, token: null }]
  const pieces: Piece[] = []
  let from = 0
  for (const { 0: name, index } of text.matchAll(finder)) {
    if (index > from) pieces.push({ text: text.slice(from, index), token: null })
    pieces.push({ text: name, token: tokens.specials.get(name) as number })
    from = index + name.length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), token: null })
  return pieces
}

/** What `pieces` spell. */
export function spelled(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join("")
}

/** `pieces` in two: those of the first `units` UTF-16 units, a token that lies across included, and the others. */
export function splitPieces(pieces: readonly Piece[], units: number): [front: Piece[], back: Piece[]] {
  const front: Piece[] = []
  let left = units
  for (const [i, piece] of pieces.entries()) {
    if (left <= 0) return [front, pieces.slice(i)]
    if (piece.token === null && piece.text.length > left) {
      front.push({ text: piece.text.slice(0, left), token: null })
      return [front, [{ text: piece.text.slice(left), token: null }, ...pieces.slice(i + 1)]]
    }
    front.push(piece)
    left -= piece.text.length
  }
  return [front, []]
}

/** Exactly these pieces. */
export function piecesTerm({ terms }: Rules, pieces: readonly Piece[]): Term {
  return terms.concat(
    ...pieces.map(({ text, token }) => (token === null ? terms.text(text) : terms.token([token]))),
  )
}

/** One of many fixed texts, each with what follows it. Their beginnings are one trie: what follows is met when its text is read. */
export function piecesChoice(
  rules: Rules,
  options: readonly (readonly [pieces: readonly Piece[], rest: Term])[],
): Term {
  const { terms } = rules
  const ended: Term[] = []
  const byText = new Map<string, [readonly Piece[], Term][]>()
  const byToken = new Map<number, [readonly Piece[], Term][]>()
  for (const [[first, ...others], rest] of options) {
    if (first === undefined) ended.push(rest)
    else if (first.token === null) listAt(byText, first.text).push([others, rest])
    else listAt(byToken, first.token).push([others, rest])
  }
  const texts = [...byText].map(([text, rests]) => [text, piecesChoice(rules, rests)] as const)
  // One text alone is one lexeme with what follows it.
  const [[only, rest] = ["", terms.never]] = texts
  const choice = texts.length === 1 ? terms.concat(terms.text(only), rest) : terms.choice(texts)
  const tokens = [...byToken].map(([token, rests]) =>
    terms.concat(terms.token([token]), piecesChoice(rules, rests)),
  )
  return terms.or([...ended, choice, ...tokens])
}

/** The list under `key`, made where there is none. */
export function listAt<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key)
  if (list === undefined) {
    list = []
    lists.set(key, list)
  }
  return list
}
