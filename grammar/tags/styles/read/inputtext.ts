/**
 * Extracts the text of a custom tool's one argument from the JSON in which it arrives piece by
 * piece.
 */

const shortEscapes: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }

export class InputText {
  /** The position: before the colon, before the opening quote, inside the string, or after it. */
  private place: "key" | "quote" | "string" | "end" = "key"
  /** An escape that has begun. */
  private escape = ""

  /** Returns the text that `json` adds. */
  read(json: string): string {
    let text = ""
    for (const unit of json) {
      if (this.place === "key") this.place = unit === ":" ? "quote" : "key"
      else if (this.place === "quote") this.place = unit === '"' ? "string" : "quote"
      else if (this.place === "string") text += this.character(unit)
    }
    return text
  }

  private character(unit: string): string {
    if (this.escape === "") {
      if (unit === '"') this.place = "end"
      else if (unit === "\\") this.escape = unit
      else return unit
      return ""
    }
    this.escape += unit
    if (this.escape[1] === "u" && this.escape.length < 6) return ""
    const [, kind] = this.escape
    const digits = this.escape.slice(2)
    this.escape = ""
    return kind === "u" ? String.fromCharCode(Number.parseInt(digits, 16)) : (shortEscapes[kind] ?? kind)
  }
}
