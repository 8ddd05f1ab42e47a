/**
 * Fixed texts as a model writes them. If a text contains the spelling of a control token, the token
 * is meant, because no model spells it out. At each place the longest name is used. Without a
 * vocabulary a fixed text is read as its bytes.
 */
import type { Rules } from "../ebnf/rules.ts"
import type { Term } from "../ebnf/terms.ts"
import type { TokenNames } from "../ebnf/tokennames.ts"

/** A part of a fixed text: bytes, or the control token with this spelling. */
export interface Piece {
  readonly text: string
  readonly token: number | null
}

/** Finds the names of control tokens. Most texts contain none of their beginnings. */
interface NameFinder {
  /** Matches the first two UTF-16 units of a name. */
  readonly beginning: RegExp
  /** Names by their first two units, longer ones first. */
  readonly names: ReadonlyMap<string, readonly string[]>
}

const BeginningUnits = 2
/** By vocabulary; null if it has no names. */
const finders = new WeakMap<TokenNames, NameFinder | null>()

function finderOf(tokens: TokenNames): NameFinder | null {
  let finder = finders.get(tokens)
  if (finder === undefined) {
    const names = new Map<string, string[]>()
    for (const name of tokens.specials.keys())
      if (name !== "") listAt(names, name.slice(0, BeginningUnits)).push(name)
    // A name of one unit may occur where a longer one begins.
    for (const [key, list] of names) if (key.length > 1) list.push(...(names.get(key[0]) ?? []))
    for (const list of names.values()) list.sort((a, b) => b.length - a.length)
    const keys = [...names.keys()].sort((a, b) => b.length - a.length)
    const escaped = keys.map((each) => each.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"))
    finder = names.size === 0 ? null : { beginning: new RegExp(escaped.join("|"), "g"), names }
    finders.set(tokens, finder)
  }
  return finder
}

/**
 * Returns the pieces of `text`; none for the empty text. Two pieces of bytes are never adjacent.
 */
export function piecesOf(text: string, tokens: TokenNames | null): Piece[] {
  const pieces: Piece[] = []
  const finder = tokens === null ? null : finderOf(tokens)
  let from = 0
  for (let at = 0; finder !== null && tokens !== null; ) {
    const { beginning, names } = finder
    beginning.lastIndex = at
    const found = beginning.exec(text)
    if (found === null) break
    const name = names.get(found[0])?.find((each) => text.startsWith(each, found.index))
    at = found.index + (name?.length ?? 1)
    if (name === undefined) continue
    if (found.index > from) pieces.push({ text: text.slice(from, found.index), token: null })
    pieces.push({ text: name, token: tokens.specials.get(name) as number })
    from = at
  }
  if (from < text.length) pieces.push({ text: text.slice(from), token: null })
  return pieces
}

/** Returns the spelling of `pieces`. */
export function spelled(pieces: readonly Piece[]): string {
  return pieces.map(({ text }) => text).join("")
}

/**
 * Splits `pieces` in two: the first `units` UTF-16 units, including a token that crosses the
 * border, and the rest.
 */
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

/** Returns the term of exactly these pieces. */
export function piecesTerm({ terms }: Rules, pieces: readonly Piece[]): Term {
  return terms.concat(
    ...pieces.map(({ text, token }) => (token === null ? terms.text(text) : terms.token([token]))),
  )
}

/**
 * Returns the term of one of many fixed texts, each with what follows it. Their beginnings are one
 * trie, so what follows is reached only when its text has been read.
 */
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
  // A single text is one lexeme together with what follows it.
  const [[only, rest] = ["", terms.never]] = texts
  const choice = texts.length === 1 ? terms.concat(terms.text(only), rest) : terms.choice(texts)
  const tokens = [...byToken].map(([token, rests]) =>
    terms.concat(terms.token([token]), piecesChoice(rules, rests)),
  )
  return terms.or([...ended, choice, ...tokens])
}

/** Returns the list of `key`. Adds an empty one if there is none. */
export function listAt<K, V>(lists: Map<K, V[]>, key: K): V[] {
  let list = lists.get(key)
  if (list === undefined) {
    list = []
    lists.set(key, list)
  }
  return list
}
