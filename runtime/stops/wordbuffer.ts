/**
 * Holds text back until the end of a word, for readers who must not see half of one.
 *
 * All text up to the last space is sent; if the text ends with a newline or with a character of a
 * script that has no spaces between words, all of it is sent. The held text contains neither, so
 * only new text is searched.
 */

import { HeldText } from "./heldtext.ts"

export class WordBuffer {
  private readonly held = new HeldText()

  /** Adds text of whole code points. Returns the text that may be sent now. */
  push(text: string): string {
    const heldCount = this.held.length
    this.held.push(text)
    const isWhole = /[\n\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u.test(text.slice(-2))
    const end = isWhole ? text.length : text.lastIndexOf(" ") + 1
    return end === 0 ? "" : this.held.take(heldCount + end)
  }

  /** Returns the rest, at the end of the text. */
  flush(): string {
    return this.held.take(this.held.length)
  }
}
