/**
 * Finds out when an XML element is complete, for output without a grammar.
 *
 * An automaton over UTF-16 units with a stack of open tags. Comments, CDATA sections, processing
 * instructions and declarations are skipped, and so are quoted attribute values; an element may
 * close itself. Text before the first tag is skipped. Apart from the balance of tags,
 * well-formedness is not checked (XML 1.0, sections 2.4 to 2.7, 3.1).
 */

import type { JsonVerdict } from "./jsonwatch.ts"

const maxDepth = 512

type Place =
  | "text"
  | "markup" // after <
  | "name"
  | "attributes"
  | "quoted"
  | "slash" // after / in a tag
  | "closeName"
  | "closeEnd" // after the name of a closing tag
  | "bang" // after <!
  | "comment"
  | "cdata"
  | "instruction"
  | "declaration"
  | "done"
  | "dead"

const endOf: Partial<Record<Place, string>> = {
  comment: "-->",
  cdata: "]]>",
  instruction: "?>",
  declaration: ">",
}

export class XmlWatch {
  private place: Place = "text"
  private readonly open: string[] = []
  /** Name of the tag being read. */
  private name = ""
  private quote = ""
  /** The units read since the state was entered, as far as they are needed. */
  private recent = ""
  private offset = 0
  private end = 0

  /** Reads more text. Once the verdict is complete or invalid, it does not change. */
  push(text: string): JsonVerdict {
    for (let at = 0; at < text.length && this.place !== "done" && this.place !== "dead"; at++) {
      this.place = this.step(text[at])
      this.offset++
    }
    if (this.place === "done") return { status: "complete", end: this.end }
    if (this.place === "dead") return { status: "invalid", end: this.end }
    return { status: "incomplete", end: this.offset }
  }

  private step(unit: string): Place {
    switch (this.place) {
      case "text":
        return unit === "<" ? "markup" : "text"
      case "markup":
        this.recent = ""
        this.name = ""
        if (unit === "!") return "bang"
        if (unit === "?") return "instruction"
        if (unit === "/") return this.open.length > 0 ? "closeName" : "text"
        if (isNameStart(unit)) return this.readName(unit)
        // Before the first tag, < is text.
        return this.open.length > 0 ? this.die() : unit === "<" ? "markup" : "text"
      case "name":
        if (isName(unit)) return this.readName(unit)
        return isSpace(unit) || unit === ">" || unit === "/" ? this.stepTag(unit) : this.die()
      case "attributes":
        return this.stepTag(unit)
      case "quoted":
        return unit === this.quote ? "attributes" : "quoted"
      case "slash":
        return unit === ">" ? this.endElement() : this.stepTag(unit)
      case "closeName":
        if (isName(unit)) {
          this.name += unit
          return "closeName"
        }
        return isSpace(unit) ? "closeEnd" : this.closeTag(unit)
      case "closeEnd":
        return isSpace(unit) ? "closeEnd" : this.closeTag(unit)
      case "bang":
        this.recent += unit
        if (this.recent === "--") return this.enter("comment")
        if (this.recent === "[CDATA[") return this.enter("cdata")
        if ("--".startsWith(this.recent) || "[CDATA[".startsWith(this.recent)) return "bang"
        return unit === ">" ? "text" : this.enter("declaration")
      case "comment":
      case "cdata":
      case "instruction":
      case "declaration": {
        this.recent = (this.recent + unit).slice(-3)
        return this.recent.endsWith(endOf[this.place]!) ? "text" : this.place
      }
      case "done":
      case "dead":
        return this.place
      default:
        return this.place satisfies never
    }
  }

  private stepTag(unit: string): Place {
    if (unit === '"' || unit === "'") {
      this.quote = unit
      return "quoted"
    }
    if (unit === "<") return this.die()
    if (unit === "/") return "slash"
    if (unit !== ">") return "attributes"
    if (this.open.length === maxDepth) return this.die()
    this.open.push(this.name)
    return "text"
  }

  private closeTag(unit: string): Place {
    if (unit !== ">" || this.open.pop() !== this.name) return this.die()
    return this.endElement()
  }

  private endElement(): Place {
    if (this.open.length > 0) return "text"
    this.end = this.offset + 1
    return "done"
  }

  private readName(unit: string): Place {
    this.name += unit
    return "name"
  }

  private enter(place: Place): Place {
    this.recent = ""
    return place
  }

  private die(): Place {
    this.end = this.offset
    return "dead"
  }
}

function isNameStart(unit: string): boolean {
  return /[A-Za-z_:]/.test(unit) || unit >= "\u00c0"
}

function isName(unit: string): boolean {
  return isNameStart(unit) || /[0-9.\u00b7-]/.test(unit)
}

function isSpace(unit: string): boolean {
  return unit === " " || unit === "\n" || unit === "\t" || unit === "\r"
}
