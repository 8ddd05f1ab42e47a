/**
 * The drafter of an engine, and the measurements that say whether it pays. They are taken on the
 * model when it is opened.
 *
 * Two quantities are measured, since a graph does not contain them: how much its logits change if a
 * text is cut into other runs, which decides which draws are doubtful; and the cost of a step with
 * drafts compared to one without, which decides when to stop drafting for a while. The second
 * depends on the machine and its load, and affects only the speed.
 */

import { checkOptions, type Fields } from "../../grammar/options.ts"
import { NgramProposer } from "../../sampler/index.ts"
import { onHost } from "../../sampler/sampler.ts"
import { ModelError } from "../errors.ts"
import type { Feed, Model } from "../model/model.ts"
import { type Drafter, maxProposed, ProposerDrafter, type SpeculationOptions } from "./speculation.ts"

/** The drafter of an engine, with its measurements. */
export interface Speculator {
  readonly drafter: Drafter
  /** K, the maximum number of proposed tokens per step. */
  readonly tokens: number
  /** Whether drafts pause while they do not pay. */
  readonly isAdaptive: boolean
  /**
   * Upper bound of the difference between logits of a draft and those of plain decoding; 0 if the
   * model reads steps.
   */
  readonly rounding: number
  /** The cost of drafts with one sequence, and with all slots in use. */
  readonly costs: readonly [one: DraftCost, all: DraftCost]
}

/**
 * Differences above this share of the largest logit are not rounding: nearly every draw would be
 * doubtful.
 */
const maxRounding = 0.01

/** Duration of one step, in milliseconds. */
interface DraftCost {
  readonly rows: number
  /** Without drafts, and with drafts of K tokens, including the time to make them. */
  readonly plainMs: number
  readonly draftedMs: number
}

/**
 * Returns the share of proposed tokens that must be accepted so that drafts pay, with so many
 * sequences running.
 */
export function breakEvenOf({ costs: [one, all], tokens }: Speculator, rows: number): number {
  const share = all.rows > one.rows ? Math.min(1, (rows - one.rows) / (all.rows - one.rows)) : 0
  const between = (of: (cost: DraftCost) => number): number => of(one) + share * (of(all) - of(one))
  // The tokens that a step with drafts must yield in addition to one without.
  const extra = between((cost) => cost.draftedMs) / between((cost) => cost.plainMs) - 1
  return Math.min(0.95, Math.max(0.02, extra / tokens))
}

const sharedFields = { method: "any", tokens: "number", adaptive: "boolean" } as const
const methodFields = {
  ngram: { ...sharedFields, min: "number", max: "number", place: { words: ["earliest", "latest"] } },
  model: { ...sharedFields, model: "text", dtype: "text" },
  proposer: { ...sharedFields, create: "function" },
} as const satisfies {
  [Method in SpeculationOptions["method"]]: Fields<SpeculationOptions & { method: Method }>
}

/**
 * Opens the drafter and measures. Throws OptionError for an option that the method does not have,
 * RangeError for an impossible one, ModelError if this model cannot verify drafts.
 */
export async function openSpeculator(
  options: SpeculationOptions,
  model: Model,
  openDraftModel: (options: SpeculationOptions & { method: "model" }) => Promise<Drafter>,
): Promise<Speculator> {
  checkOptions(options, methodFields[options.method] ?? methodFields.ngram, { within: "speculation" })
  const { method, tokens = 4, adaptive = true } = options
  if (!Number.isInteger(tokens) || tokens < 1 || tokens > maxProposed) {
    throw new RangeError(`speculation.tokens: ${tokens} is not an integer from 1 to ${maxProposed}`)
  }
  if (!model.canRewind) throw new ModelError(`speculation: ${cannotRewind(model)}, or leave it out`)
  if (method !== "ngram" && method !== "model" && method !== "proposer") {
    throw new RangeError(`speculation.method: ${method} is not ngram, model or proposer`)
  }
  // This comes before the long measurements, because prompt lookup and proposers check their
  // options here.
  const drafter =
    method === "ngram"
      ? new ProposerDrafter(() => new NgramProposer(options), "prompt lookup", true)
      : method === "proposer"
        ? new ProposerDrafter(options.create, "a proposer of the caller's", false)
        : await openDraftModel(options)
  try {
    const { rounding, scale } = model.readsSteps
      ? { rounding: 0, scale: 1 }
      : await probeRounding(model, tokens)
    if (rounding > maxRounding * scale) {
      throw new ModelError(
        `speculation: ${model.description}: this graph's logits change by ${(rounding / 8).toPrecision(2)} of ${scale.toPrecision(2)} when several tokens run at once, as dynamic quantisation makes them: choose another \`dtype\`, or leave it out`,
      )
    }
    const costs: DraftCost[] = []
    for (const rows of [1, model.slotCount]) {
      const plainMs = await probeMs(model, rows, 1)
      const draftedMs = (await probeMs(model, rows, tokens + 1)) + tokens * (await drafter.tokenMs(rows))
      costs.push({ rows, plainMs, draftedMs })
    }
    return { drafter, tokens, isAdaptive: adaptive, rounding, costs: [costs[0], costs[1]] }
  } catch (error) {
    await drafter.close()
    throw error
  }
}

/** Describes a speculator for the log. */
export function describeSpeculator(speculator: Speculator): string {
  const { drafter, tokens, rounding, costs } = speculator
  const pays = costs
    .map(({ rows }) => `${Math.round(100 * breakEvenOf(speculator, rows))} % with ${rows} running`)
    .join(", ")
  return `drafts of ${tokens} tokens by ${drafter.description}, which pay if at least this share is right: ${pays}; rounding ${rounding.toPrecision(2)}`
}

/** Returns why a model's cache cannot be truncated after a draft. */
export function cannotRewind(model: Model): string {
  return `${model.description}: its cache only grows, so refused tokens cannot be taken out of it; choose a model whose layers keep keys, and the device cpu`
}

/**
 * Returns tokens for the text of the probes. Any ids will do; these are spread over the vocabulary.
 */
function probeText(model: Model, count: number): number[] {
  return Array.from(
    { length: Math.min(count, model.contextLength - 1) },
    (_, at) => (Math.imul(at + 1, 0x9e3779b1) >>> 0) % model.width,
  )
}

/**
 * Returns an upper bound of the difference between the model's logits for a text cut into different
 * runs. Fills slot 0.
 */
async function probeRounding(model: Model, tokens: number): Promise<{ rounding: number; scale: number }> {
  const ids = probeText(model, 48)
  let scale = 0
  const run = async (size: number): Promise<Map<number, Float32Array>> => {
    const rows = new Map<number, Float32Array>()
    for (let start = 0; start < ids.length; start += size) {
      const feed = { slot: 0, start, tokens: ids.slice(start, start + size), logitsCount: 1 }
      const found = await model.forward([feed])
      const logits = (await onHost(found)).slice()
      found.release()
      rows.set(start + feed.tokens.length, logits)
      for (const value of logits) scale = Math.max(scale, Math.abs(value))
    }
    return rows
  }
  const single = await run(1)
  let difference = 0
  for (const [end, row] of await run(tokens + 1)) {
    const expected = single.get(end)!
    for (let id = 0; id < row.length; id++)
      difference = Math.max(difference, Math.abs(row[id] - expected[id]))
  }
  // The difference grows with the text: for the embedded model 48 tokens differ by 8e-6, 300 by
  // 1.4e-5.
  return { rounding: Math.max(8 * difference, 2 ** -20 * scale), scale }
}

/**
 * Returns the median time of a step of so many sequences with so many tokens each, in the middle of
 * a text. Fills the slots.
 */
export async function probeMs(model: Model, rows: number, tokens: number): Promise<number> {
  const ids = probeText(model, 64 + tokens)
  const start = ids.length - tokens
  const feeds = (from: number, end: number): Feed[] =>
    Array.from({ length: rows }, (_, slot) => ({
      slot,
      start: from,
      tokens: ids.slice(from, end),
      logitsCount: 1,
      isStepwise: from > 0,
    }))
  const first = await model.forward(feeds(0, start))
  first.release()
  const elapsed: number[] = []
  for (let round = 0; round < 7; round++) {
    const begin = performance.now()
    const logits = await model.forward(feeds(start, ids.length))
    logits.release()
    elapsed.push(performance.now() - begin)
  }
  return elapsed.sort((a, b) => a - b)[3]
}
