/**
 * Masks for node-llama-cpp: draws tokens from a sequence of a GGUF model, each of which a grammar
 * allows. For Node, since it reads the vocabulary from the model's file. Imports nothing of
 * node-llama-cpp.
 *
 * node-llama-cpp has no hook between logits and draw that could forbid any token: a `TokenBias`
 * never forbids an end token, and its own grammars are those of llama.cpp. But `controlledEvaluate`
 * returns logits, so the tokens are drawn here. Each step asks for as few as the draw needs. Added
 * to a step of 55 ms, for V = 128,256, on two busy cores: 10 ms for 64 given tokens, 330 ms for
 * 1,024 given ones, 17 ms for the 256 highest, 760 ms for all.
 *
 *   - one allowed token: none. It is evaluated together with the token after it.
 *   - at most `FewTokens` allowed tokens: theirs. llama.cpp searches that list once per token of
 *     the vocabulary, so longer lists are slower than the next way.
 *   - more: the `TopTokens` highest ones. They suffice if an allowed one is among them (temperature
 *     0), or `topK` allowed ones are. Else the last token is evaluated again for all logits.
 *
 * Each way is exact: the distribution is that of all logits under the mask.
 *
 * Source: github.com/withcatai/node-llama-cpp, src/evaluator/LlamaContext/types.ts and
 * llama/addon/AddonContext.cpp (3.22.1).
 */
import { checkOptions, type Fields } from "../../grammar/options.ts"
import { countAllowed, isAllowed, onlyToken } from "../../mask/bits.ts"
import type { TokenMachine } from "../../mask/machine.ts"
import { Matcher } from "../../mask/matcher.ts"
import { parseVocabulary } from "../../mask/tokenizers/tokenizerjson.ts"
import type { Vocabulary } from "../../mask/vocabulary.ts"
import { createCpuSampler, resolveParams, type SamplingParams, TokenCounts } from "../../sampler/index.ts"
import { buildVocabulary } from "../model/build/vocabulary.ts"
import { openGguf } from "../model/weights/gguf.ts"

/** What `llamaCppTokens` needs of node-llama-cpp's `LlamaContextSequence`. */
export interface LlamaCppSequence {
  /** Number of tokens that the sequence has evaluated. */
  readonly nextTokenIndex: number
  controlledEvaluate(
    input: (number | [token: number, options: object])[],
  ): Promise<readonly (LlamaCppOutput | undefined)[]>
  eraseContextTokenRanges(ranges: { start: number; end: number }[]): Promise<void>
}

/** What `controlledEvaluate` returns for a token whose next logits were asked for. */
export interface LlamaCppOutput {
  readonly next: { readonly logits?: Iterable<readonly [token: number, logit: number]> }
}

/** How tokens are drawn. The filters see the distribution under the mask. */
export interface LlamaCppOptions {
  /** Default 0, which takes the likeliest allowed token. */
  temperature?: number
  /** Default 40, as in node-llama-cpp. 0 is off: each step then takes all logits, which is slow. */
  topK?: number
  /** Default 0.95, as in node-llama-cpp. */
  topP?: number
  /** Default 0. */
  minP?: number
  /** Equal seeds draw equal tokens from equal logits. Default 0. */
  seed?: number
  /** Default: no bound. */
  maxTokens?: number
}

const fields = {
  temperature: "number",
  topK: "number",
  topP: "number",
  minP: "number",
  seed: "number",
  maxTokens: "number",
} as const satisfies Fields<LlamaCppOptions>

const FewTokens = 64
const TopTokens = 256
const sampler = createCpuSampler()

/**
 * Reads the vocabulary of a GGUF file. Its width is the model's, and its end ids are the tokens
 * that end an answer. Throws ModelError naming what is wrong with the file or not supported.
 */
export async function llamaCppVocabulary(modelPath: string): Promise<Vocabulary> {
  const file = await openGguf(modelPath)
  try {
    const { files, width, endIds } = buildVocabulary(file.metadata)
    const read = (name: string): unknown => JSON.parse(files.get(name) ?? "null")
    return parseVocabulary(read("tokenizer.json"), read("tokenizer_config.json"), { width, endIds })
  } finally {
    file.close()
  }
}

/**
 * Evaluates `prompt` behind what the sequence holds, and yields the tokens of one text of the
 * grammar, without its end token. Returns "stop" if the text has ended, "length" after `maxTokens`.
 * Stop iterating to cut it earlier. The last tokens that were yielded may not be in the sequence
 * yet; `sequence.contextTokens` has those that are.
 *
 * Throws RangeError before the first token for an empty prompt or a wrong option, and when the
 * vocabulary is not the model's.
 */
export async function* llamaCppTokens<Token extends number>(
  sequence: LlamaCppSequence,
  prompt: readonly Token[],
  machine: TokenMachine,
  options: LlamaCppOptions = {},
): AsyncGenerator<Token, "stop" | "length"> {
  const draws = new Draws(sequence, machine.vocabulary, prompt, options)
  const matcher = new Matcher(machine)
  const mask = new Uint32Array(machine.vocabulary.words)
  for (let count = 0; count < (options.maxTokens ?? Number.POSITIVE_INFINITY); count++) {
    const token = matcher.fillMask(mask) === "single" ? onlyToken(mask) : await draws.draw(mask)
    if (!matcher.accept(token)) throw new Error(`internal: the mask allowed token ${token}`)
    if (matcher.isTerminated()) return "stop"
    // node-llama-cpp brands its tokens: only a token of its own vocabulary has the type.
    yield token as Token
    draws.add(token)
  }
  return "length"
}

/** Draws tokens from a sequence. */
class Draws {
  private readonly sequence: LlamaCppSequence
  private readonly vocabulary: Vocabulary
  private readonly params: SamplingParams
  private readonly logits: Float32Array
  /** Tokens that the sequence has not evaluated, never empty at a draw. */
  private pending: number[]
  private position: number

  constructor(
    sequence: LlamaCppSequence,
    vocabulary: Vocabulary,
    prompt: readonly number[],
    options: LlamaCppOptions,
  ) {
    checkOptions(options, fields)
    const { temperature = 0, topK = 40, topP = 0.95, minP = 0, seed = 0, maxTokens = 0 } = options
    if (!Number.isInteger(maxTokens) || maxTokens < 0)
      throw new RangeError(`maxTokens: ${maxTokens} is not an integer of at least 0`)
    if (prompt.length === 0)
      throw new RangeError("the prompt has no token, so there is nothing to go on from")
    const wrong = prompt.find((token) => !vocabulary.hasColumn(token))
    if (wrong !== undefined)
      throw new RangeError(
        `the prompt has the token ${wrong}, and the vocabulary is ${vocabulary.width} wide`,
      )
    this.sequence = sequence
    this.vocabulary = vocabulary
    this.params = resolveParams({ temperature, topK, topP, minP, seed }, { width: vocabulary.width })
    this.logits = new Float32Array(vocabulary.width)
    this.pending = [...prompt]
    this.position = prompt.length
  }

  /** Adds a token to the text. */
  add(token: number): void {
    this.pending.push(token)
    this.position++
  }

  /** Draws one of the tokens that `mask` allows. */
  async draw(mask: Uint32Array): Promise<number> {
    await this.fillLogits(mask)
    const row = { logitsRow: 0, params: this.params, mask, tokens: new TokenCounts([]), choice: 0 }
    const [{ token, status }] = await sampler.sample(this.logits, this.vocabulary.width, [
      { ...row, position: this.position },
    ])
    if (token < 0)
      throw new RangeError(
        `token ${this.position} of the sequence: the model computed logits that are not numbers (${status}), so no token can be drawn`,
      )
    return token
  }

  /** Writes as many logits of allowed tokens as the draw depends on; the others are -Infinity. */
  private async fillLogits(mask: Uint32Array): Promise<void> {
    const count = countAllowed(mask)
    if (count <= FewTokens) {
      const tokens = idsOf(mask, this.vocabulary.width)
      const filter = { tokens }
      if ((await this.ask({ logits: { filter }, options: { temperature: 0 } }, mask)) < count) this.refuse()
      return
    }
    const { temperature, topK } = this.params
    const needed = temperature === 0 ? 1 : topK === 0 ? count : Math.min(topK, count)
    if (needed <= TopTokens) {
      // At temperature 1 and without further filters these are the logits as they are.
      const options = { temperature: 1, topK: TopTokens, topP: 1, minP: 0 }
      if ((await this.ask({ logits: true, options }, mask)) >= needed) return
      const end = this.sequence.nextTokenIndex
      this.pending = [this.last]
      await this.sequence.eraseContextTokenRanges([{ start: end - 1, end }])
    }
    if ((await this.ask({ logits: true, options: { temperature: 0 } }, mask)) < count) this.refuse()
  }

  private last = -1

  /** Evaluates the pending tokens. Returns the number of allowed tokens whose logits came back. */
  private async ask(generateNext: object, mask: Uint32Array): Promise<number> {
    const pending = this.pending
    this.last = pending[pending.length - 1]
    const output = await this.sequence.controlledEvaluate([
      ...pending.slice(0, -1),
      [this.last, { generateNext }],
    ])
    this.pending = []
    this.logits.fill(Number.NEGATIVE_INFINITY)
    let count = 0
    for (const [token, logit] of output[pending.length - 1]?.next.logits ?? []) {
      if (!this.vocabulary.hasColumn(token)) this.refuse()
      if (!isAllowed(mask, token)) continue
      this.logits[token] = logit
      count++
    }
    return count
  }

  private refuse(): never {
    throw new RangeError(
      `the model's logits are not ${this.vocabulary.width} wide, as the vocabulary of the masks is. Make the vocabulary of the file that the model was loaded from: llamaCppVocabulary(modelPath)`,
    )
  }
}

function idsOf(mask: Uint32Array, width: number): number[] {
  const ids: number[] = []
  for (let id = 0; id < width; id++) if (isAllowed(mask, id)) ids.push(id)
  return ids
}
