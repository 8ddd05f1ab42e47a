/**
 * States that are edges over a base (a string except along some names), and what they read where
 * the base reads something else.
 */
import { PairMap } from "../../grammar/intern.ts"
import { differsInClosingOnly } from "../../grammar/lexeme/string/string.ts"
import { Dead, lexemes } from "../../grammar/lexeme/table.ts"
import type { Found, TokenTrie } from "../trie.ts"
import type { Children } from "./children.ts"
import { countOf } from "./entry.ts"
import { Quote, type Quotes } from "./quotes.ts"

export class Overlays {
  private readonly trie: TokenTrie
  private readonly children: Children
  private readonly quotes: Quotes
  /** (node, state) → the base with which the state agrees everywhere below the node. */
  private readonly equals = new PairMap()

  constructor(children: Children, quotes: Quotes) {
    this.trie = children.trie
    this.children = children
    this.quotes = quotes
  }

  /** Evicts what is cached by state. */
  clear(): void {
    this.equals.clear()
  }

  /**
   * Collects into `found` what `state` reads below `node`, and into `other` what `base` reads
   * there, where the two differ.
   */
  differ(node: number, state: number, base: number, found: Found, other: Found): void {
    const { trie, children, quotes } = this
    const areClosing = differsInClosingOnly(state)
    if (areClosing && !quotes.isBelow(node)) return
    const count = lexemes.edgeCount(state)
    const end = children.end(node)
    for (let i = 0, place = children.first(node); i < count && place < end; i++) {
      const byte = lexemes.edgeByte(state, i)
      place = children.seek(place, end, byte)
      if (place === end || children.byteAt(place) !== byte) continue
      const child = children.nodeAt(place)
      if (areClosing && byte !== Quote && !quotes.isBelow(child)) continue
      const mine = lexemes.edgeTarget(state, i)
      const theirs = lexemes.next(base, byte)
      if (mine === theirs) continue
      if (mine !== Dead && theirs !== Dead && lexemes.base(mine) === theirs) {
        if (!trie.hasChildren(child)) continue
        if (lexemes.tags[mine] !== 0) found.exits.push(child, lexemes.tags[mine])
        if (lexemes.tags[theirs] !== 0) other.exits.push(child, lexemes.tags[theirs])
        this.differBelow(child, mine, theirs, found, other)
        continue
      }
      children.visit(child, mine, found)
      children.visit(child, theirs, other)
    }
  }

  /**
   * As `differ`, but remembers if nothing differs below `node`, since most names are not a prefix
   * of any token.
   */
  private differBelow(node: number, state: number, base: number, found: Found, other: Found): void {
    if (this.equals.get(node, state) === base) return
    const before = countOf(found) + countOf(other)
    this.differ(node, state, base, found, other)
    if (countOf(found) + countOf(other) === before) this.equals.set(node, state, base)
  }
}
