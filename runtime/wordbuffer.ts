/**
 * Text held back to the end of a word, for readers who must not see half of one.
 *
 * Sent is what ends at the last space; all of it when it ends with a newline or with a character of a script that has no
 * spaces between words.
 */

export class WordBuffer {
  private held = ""

  /** What may be sent now. */
  push(text: string): string {
    const whole = this.held + text
    const end = /[\n\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]$/u.test(whole)
      ? whole.length
      : whole.lastIndexOf(" ") + 1
    this.held = whole.slice(end)
    return whole.slice(0, end)
  }

  /** The rest, at the end of the text. */
  flush(): string {
    const { held } = this
    this.held = ""
    return held
  }
}
