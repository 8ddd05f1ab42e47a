/**
 * sampler/: rows of logits and bitmask rows become tokens. Arrays and numbers only; nothing here knows what a grammar is.
 *
 * `createCpuSampler` runs everywhere.
 */
export { TokenCounts } from "./counts.ts"
export { createGpuSampler } from "./gpu/sampler.ts"
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
  LogitsProcessor,
  RankedLogprob,
  Relaxation,
  SampleResult,
  SampleRow,
  Sampler,
  SampleStatus,
  TokenLogprobs,
} from "./row.ts"
export { createCpuSampler } from "./sampler.ts"
