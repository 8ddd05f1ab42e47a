/**
 * Rows made to lure a sampler out of its mask: the one legal token has the lowest logit; −∞ among the legal and NaN among
 * the illegal; all equal; widths that end within a mask's word; a vocabulary padded with the highest logits.
 */
import type { SampleRow } from "../../../sampler/row.ts"
import { maskOf, normalOf, type RowOptions, randomOf, rowOf } from "./rows.ts"

export interface LuringRow {
  readonly name: string
  readonly logits: Float32Array
  readonly row: SampleRow
}

const widths = [1, 2, 31, 32, 33, 63, 65, 100, 257, 1000]
const filters: RowOptions[] = [
  {},
  { temperature: 0 },
  { temperature: 0.1 },
  { temperature: 2 },
  { topK: 1 },
  { topK: 5 },
  { topK: 300, topP: 0.99 },
  { topP: 0.01 },
  { topP: 0.9 },
  { minP: 0.2 },
  { topNSigma: 1 },
  { topNSigma: 2, minP: 0.01, topK: 40, topP: 0.95, temperature: 1.3 },
  {
    logitBias: { 0: -100 },
    frequencyPenalty: 2,
    presencePenalty: 2,
    repetitionPenalty: 10,
    output: [0, 0, 0],
  },
  { minTokens: 10, endIds: [0], noRepeatNgramSize: 1, prompt: [0], topP: 0.7 },
  { typicalP: 0.5 },
  { xtcProbability: 1, xtcThreshold: 0.05 },
  { mirostat: 2, mirostatTau: 0.5 },
]

/** Every lure at every width under every filter. */
export function luringRows(): LuringRow[] {
  const random = randomOf(61)
  const normal = normalOf(random)
  return widths.flatMap((width) =>
    filters.flatMap((options, filter) => {
      const seed = 1000 * width + filter
      const some = Array.from({ length: width }, (_, id) => id).filter(() => random() < 0.3)
      const legal = some.length > 0 ? some : [width - 1]
      const make = (
        name: string,
        ids: readonly number[],
        value: (id: number, isLegal: boolean) => number,
      ) => {
        const mask = maskOf(width, ids)
        const logits = Float32Array.from({ length: width }, (_, id) => value(id, hasId(mask, id)))
        return {
          name: `${name}, V ${width}, ${JSON.stringify(options)}`,
          logits,
          row: rowOf(width, { ...options, mask, seed }),
        }
      }
      const lowest = Math.floor(random() * width)
      const real = width > 2 ? width - 1 - Math.floor(random() * Math.min(40, width - 2)) : 1
      return [
        make("one legal token, the lowest", [lowest], (_, isLegal) => (isLegal ? -1e30 : 50 + normal())),
        make("legal tokens are the lowest", legal, (_, isLegal) => normal() - (isLegal ? 1000 : 0)),
        make("−∞ and NaN", legal, (id, isLegal) => {
          if (isLegal) return id === legal[0] || random() < 0.5 ? normal() : Number.NEGATIVE_INFINITY
          return [Number.NaN, Number.POSITIVE_INFINITY, 0][id % 3]
        }),
        make("all equal", legal, () => 0.5),
        make("padded vocabulary", legal.filter((id) => id < real).concat(0), (id) =>
          id < real ? normal() : 1e30,
        ),
      ]
    }),
  )
}

function hasId(mask: Uint32Array, id: number): boolean {
  return ((mask[id >>> 5] >>> (id & 31)) & 1) === 1
}

/** Whether a token may come of a row: it is one of its ids, its bit is set, it has a probability. */
export function isLegal({ logits, row }: LuringRow, token: number): boolean {
  return (
    token >= 0 && token < logits.length && hasId(row.mask!, token) && logits[token] > Number.NEGATIVE_INFINITY
  )
}
