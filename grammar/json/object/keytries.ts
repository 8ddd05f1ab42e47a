/**
 * The declared names of an object as tries. Names that may come next have their own tag. The other
 * names are excluded, or left out if no class of keys could read them.
 */
import { PairMap } from "../../intern.ts"
import { buildNames, ExcludedTag, NoNames, newNameTag, withName } from "../../lexeme/string/names.ts"
import { owned } from "../../tables.ts"
import { ownText } from "../../utf8.ts"
import { compareNames } from "../read/value.ts"

/** The first tag of a declared name. Later tags belong to declared names as well. */
export const FirstNameTag = ExcludedTag + 1
const known = owned("names", { tags: new Map<string, number>() }, { entryBytes: 40 })

/**
 * Returns the tag of a declared name. It is the same in all schemas, so that they share automata.
 * `bytes` is the name in UTF-8.
 */
export function tagOfName(name: string, bytes: Uint8Array): number {
  let tag = known.tags.get(name)
  if (tag === undefined) {
    tag = newNameTag(bytes)
    known.tags.set(ownText(name), tag)
  }
  return tag
}

/** A declared name and its tag. */
interface DeclaredKey {
  readonly bytes: Uint8Array
  readonly tag: number
}

/** A trie, and the indexes of the names that are not excluded in it, ascending. */
interface KeyTrie {
  readonly available: readonly number[]
  readonly areLeftOut: boolean
  readonly trie: number
}

export class KeyTries {
  private readonly keys: readonly DeclaredKey[]
  /**
   * Maps a trie and a key to the trie with that key flipped. The second number is 2 × key, plus 1
   * if names that may not come are left out.
   */
  private readonly turned = new PairMap()
  /** Maps a tag to the index of its key. Made when the first key is read. */
  private indexes: Map<number, number> | null = null
  private last: KeyTrie | null = null
  private all: number | undefined
  private excluded: number | undefined

  constructor(keys: readonly DeclaredKey[]) {
    this.keys = keys
  }

  /** Returns the index of the key with `tag`. */
  indexOf(tag: number): number {
    this.indexes ??= new Map(this.keys.map((key, index) => [key.tag, index]))
    return this.indexes.get(tag) as number
  }

  /**
   * Returns the trie in which the names `available` (ascending) may come. It is built name by name
   * from the trie returned last, from the trie of no names or from that of all names, whichever is
   * nearest: most objects continue from a set seen just before.
   */
  of(available: readonly number[], areLeftOut: boolean): number {
    const { keys } = this
    const isMost = 2 * available.length > keys.length
    const most = isMost ? keys.length - available.length : available.length
    let from = this.last?.areLeftOut === areLeftOut ? this.last : null
    let turns = from === null ? null : turnsBetween(from.available, available, most)
    if (from === null || turns === null) {
      from = {
        available: isMost ? keys.map((_, i) => i) : [],
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
    this.excluded ??= trieOf(this.keys.map(({ bytes }) => ({ bytes, tag: ExcludedTag })))
    return this.excluded
  }

  private first(areAll: boolean, areLeftOut: boolean): number {
    if (!areAll) return areLeftOut ? NoNames : this.allExcluded()
    this.all ??= trieOf([...this.keys])
    return this.all
  }

  /** Returns `trie` with name `index` made available or unavailable. */
  private turn(trie: number, index: number, isAvailable: boolean, areLeftOut: boolean): number {
    const key = 2 * index + (areLeftOut ? 1 : 0)
    const known = this.turned.get(trie, key)
    if (known >= 0) return known
    const { bytes, tag } = this.keys[index]
    const turned = withName(trie, bytes, isAvailable ? tag : areLeftOut ? 0 : ExcludedTag)
    this.turned.set(trie, key, turned)
    return turned
  }
}

/**
 * Returns the elements that are in only one of two ascending lists: i if it is in `to`, -1 - i if
 * it is in `from`. Returns null if there are more than `most`.
 */
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

function trieOf(entries: DeclaredKey[]): number {
  return entries.length === 0 ? NoNames : buildNames(entries.sort((a, b) => compareNames(a.bytes, b.bytes)))
}
