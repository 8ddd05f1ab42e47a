/**
 * Guesses the likely continuation of a constrained text for drafts, from the text's own habits.
 *
 * Punctuation follows punctuation. After `",` a text may always break the line and open the next
 * name; after a name it closes the quotes and writes a colon and a space. So tokens are looked up
 * in two ways. First, exactly: the tokens that once followed the last three or four tokens are
 * guessed again, words included, for lists that repeat themselves. Second, by shape, where all
 * words have the same shape: the tokens that once followed the last one to four shapes are guessed
 * if they are only punctuation. So a text that has written one member of an object predicts the
 * form of the next, whatever its name. The continuation of a drawn word cannot be predicted, so a
 * guess ends there. Words that the constraint forces are mostly names, and have a shape of their
 * own. A text without tokens counts as one like `usualJson`. Only the two latest continuations of a
 * suffix are kept.
 */
import type { Vocabulary } from "../../mask/index.ts"

/**
 * Length of the longest suffix that is looked up, and of the shortest suffix that may predict
 * words.
 */
const longest = 4
const leastWords = 3
/** Shapes of a token with letters, digits or characters beyond ASCII, drawn or forced. */
const Word = -1
const ForcedWord = -2

/** A text in the style in which most models write JSON. */
const usualJson = '{"name": "value", "other": 5, "more": ["one", "two", 3], "last": {"inner": 7}}'

export class Habits {
  private readonly vocabulary: Vocabulary
  /** The last tokens and their shapes. */
  private tokens: number[] = []
  private shapes: number[] = []
  /** For each suffix its latest continuation, and the one before. */
  private readonly behindTokens = new Map<string, readonly number[]>()
  private readonly behindShapes = new Map<string, readonly number[]>()

  /** `encode`: the tokenizer, if the text is JSON. `before`: tokens that the text begins with. */
  constructor(
    vocabulary: Vocabulary,
    encode: ((text: string) => readonly number[]) | null,
    before: readonly number[],
  ) {
    this.vocabulary = vocabulary
    const read = (tokens: readonly number[]): void => {
      for (const [at, token] of tokens.entries()) this.push(token, this.isColon(tokens[at + 1]))
    }
    if (encode) read(encode(usualJson))
    this.behindTokens.clear()
    this.tokens = []
    this.shapes = []
    read(before)
  }

  /** Appends `token` to the text. */
  push(token: number, isForced: boolean): void {
    const { tokens, shapes } = this
    const shape = this.shapeOf(token, isForced)
    for (let count = 1; count <= tokens.length; count++) {
      note(this.behindShapes, shapes.slice(-count).join(), shape)
      if (count >= leastWords) note(this.behindTokens, tokens.slice(-count).join(), token)
    }
    this.tokens = [...tokens, token].slice(-longest)
    this.shapes = [...shapes, shape].slice(-longest)
  }

  /**
   * Returns tokens that may follow the text and `ahead`, the likeliest first. `forced`: which
   * tokens of `ahead` the constraint forces.
   */
  guesses(ahead: readonly number[], forced: readonly boolean[]): readonly number[] {
    const tokens = [...this.tokens, ...ahead].slice(-longest)
    const shapes = [...this.shapes, ...ahead.map((token, at) => this.shapeOf(token, forced[at]))].slice(
      -longest,
    )
    const guesses: number[] = []
    for (let count = tokens.length; count >= leastWords; count--)
      guesses.push(...(this.behindTokens.get(tokens.slice(-count).join()) ?? []))
    if (shapes.at(-1) === Word) return guesses
    for (let count = shapes.length; count > 0; count--) {
      const known = this.behindShapes.get(shapes.slice(-count).join())
      if (!known) continue
      // The habits cannot predict what follows a word that was just written.
      if (known[0] >= 0) guesses.push(...known.filter((each) => each >= 0))
      break
    }
    return guesses
  }

  private shapeOf(token: number, isForced: boolean): number {
    if (!this.vocabulary.bytes(token).some(isWord)) return token
    return isForced ? ForcedWord : Word
  }

  /** Returns whether the token ends a name: it begins with a quote and a colon. */
  private isColon(token: number | undefined): boolean {
    const bytes = token === undefined ? [] : this.vocabulary.bytes(token)
    return bytes[0] === 0x22 && bytes[1] === 0x3a
  }
}

function note(behind: Map<string, readonly number[]>, ending: string, token: number): void {
  const [last] = behind.get(ending) ?? []
  behind.set(ending, last === undefined || last === token ? [token] : [token, last])
}

function isWord(byte: number): boolean {
  const isDigit = byte >= 0x30 && byte <= 0x39
  const letter = byte | 0x20
  return byte >= 0x80 || isDigit || (letter >= 0x61 && letter <= 0x7a)
}
