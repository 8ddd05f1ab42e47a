/**
 * The declared names of an object as tries: those that may come next, each with its tag; the others excluded, or left
 * out where no class of keys could read them.
 */
import { PairMap } from "../intern.ts"
import { buildNames, ExcludedTag, NoNames, withName } from "../lexeme/names.ts"
import { compareNames } from "./value.ts"

/** Tags of declared names: one per distinct name, the same in all schemas, so that automata are shared. */
export const FirstNameTag = ExcludedTag + 1
const nameTags = new Map<string, number>()

export function tagOfName(name: string): number {
  let tag = nameTags.get(name)
  if (tag === undefined) {
    tag = FirstNameTag + nameTags.size
    nameTags.set(name, tag)
  }
  return tag
}

interface DeclaredKey {
  readonly name: string
  readonly bytes: Uint8Array
}

/** A trie, and the names that are not excluded in it: indexes, ascending. */
interface KeyTrie {
  readonly available: readonly number[]
  readonly areLeftOut: boolean
  readonly trie: number
}

export class KeyTries {
  private readonly names: readonly DeclaredKey[]
  /** (trie, 2 × name + whether names that may not come are left out) → the trie with that name turned around. */
  private readonly turned = new PairMap()
  private last: KeyTrie | null = null
  private all: number | undefined
  private excluded: number | undefined

  constructor(names: readonly DeclaredKey[]) {
    this.names = names
  }

  /**
   * The trie where the names `available` (ascending) may come. Made name by name from the one made last, from none or
   * from all, whichever is nearest: objects mostly go on from a set just seen.
   */
  of(available: readonly number[], areLeftOut: boolean): number {
    const { names } = this
    const isMost = 2 * available.length > names.length
    const most = isMost ? names.length - available.length : available.length
    let from = this.last?.areLeftOut === areLeftOut ? this.last : null
    let turns = from === null ? null : turnsBetween(from.available, available, most)
    if (from === null || turns === null) {
      from = {
        available: isMost ? names.map((_, i) => i) : [],
        areLeftOut,
        trie: this.first(isMost, areLeftOut),
      }
      turns = turnsBetween(from.available, available, most) as number[]
    }
    let { trie } = from
    for (const turn of turns) trie = this.turn(trie, turn < 0 ? -1 - turn : turn, turn >= 0, areLeftOut)
    this.last = { available, areLeftOut, trie }
    return trie
  }

  allExcluded(): number {
    this.excluded ??= trieOf(this.names.map(({ bytes }) => ({ bytes, tag: ExcludedTag })))
    return this.excluded
  }

  private first(areAll: boolean, areLeftOut: boolean): number {
    if (!areAll) return areLeftOut ? NoNames : this.allExcluded()
    this.all ??= trieOf(this.names.map(({ bytes, name }) => ({ bytes, tag: tagOfName(name) })))
    return this.all
  }

  /** `trie` with name `index` available, or not any more. */
  private turn(trie: number, index: number, isAvailable: boolean, areLeftOut: boolean): number {
    const key = 2 * index + (areLeftOut ? 1 : 0)
    const known = this.turned.get(trie, key)
    if (known >= 0) return known
    const { name, bytes } = this.names[index]
    const turned = withName(trie, bytes, isAvailable ? tagOfName(name) : areLeftOut ? 0 : ExcludedTag)
    this.turned.set(trie, key, turned)
    return turned
  }
}

/** What is in only one of two ascending lists: i where it is in `to`, -1 - i where it is in `from`. Null: more than `most`. */
function turnsBetween(from: readonly number[], to: readonly number[], most: number): number[] | null {
  const turns: number[] = []
  for (let i = 0, k = 0; i < from.length || k < to.length; ) {
    if (turns.length > most) return null
    if (k === to.length || from[i] < to[k]) turns.push(-1 - from[i++])
    else if (i === from.length || to[k] < from[i]) turns.push(to[k++])
    else {
      i++
      k++
    }
  }
  return turns.length > most ? null : turns
}

function trieOf(entries: { bytes: Uint8Array; tag: number }[]): number {
  return entries.length === 0 ? NoNames : buildNames(entries.sort((a, b) => compareNames(a.bytes, b.bytes)))
}
