/** The error of stored constraints and vocabularies. */

/** The part of a file that is wrong. */
export type StorePart =
  | "magic"
  | "format version"
  | "engine build"
  | "checksum"
  | "grammar hash"
  | "vocabulary hash"
  | "report"
  | "content"

/** A stored constraint or vocabulary cannot be read here: `part` names the part that is wrong. */
export class StoreError extends Error {
  readonly part: StorePart

  constructor(part: StorePart, message: string) {
    super(`${part}: ${message}`)
    this.name = "StoreError"
    this.part = part
  }
}
