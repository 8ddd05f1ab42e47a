/**
 * The tokens by which a text can begin: which tokens of a vocabulary write given bytes.
 *
 * A text has many spellings: `true` may be one token, or `t` and `rue`. Walking on from every token
 * that the rest of a text begins with finds all of them.
 */

import type { Vocabulary } from "../../mask/vocabulary.ts"
import { latin1 } from "../latin1.ts"

/** A token, and the number of bytes that it writes. */
export interface Step {
  readonly token: number
  readonly length: number
}

/** They are built once for a vocabulary, when they are first needed. */
const built = new WeakMap<Vocabulary, Spellings>()

export function spellingsOf(vocabulary: Vocabulary): Spellings {
  const spellings = built.get(vocabulary) ?? new Spellings(vocabulary)
  built.set(vocabulary, spellings)
  return spellings
}

export class Spellings {
  private readonly vocabulary: Vocabulary
  /** Ids by the bytes of the token, a character for each byte. */
  private readonly ids = new Map<string, number[]>()

  /** O(bytes of the vocabulary). */
  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary
    for (let id = 0; id < vocabulary.width; id++) {
      const bytes = vocabulary.bytes(id)
      if (bytes.length === 0) continue
      const key = latin1(bytes)
      const ids = this.ids.get(key)
      if (ids) ids.push(id)
      else this.ids.set(key, [id])
    }
  }

  /**
   * Returns the tokens that write the first bytes of `rest`, which has one character for each byte.
   * `isFirst`: whether the token is the first of its output, which drops its leading space in some
   * vocabularies.
   */
  steps(rest: string, isFirst: boolean): readonly Step[] {
    const { maxTokenBytes, dropsFirstSpace } = this.vocabulary
    const drops = isFirst && dropsFirstSpace
    const steps: Step[] = []
    for (let length = 0; length <= Math.min(rest.length, maxTokenBytes); length++) {
      const part = rest.slice(0, length)
      if (drops) this.add(steps, ` ${part}`, length)
      if (length > 0 && !(drops && part[0] === " ")) this.add(steps, part, length)
    }
    return steps
  }

  private add(steps: Step[], key: string, length: number): void {
    for (const token of this.ids.get(key) ?? []) steps.push({ token, length })
  }
}
