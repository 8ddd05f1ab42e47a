/**
 * Finds out when a JSON text is complete, for output without a grammar. For a constrained output
 * the grammar itself decides that.
 *
 * A pushdown automaton for RFC 8259 reads one UTF-16 unit per step. It has a state for the position
 * inside the current value, and a list of open brackets. It never looks back, so any cut of the
 * text into pieces gives the same answer. A number at the top level ends only with the next unit
 * (or the end of the stream), since `1` may become `12`.
 */

/** State of a text: the beginning of a JSON value, a whole one, or neither. */
export type JsonStatus = "incomplete" | "complete" | "invalid"

export interface JsonVerdict {
  status: JsonStatus
  /**
   * Number of units up to the end of the value; for `invalid`, the offset of the unit that is not
   * allowed.
   */
  end: number
}

const maxDepth = 512

type Place =
  | "lead" // before the top value
  | "value" // a value must come
  | "firstItem" // a value or ]
  | "firstKey" // a name or }
  | "key" // a name must come
  | "colon"
  | "after" // after a value inside brackets: comma or the closing bracket
  | "string"
  | "escape"
  | "unicode"
  | "word" // true, false, null
  | "minus"
  | "zero"
  | "integer"
  | "point"
  | "fraction"
  | "exponent"
  | "exponentSign"
  | "exponentDigits"
  | "done"
  | "dead"

const numberEnds: ReadonlySet<Place> = new Set(["zero", "integer", "fraction", "exponentDigits"])

/** Finds when a text that comes in pieces is a complete JSON value. O(1) a unit. */
export class JsonWatch {
  private readonly lead: "strict" | "skip"
  private place: Place = "lead"
  /** Open brackets: "{" or "[", outermost first. */
  private readonly open: string[] = []
  /** Whether the string being read is a name. */
  private isKey = false
  /** The rest of `true`, `false` or `null`; for `\uXXXX`, one unit for each digit read. */
  private rest = ""
  private digits = 0
  private offset = 0
  private end = 0

  /** `skip` ignores all text before the first `{` or `[`; `strict` allows only white space. */
  constructor(lead: "strict" | "skip" = "strict") {
    this.lead = lead
  }

  /** Reads more text. Once the verdict is complete or invalid, it does not change. */
  push(text: string): JsonVerdict {
    for (let at = 0; at < text.length && this.place !== "done" && this.place !== "dead"; at++) {
      this.place = this.step(text[at])
      this.offset++
    }
    return this.verdict()
  }

  /** Returns the verdict at the end of the text: a number at the top level is now complete. */
  finish(): JsonVerdict {
    if (this.open.length === 0 && numberEnds.has(this.place)) {
      this.end = this.offset
      this.place = "done"
    }
    return this.verdict()
  }

  private verdict(): JsonVerdict {
    if (this.place === "done") return { status: "complete", end: this.end }
    if (this.place === "dead") return { status: "invalid", end: this.end }
    return { status: "incomplete", end: this.offset }
  }

  /** Returns the state after one more unit. */
  private step(unit: string): Place {
    switch (this.place) {
      case "lead":
        if (this.lead === "skip" ? unit !== "{" && unit !== "[" : isSpace(unit)) return this.place
        return this.startValue(unit)
      case "value":
        return isSpace(unit) ? this.place : this.startValue(unit)
      case "firstItem":
        if (isSpace(unit)) return this.place
        return unit === "]" ? this.close() : this.startValue(unit)
      case "firstKey":
      case "key":
        if (isSpace(unit)) return this.place
        if (unit === "}" && this.place === "firstKey") return this.close()
        this.isKey = true
        return unit === '"' ? "string" : this.die()
      case "colon":
        if (isSpace(unit)) return this.place
        return unit === ":" ? "value" : this.die()
      case "after":
        if (isSpace(unit)) return this.place
        if (unit === ",") return this.open.at(-1) === "{" ? "key" : "value"
        return unit === (this.open.at(-1) === "{" ? "}" : "]") ? this.close() : this.die()
      case "string":
        if (unit === '"') return this.isKey ? "colon" : this.endValue(1)
        if (unit === "\\") return "escape"
        return unit < " " ? this.die() : this.place
      case "escape":
        this.digits = 4
        if (unit === "u") return "unicode"
        return '"\\/bfnrt'.includes(unit) ? "string" : this.die()
      case "unicode":
        if (!/[0-9a-fA-F]/.test(unit)) return this.die()
        this.digits--
        return this.digits === 0 ? "string" : this.place
      case "word":
        if (unit !== this.rest[0]) return this.die()
        this.rest = this.rest.slice(1)
        return this.rest === "" ? this.endValue(1) : this.place
      case "done":
      case "dead":
        return this.place
      default:
        return this.stepNumber(unit)
    }
  }

  private stepNumber(unit: string): Place {
    const isDigit = unit >= "0" && unit <= "9"
    const isExponent = unit === "e" || unit === "E"
    switch (this.place) {
      case "minus":
        return isDigit ? (unit === "0" ? "zero" : "integer") : this.die()
      case "point":
        return isDigit ? "fraction" : this.die()
      case "exponent":
        if (unit === "+" || unit === "-") return "exponentSign"
        return isDigit ? "exponentDigits" : this.die()
      case "exponentSign":
        return isDigit ? "exponentDigits" : this.die()
      case "zero":
      case "integer":
        if (isDigit && this.place === "integer") return this.place
        // `01` is malformed; it is not a number followed by other text.
        if (isDigit) return this.die()
        if (unit === ".") return "point"
        break
      case "fraction":
      case "exponentDigits":
        if (isDigit) return this.place
        break
    }
    if (isExponent && this.place !== "exponentDigits") return "exponent"
    // The unit after a number belongs to the enclosing value.
    this.place = this.endValue(0)
    return this.place === "after" ? this.step(unit) : this.place
  }

  private startValue(unit: string): Place {
    this.isKey = false
    const word = words[unit]
    if (word !== undefined) {
      this.rest = word
      return "word"
    }
    switch (unit) {
      case "{":
      case "[":
        if (this.open.length === maxDepth) return this.die()
        this.open.push(unit)
        return unit === "{" ? "firstKey" : "firstItem"
      case '"':
        return "string"
      case "-":
        return "minus"
      case "0":
        return "zero"
      default:
        return unit > "0" && unit <= "9" ? "integer" : this.die()
    }
  }

  private close(): Place {
    this.open.pop()
    return this.endValue(1)
  }

  /**
   * Ends a value. `count` is 1 if the current unit belongs to the value, 0 if it is the one after
   * it.
   */
  private endValue(count: number): Place {
    if (this.open.length > 0) return "after"
    this.end = this.offset + count
    return "done"
  }

  private die(): Place {
    this.end = this.offset
    return "dead"
  }
}

const words: Readonly<Record<string, string>> = { t: "rue", f: "alse", n: "ull" }

function isSpace(unit: string): boolean {
  return unit === " " || unit === "\n" || unit === "\t" || unit === "\r"
}
