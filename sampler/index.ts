/**
 * sampler/: draws tokens from rows of logits under mask rows. It works on arrays and numbers only
 * and knows nothing of grammars.
 *
 * `createCpuSampler` runs everywhere; `createGpuSampler` runs on a device that the caller opened.
 * Speculation and beam search use the same rows.
 */
import "./platform.ts"

export type { LogitBias } from "./bias.ts"
export { TokenCounts } from "./counts.ts"
export { createGpuSampler, type GpuSampler, type GpuSamplerStats, type LogitsLayout } from "./gpu/sampler.ts"
export { type HalfFormat, widenHalf } from "./half.ts"
export {
  greedyParams,
  type LogprobsMode,
  type ParamsContext,
  resolveParams,
  SamplingError,
  type SamplingOptions,
  type SamplingParams,
} from "./params.ts"
export type {
  DraftLaw,
  LogitsProcessor,
  LogitsSource,
  ProcessorRow,
  RankedLogprob,
  Relaxation,
  SampleResult,
  SampleRow,
  Sampler,
  SampleStatus,
  TokenLogprobs,
} from "./row.ts"
export { createCpuSampler } from "./sampler.ts"
export { type Beam, type BeamOptions, BeamSearch, bestOf, type Hypothesis } from "./search/beam.ts"
export {
  chainOf,
  checkNeeds,
  type DraftContext,
  DraftLength,
  type NgramOptions,
  NgramProposer,
  type Proposal,
  type Proposer,
} from "./search/draft.ts"
export {
  type DraftRow,
  drawDraft,
  type Judgement,
  judgeToken,
  matchDraft,
  rejectDraft,
  type Verdict,
} from "./search/rejection.ts"
