/**
 * Masks for transformers.js (`@huggingface/transformers`): a logits processor for `generate`, and
 * the vocabulary of its tokenizers. Imports nothing of transformers.js.
 *
 * `generate` tells a processor no token that it drew: it passes the rows of ids so far, prompts
 * included, before each draw. So the processor follows the rows. The rows of the first call are the
 * prompts (padding included, on either side); what is appended later is the text. Rows may be
 * reordered, as a beam search does: a row that does not begin with the tokens seen so far is read
 * again from the end of its prompt.
 *
 * A new `generate` is recognized by its rows: `generate` appends to the same arrays (4.3.2,
 * src/models/modeling_utils.js), so other arrays begin new texts. A loop of another kind may pass
 * copies and says so by `copies`; there a call continues the text if each row is as long as before
 * plus one token and begins with the same prompt.
 */
import { checkOptions } from "../../grammar/options.ts"
import { member, parseVocabulary } from "../../mask/tokenizers/tokenizerjson.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { ConstrainedRows, type LogitsTensor, type Machines } from "./rows.ts"

/** Token ids of a batch: the prompts, followed by what has been drawn. */
export type TokenRows = readonly (readonly (bigint | number)[])[]

/** A logits processor for `generate({ logits_processor: [processor] })`. */
export interface TransformersLogitsProcessor {
  /**
   * Masks the logits in place and returns them. `logits` has the shape [B, V] or [B, positions, V].
   * Throws RangeError as `ConstrainedRows.apply` and `accept` do.
   */
  <T extends LogitsTensor>(inputIds: TokenRows, logits: T): T
  /** The same function, by the name that the class `LogitsProcessor` has for it. */
  _call<T extends LogitsTensor>(inputIds: TokenRows, logits: T): T
  /**
   * Takes the rows of the next call as new prompts. `generate` does not need it; with `copies` it
   * is called before each new text, whose prompt could be the next step of the last one.
   */
  reset(): void
}

/**
 * Returns a logits processor. A list has one machine for each row of the batch; one machine serves
 * any batch. It may be used for any number of calls of `generate`, one at a time. `copies`: the
 * loop passes other arrays at each step. Default false: other arrays begin new texts.
 */
export function transformersProcessor(
  machines: Machines,
  options: { copies?: boolean } = {},
): TransformersLogitsProcessor {
  checkOptions(options, { copies: "boolean" })
  const copies = options.copies ?? false
  let followed: FollowedRows | null = null
  const process = <T extends LogitsTensor>(inputIds: TokenRows, logits: T): T => {
    if (!followed?.follow(inputIds, copies)) followed = new FollowedRows(machines, inputIds)
    return followed.rows.apply(logits)
  }
  const reset = (): void => {
    followed = null
  }
  return Object.assign(process, { _call: process, reset })
}

/** The rows of one `generate`. */
class FollowedRows {
  readonly rows: ConstrainedRows
  private readonly prompts: TokenRows
  /** The ids after each prompt that its matcher has accepted. */
  private texts: number[][]
  private source: TokenRows

  constructor(machines: Machines, inputIds: TokenRows) {
    this.rows = new ConstrainedRows(machines, inputIds.length)
    this.prompts = inputIds.map((ids) => [...ids])
    this.texts = inputIds.map(() => [])
    this.source = inputIds
  }

  /**
   * Moves past the ids that were appended. Returns false, and changes nothing, if `inputIds` are
   * those of another `generate`: other arrays, unless `copies` allows them for the next step.
   * Throws RangeError if a token is not allowed.
   */
  follow(inputIds: TokenRows, copies: boolean): boolean {
    if (inputIds === this.source) this.checkPrompts(inputIds)
    else if (!copies || !this.isNextStep(inputIds)) return false
    this.source = inputIds
    for (const [index, ids] of inputIds.entries()) {
      const promptLength = this.prompts[index].length
      if (!this.continues(index, ids)) this.reread(index)
      for (let at = promptLength + this.texts[index].length; at < ids.length; at++) {
        // A loop may fill up a row that has ended with any id, such as that of the padding.
        if (!this.rows.matchers[index].isTerminated()) this.rows.acceptAt(index, Number(ids[at]))
        this.texts[index].push(Number(ids[at]))
      }
    }
    return true
  }

  private checkPrompts(inputIds: TokenRows): void {
    if (this.havePrompts(inputIds)) return
    throw new RangeError(
      `the ${inputIds.length} rows do not begin with the ${this.prompts.length} prompts of the first call. The processor cannot follow rows that leave the batch or lose their first tokens. If this is a new text, call reset() before it`,
    )
  }

  private havePrompts(inputIds: TokenRows): boolean {
    return (
      inputIds.length === this.prompts.length &&
      inputIds.every((ids, index) => this.prompts[index].every((id, at) => id === ids[at]))
    )
  }

  /** Returns whether copied rows are those of the last call, perhaps reordered, plus one token. */
  private isNextStep(inputIds: TokenRows): boolean {
    return (
      this.havePrompts(inputIds) &&
      inputIds.every(
        (ids, index) =>
          ids.length === this.prompts[index].length + this.texts[index].length + 1 &&
          (this.continues(index, ids) || this.isText(index, ids)),
      )
    )
  }

  /** Returns whether the text that was seen so far stands behind the prompt. */
  private continues(index: number, ids: readonly (bigint | number)[]): boolean {
    const start = this.prompts[index].length
    return this.texts[index].every((token, at) => Number(ids[start + at]) === token)
  }

  /** Returns whether the ids after the prompt are the beginning of a text of the row's grammar. */
  private isText(index: number, ids: readonly (bigint | number)[]): boolean {
    const matcher = this.rows.matchers[index].fork()
    matcher.reset()
    for (let at = this.prompts[index].length; at < ids.length && !matcher.isTerminated(); at++) {
      if (!matcher.accept(Number(ids[at]))) return false
    }
    return true
  }

  private reread(index: number): void {
    this.rows.matchers[index].reset()
    this.texts[index] = []
  }
}

/** What `transformersVocabulary` reads of a tokenizer of transformers.js. */
export interface TransformersTokenizer {
  /** The parsed tokenizer.json. */
  readonly _tokenizerJSON: unknown
  /** The parsed tokenizer_config.json. */
  readonly _tokenizerConfig: unknown
}

/** What `transformersVocabulary` reads of a model of transformers.js. */
export interface TransformersModel {
  /** `vocab_size` and `eos_token_id`, of the model or of its `text_config`. */
  readonly config: unknown
  /** `eos_token_id`, before that of `config`. */
  readonly generation_config?: unknown
}

/**
 * Returns the vocabulary of a tokenizer of transformers.js for a model: a tokenizer, or the text of
 * its tokenizer.json. The width and the end ids are the model's, so that `generate` stops where a
 * text ends; `options` replace them. Throws RangeError naming what is missing or not supported.
 */
export function transformersVocabulary(
  tokenizer: TransformersTokenizer | string,
  model: TransformersModel,
  options: { width?: number; endIds?: readonly number[] } = {},
): Vocabulary {
  checkOptions(options, { width: "number", endIds: "list" })
  const [json, config] =
    typeof tokenizer === "string"
      ? [JSON.parse(tokenizer), null]
      : [tokenizer._tokenizerJSON, tokenizer._tokenizerConfig]
  return parseVocabulary(json, config ?? null, {
    width: options.width ?? widthOf(model),
    endIds: options.endIds ?? endIdsOf(model),
  })
}

function widthOf({ config }: TransformersModel): number {
  const width = member(config, "vocab_size") ?? member(member(config, "text_config"), "vocab_size")
  if (typeof width === "number") return width
  throw new RangeError(
    "the model's config has no vocab_size. Give { width }: the last dimension of the model's logits",
  )
}

function endIdsOf({ config, generation_config }: TransformersModel): number[] {
  const sources = [generation_config, config, member(config, "text_config")]
  const given = sources.map((source) => member(source, "eos_token_id")).find((ids) => ids != null)
  const ids = (Array.isArray(given) ? given : [given]).filter((id) => typeof id === "number")
  if (ids.length > 0) return ids
  throw new RangeError(
    "the model's configuration has no eos_token_id, so generate would not stop where a text ends. Set it in the model's generation_config, or give { endIds } and a stopping criterion",
  )
}
