/**
 * Computes how probable `null` was for each value of a JSON answer, at the token that began it.
 *
 * Some of the tokens that the mask allows there begin the value; only these are counted. Those that
 * begin it with "n" begin `null`, since no other value has this first character. Their share of the
 * probability is that of `null`, over all its tokenisations, given the text before.
 */
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { logSum } from "../decisions/spelled.ts"
import { FieldReader } from "../fields/reader.ts"

/** Whether each value that a text opens is null, by its path. */
type Opened = ReadonlyMap<string, boolean>

export class NullWatch {
  /** By path. */
  readonly probabilities = new Map<string, number>()
  private readonly vocabulary: Vocabulary
  private readonly reader = new FieldReader()
  /** Number of tokens that the reader has read, with those of the prompt. */
  private readCount = -1
  /** The token that was drawn last, which may not be accepted, and what it would begin. */
  private drawn: { token: number; probabilities: ReadonlyMap<string, number> } | null = null

  constructor(vocabulary: Vocabulary) {
    this.vocabulary = vocabulary
  }

  /**
   * Looks at a drawn token: the `logits` and the `mask` that it was drawn with, and all `tokens`
   * before it. Costs O(V) for a token that begins a value.
   */
  see(logits: Float32Array, mask: Uint32Array, token: number, tokens: readonly number[]): void {
    if (this.readCount < 0) this.readCount = tokens.length
    for (; this.readCount < tokens.length; this.readCount++) this.read(tokens[this.readCount])
    this.drawn = { token, probabilities: this.judge(logits, mask, token) }
  }

  /** Takes the token that was drawn last as accepted. */
  finish(): void {
    if (this.drawn !== null) this.read(this.drawn.token)
  }

  private read(token: number): void {
    if (this.drawn?.token === token)
      for (const [path, probability] of this.drawn.probabilities) this.probabilities.set(path, probability)
    this.drawn = null
    this.reader.push(this.vocabulary.bytes(token))
  }

  private judge(logits: Float32Array, mask: Uint32Array, token: number): ReadonlyMap<string, number> {
    const paths = [...this.openedBy(this.vocabulary.bytes(token)).keys()]
    if (paths.length === 0) return new Map()
    const found = new Map(paths.map((path) => [path, { nulls: [] as number[], all: [] as number[] }]))
    /** The values that a first byte opens, where no further byte can open another of `paths`. */
    const byFirst = new Map<number, Opened | null>()
    for (let id = 0; id < logits.length; id++) {
      if ((mask[id >>> 5] & (1 << (id & 31))) === 0) continue
      const bytes = this.vocabulary.bytes(id)
      if (bytes.length === 0) continue
      let opened = byFirst.get(bytes[0])
      if (opened === undefined) {
        const first = this.openedBy(bytes.subarray(0, 1))
        opened = paths.every((path) => first.has(path)) ? first : null
        byFirst.set(bytes[0], opened)
      }
      for (const [path, isNull] of opened ?? this.openedBy(bytes)) {
        const terms = found.get(path)
        terms?.all.push(logits[id])
        if (isNull) terms?.nulls.push(logits[id])
      }
    }
    return new Map([...found].map(([path, { nulls, all }]) => [path, Math.exp(logSum(nulls) - logSum(all))]))
  }

  /** Returns the values that would begin if `bytes` came next. */
  private openedBy(bytes: Uint8Array): Opened {
    const opened = new Map<string, boolean>()
    for (const event of this.reader.fork().push(bytes))
      if (event.type === "open") opened.set(event.path, event.kind === "null")
    return opened
  }
}
