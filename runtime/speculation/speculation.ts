/**
 * Speculation: several tokens of a sequence in one run of the model.
 *
 * A drafter proposes tokens, the model computes the logits after each of them in one run, and the
 * engine takes its ordinary steps along the draft for as long as it accepts the proposed tokens.
 * There is no second code path: masks, penalties, stops and budgets handle every token as usual; a
 * draft only decides which logits are available. Proposals are cut at the first token that the
 * constraint refuses, and tokens that it forces are added to the draft at no cost.
 *
 * `verify: "match"` draws as without a draft, with the same noise, so the tokens are the same
 * (Leviathan 2023 only preserves the distribution). The logits of a draft may differ from those of
 * plain decoding by rounding, so draws that rounding could change are repeated from plain logits
 * (`neartie.ts`). `verify: "reject"` is the classic rule: the same distribution, but other tokens.
 */

import {
  chainOf,
  checkNeeds,
  type NgramOptions,
  type Proposal,
  type Proposer,
  type SamplingParams,
} from "../../sampler/index.ts"
import type { Sequence } from "../engine/sequence.ts"
import { draftAlong } from "../guides/draft.ts"
import type { GuideHost } from "../guides/guide.ts"
import type { Draft, Verify } from "./draft.ts"
import { canFindTies } from "./neartie.ts"

/**
 * How drafts are made and how long they may be. Unless a request has `verify: "reject"`, they
 * change no token.
 */
export type SpeculationOptions = {
  /** Maximum number of proposed tokens per step, 1 to 16. Default 4. */
  tokens?: number
  /**
   * Whether drafts pause while they take more time than they save; false: every step has drafts.
   * Default true.
   */
  adaptive?: boolean
} & (
  | ({
      /**
       * Prompt lookup: proposes the tokens that followed an earlier occurrence of the sequence's
       * suffix. It needs no model.
       */
      method: "ngram"
    } & NgramOptions)
  | {
      /** A smaller model with the same vocabulary. */
      method: "model"
      /** The model's directory. */
      model: string
      dtype?: string
    }
  | {
      /** A drafter of the caller: one object per sequence. */
      method: "proposer"
      create: () => Proposer
    }
)

/**
 * Maximum tokens of a draft, including forced ones; so many can run together with other sequences.
 */
const maxDraft = 24

export const maxProposed = 16

export interface DraftWish {
  readonly sequence: Sequence
  /** Maximum number of tokens that are useful. */
  readonly count: number
}

/** Proposes for all sequences of a step. */
export interface Drafter {
  /** A description for the log. */
  readonly description: string
  /** Returns one proposal for each request, in their order. */
  propose(wishes: readonly DraftWish[], guides: GuideHost): Promise<readonly Proposal[]>
  /** Returns the milliseconds that proposing one token for each of so many sequences takes. */
  tokenMs(rows: number): Promise<number>
  close(): Promise<void>
}

/** Makes drafts with one proposer per sequence. */
export class ProposerDrafter implements Drafter {
  readonly description: string
  private readonly create: () => Proposer
  private readonly readsPrediction: boolean
  private readonly proposers = new WeakMap<Sequence, Proposer>()

  /**
   * `readsPrediction`: whether a request's prediction is put before its prompt. Throws RangeError
   * if the proposer needs outputs that the models here do not have.
   */
  constructor(create: () => Proposer, description: string, readsPrediction: boolean) {
    this.create = create
    this.description = description
    this.readsPrediction = readsPrediction
    checkNeeds(create(), [])
  }

  propose(wishes: readonly DraftWish[]): Promise<readonly Proposal[]> {
    return Promise.all(
      wishes.map(({ sequence, count }) => {
        const proposer = this.proposers.get(sequence) ?? this.create()
        this.proposers.set(sequence, proposer)
        const prediction = this.readsPrediction ? (sequence.options.predictionIds ?? []) : []
        const tokens = prediction.length > 0 ? [...prediction, ...sequence.tokens] : sequence.tokens
        return proposer.propose({ tokens }, count)
      }),
    )
  }

  /**
   * Returns 0: the time is negligible compared to a run of the model. A proposer that takes longer
   * decides itself when to propose no tokens.
   */
  async tokenMs(): Promise<number> {
    return 0
  }

  async close(): Promise<void> {}
}

/**
 * Returns whether drafts of a request can be verified: its distribution at a position must not
 * depend on the steps that led there.
 */
export function canSpeculate(params: SamplingParams, verify: Verify): boolean {
  const { mirostat, adaptiveTarget, contrastive } = params
  if (mirostat !== 0 || adaptiveTarget !== null || contrastive !== null) return false
  if (verify === "match") return canFindTies(params)
  return params.logprobs === null || !params.logprobsMode.startsWith("processed")
}

/**
 * Returns the allowed part of a proposal, with the tokens that the constraint forces in between.
 * The walk does not move. Undefined if the constraint does not answer in time.
 */
export async function legalDraft(
  sequence: Sequence,
  proposal: Proposal,
  guides: GuideHost,
): Promise<Draft | undefined> {
  const { guide, vocabulary, params, stopTokenIds } = sequence.options
  const proposed = chainOf(proposal, maxProposed)
  const bound = Math.min(maxDraft, sequence.left - 1)
  const free = { vocabulary, matcher: null, stopTokenIds, allowed: params.allowed, bound, isForcing: false }
  const drafted = guide
    ? await guides.draft(guide, proposed, bound)
    : draftAlong(proposed, { ...free, forcedAt: () => [] })
  if (!drafted) return undefined
  const { tokens, places } = drafted
  return {
    tokens,
    laws: places.map((at) => (at < 0 ? null : (proposal.laws?.[at] ?? null))),
    forced: places.map((at) => at < 0),
  }
}
