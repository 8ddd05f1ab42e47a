/**
 * Speculation: several tokens of a sequence in one run of the model.
 *
 * A drafter proposes tokens, the model computes the logits behind each of them in one run, and the engine takes its
 * ordinary steps along the draft for as long as what it takes is what was proposed. There is no second path: masks,
 * penalties, stops and budgets see every token as always; a draft only decides which logits are at hand. Proposals are
 * cut at the first token that the constraint refuses, and tokens that it forces are part of the draft for free.
 *
 * `verify: "match"` draws as without a draft, with the same noise: the same tokens (Leviathan 2023 keeps the law only).
 * The logits of a draft may differ from those of plain decoding by rounding, so draws that rounding could change are
 * repeated from plain logits (`neartie.ts`). `verify: "reject"` is the classic rule: the same law, other tokens.
 */

import { needsLogits } from "../sampler/cpu.ts"
import {
  chainOf,
  checkNeeds,
  type DraftLaw,
  type NgramOptions,
  NgramProposer,
  type Proposal,
  type Proposer,
  type SamplingParams,
} from "../sampler/index.ts"
import type { Draft, Verify } from "./draft.ts"
import { ModelError } from "./errors.ts"
import type { Model } from "./model.ts"
import { hasPlainFilters } from "./neartie.ts"
import { isLegal, onlyToken, type Sequence } from "./sequence.ts"

export type SpeculationOptions = {
  /** Most proposed tokens a step, 1 to 16. Default 4. */
  tokens?: number
} & (
  | ({
      /** What followed an earlier occurrence of the sequence's ending (prompt lookup); needs no model. */
      method: "ngram"
    } & NgramOptions)
  | {
      /** A smaller model with the same vocabulary. */
      method: "model"
      /** Its directory. */
      model: string
      dtype?: string
    }
  | {
      /** A drafter of one's own, one object a sequence. */
      method: "proposer"
      create: () => Proposer
    }
)

/** Most tokens of a draft, forced ones included: as many as run together with other sequences. */
const maxDraft = 24

export const maxProposed = 16

export interface DraftWish {
  readonly sequence: Sequence
  /** Most tokens that are of use. */
  readonly count: number
}

/** Proposes for all sequences of a step. */
export interface Drafter {
  /** For the log. */
  readonly description: string
  /** One proposal a wish, in their order. */
  propose(wishes: readonly DraftWish[]): Promise<readonly Proposal[]>
  /** What one proposed token costs, in milliseconds. */
  tokenMs(): Promise<number>
  close(): Promise<void>
}

/** One proposer a sequence. */
export class ProposerDrafter implements Drafter {
  readonly description: string
  private readonly create: () => Proposer
  private readonly proposers = new WeakMap<Sequence, Proposer>()

  /** Throws RangeError when the proposer needs what no model here exports. */
  constructor(create: () => Proposer, description: string) {
    this.create = create
    this.description = description
    checkNeeds(create(), [])
  }

  propose(wishes: readonly DraftWish[]): Promise<readonly Proposal[]> {
    return Promise.all(
      wishes.map(({ sequence, count }) => {
        const proposer = this.proposers.get(sequence) ?? this.create()
        this.proposers.set(sequence, proposer)
        return proposer.propose({ tokens: sequence.tokens }, count)
      }),
    )
  }

  /** Nothing beside a run of the model; a proposer that costs more knows itself when to propose nothing. */
  async tokenMs(): Promise<number> {
    return 0
  }

  async close(): Promise<void> {}
}

/** What an engine speculates with. */
export interface Speculator {
  readonly drafter: Drafter
  /** K: most proposed tokens a step. */
  readonly tokens: number
  /** Bounds how far logits of a draft may lie from those of plain decoding. */
  readonly rounding: number
  /** Share of proposed tokens that must be accepted for drafts to pay. */
  readonly breakEven: number
}

/** Whether drafts of a request can be verified: its law at a position must not depend on how it came there. */
export function canSpeculate(params: SamplingParams, verify: Verify): boolean {
  if (params.mirostat !== 0 || params.contrastive !== null) return false
  if (verify === "match") return hasPlainFilters(params)
  return params.logprobs === null || !params.logprobsMode.startsWith("processed")
}

/** A list of allowed ids is never lifted: a forced token outside it ends the answer by the sampler's verdict. */
export function isPermitted({ allowed }: SamplingParams, token: number): boolean {
  return allowed === null || isLegal(allowed, token)
}

/**
 * The part of a proposal that may follow, with the tokens that the constraint forces between its tokens. `row` is
 * scratch, shape [W]. Nothing moves.
 */
export function legalDraft(sequence: Sequence, proposal: Proposal, row: Uint32Array): Draft {
  const { matcher, vocabulary, params, stopTokenIds } = sequence.options
  const proposed = chainOf(proposal, maxProposed)
  const bound = Math.min(maxDraft, sequence.left - 1)
  const draft = { tokens: [] as number[], laws: [] as DraftLaw[], forced: [] as boolean[] }
  const ahead = matcher?.fork()
  for (let at = 0; draft.tokens.length < bound; ) {
    const kind = ahead ? ahead.fillMask(row) : "free"
    const forced = kind === "single" && !needsLogits(params) ? onlyToken(row) : -1
    const token = forced >= 0 ? forced : proposed[at]
    // An end needs no draft: the row before it draws it.
    if (token === undefined || vocabulary.isEnd(token) || stopTokenIds.has(token)) break
    if (!isLegal(ahead ? row : vocabulary.freeRow, token) || !isPermitted(params, token)) break
    if (ahead && !ahead.accept(token)) break
    draft.tokens.push(token)
    draft.forced.push(forced >= 0)
    draft.laws.push(forced >= 0 ? null : (proposal.laws?.[at] ?? null))
    if (proposed[at] === token) at++
    // The constraint went another way: what was proposed is of another text.
    else at = proposed.length
  }
  return draft
}

/** Throws RangeError on an impossible option, ModelError when this model cannot verify drafts. */
export async function openSpeculator(
  options: SpeculationOptions,
  model: Model,
  openDraftModel: (options: SpeculationOptions & { method: "model" }) => Promise<Drafter>,
): Promise<Speculator> {
  const { method, tokens = 4 } = options
  if (!Number.isInteger(tokens) || tokens < 1 || tokens > maxProposed) {
    throw new RangeError(`speculation.tokens: ${tokens} is not an integer from 1 to ${maxProposed}`)
  }
  if (!model.canRewind) throw new ModelError(`speculation: ${cannotRewind(model)}: leave it out`)
  if (method !== "ngram" && method !== "model" && method !== "proposer") {
    throw new RangeError(`speculation.method: ${method} is not ngram, model or proposer`)
  }
  // Before the long part: prompt lookup and proposers refuse their options here.
  const drafter =
    method === "ngram"
      ? new ProposerDrafter(() => new NgramProposer(options), "prompt lookup")
      : method === "proposer"
        ? new ProposerDrafter(options.create, "a proposer of the caller's")
        : await openDraftModel(options)
  const { rounding, ratio, stepMs } = await probeCuts(model, tokens)
  // A step with a draft costs this many tokens of plain decoding more than one without.
  const extra = ratio - 1 + (tokens * (await drafter.tokenMs())) / stepMs
  const breakEven = Math.min(0.95, Math.max(0.02, extra / tokens))
  return { drafter, tokens, rounding, breakEven }
}

/** For the log. */
export function describeSpeculator({ drafter, tokens, rounding, breakEven }: Speculator): string {
  const share = `${Math.round(100 * breakEven)} %`
  return `drafts of ${tokens} tokens by ${drafter.description}, which pay from ${share} right; rounding ${rounding.toPrecision(2)}`
}

/** Why a model's cache cannot be cut back to what a draft left of it. */
export function cannotRewind(model: Model): string {
  return `${model.description}: its cache only grows, so refused tokens cannot be taken out of it`
}

/**
 * How much the model's logits differ by how a text is cut, and what a run of `tokens` + 1 tokens costs beside a run of
 * one. Fills slot 0.
 */
export async function probeCuts(
  model: Model,
  tokens: number,
): Promise<{ rounding: number; ratio: number; stepMs: number }> {
  const count = Math.min(48, model.contextLength - 1)
  // Any ids do; these are spread over the vocabulary.
  const ids = Array.from({ length: count }, (_, at) => Math.imul(at + 1, 0x9e3779b1) >>> 0).map(
    (id) => id % model.width,
  )
  const run = async (
    size: number,
  ): Promise<{ rows: Map<number, Float32Array>; medianMs: number; scale: number }> => {
    const rows = new Map<number, Float32Array>()
    const elapsed: number[] = []
    let scale = 0
    for (let start = 0; start < count; start += size) {
      const feed = { slot: 0, start, tokens: ids.slice(start, start + size), logitsCount: 1 }
      const begin = performance.now()
      const logits = await model.forward([feed])
      elapsed.push(performance.now() - begin)
      rows.set(start + feed.tokens.length, logits.slice())
      for (const value of logits) scale = Math.max(scale, Math.abs(value))
    }
    elapsed.sort((a, b) => a - b)
    return { rows, medianMs: elapsed[Math.floor(elapsed.length / 2)], scale }
  }
  const single = await run(1)
  const several = await run(tokens + 1)
  let difference = 0
  for (const [end, row] of several.rows) {
    const expected = single.rows.get(end)!
    for (let id = 0; id < row.length; id++) {
      difference = Math.max(difference, Math.abs(row[id] - expected[id]))
    }
  }
  // Longer texts differ more than the probe: 48 tokens of the embedded model by 8e-6, 300 by 1.4e-5.
  const rounding = Math.max(8 * difference, 2 ** -20 * single.scale)
  return { rounding, ratio: several.medianMs / single.medianMs, stepMs: single.medianMs }
}
