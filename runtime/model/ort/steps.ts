/**
 * Several tokens at once as if they came one by one, to the last bit, in graphs of GroupQueryAttention.
 *
 * That operator computes the sum over the values of a single new token by another way through the processor than that of several, which
 * moves the last bits; and behind it every layer that rounds its activations to 8 bits makes them a hundredth of a logit's range
 * (SmolLM2-135M, 4 bits: 0.6 of 26). It also takes several new tokens for one row only. All else of such a graph computes each token by
 * itself. So each attention is put into an `If`: as it was, or in a `Loop` that gives it the tokens one after the other. An input says how
 * many these are; 0: as it was. Everything else still runs once for all of them: six tokens cost 2.6 times what one costs, where the
 * operator by itself has 2.2 (SmolLM2-135M, 4 bits, one thread), and a single token costs what it did without the `If`.
 */

import type { OnnxAddition, OnnxGraph, OnnxNewNode, OnnxNode, OnnxValue } from "./onnx.ts"

/** The input that says how many tokens are read one after the other. Shape [], int64; 0: all at once. */
export const stepsName = "read_steps"

const [Unknown, Int32, Int64, Bool] = [0, 6, 7, 9]
/** Places of its inputs. */
const [PastKey, PastValue, Lengths, Total, Positions, Bias] = [3, 4, 5, 6, 9, 10]

/** The attentions of a graph and what takes their place; null where there are none, or one of them has an input that is not known here. */
export function stepwise({ nodes }: OnnxGraph): { replaced: OnnxNode[]; added: OnnxAddition } | null {
  const replaced = nodes.filter(({ op, domain }) => op === "GroupQueryAttention" && domain !== "")
  const ways: OnnxNewNode[] = []
  for (const [index, node] of replaced.entries()) {
    const names = node.inputs.map(({ name }) => name)
    const isKnown =
      names[PastKey] && names[PastValue] && names[Lengths] && names[Total] && node.outputs.length === 3
    if (!isKnown || names[Positions] || names[Bias]) return null
    ways.push(eitherWay(node, names, `step.${index}`))
  }
  if (replaced.length === 0) return null
  const added: OnnxAddition = {
    nodes: [
      { op: "Equal", inputs: [stepsName, "step.none"], outputs: ["step.all_at_once"] },
      { op: "Cast", inputs: [stepsName], outputs: ["step.count"], attributes: [{ name: "to", int: Int32 }] },
      { op: "Sub", inputs: ["step.count", "step.one32"], outputs: ["step.last"] },
      ...ways,
    ],
    constants: [
      { name: "step.none", type: Int64, dims: [], values: [0] },
      { name: "step.zero", type: Int64, dims: [1], values: [0] },
      { name: "step.one", type: Int64, dims: [1], values: [1] },
      { name: "step.one32", type: Int32, dims: [], values: [1] },
      { name: "step.true", type: Bool, dims: [], values: [1] },
    ],
    inputs: [{ name: stepsName, type: Int64, dims: [] }],
    outputs: [],
  }
  return { replaced, added }
}

/** The attention as it is, or token by token. Its outputs have the names that they had. */
function eitherWay(node: OnnxNode, names: readonly string[], prefix: string): OnnxNewNode {
  const { op, domain, attributes, outputs } = node
  const named = (what: string): string => `${prefix}.${what}`
  const value = (name: string): OnnxValue => ({ name, type: Unknown })
  const asItIs = ["whole", "whole_keys", "whole_values"].map(named)
  const step = ["now", "keys", "values"].map(named)
  // Queries, keys and values: one tensor of all three, or one each.
  const given = [0, 1, 2].filter((at) => names[at])
  const ofToken = (at: number): string => named(`token.${at}`)
  const body: OnnxAddition = {
    nodes: [
      { op: "Unsqueeze", inputs: [named("index"), "step.zero"], outputs: [named("start")] },
      { op: "Add", inputs: [named("start"), "step.one"], outputs: [named("end")] },
      ...given.map((at) => ({
        op: "Slice",
        inputs: [names[at], named("start"), named("end"), "step.one"],
        outputs: [ofToken(at)],
      })),
      // What the operator is told counts all new tokens: those behind this one are not there yet.
      {
        op: "Cast",
        inputs: [named("index")],
        outputs: [named("index32")],
        attributes: [{ name: "to", int: Int32 }],
      },
      { op: "Sub", inputs: [named("index32"), "step.last"], outputs: [named("missing")] },
      { op: "Add", inputs: [names[Lengths], named("missing")], outputs: [named("lengths")] },
      { op: "Add", inputs: [names[Total], named("missing")], outputs: [named("total")] },
      {
        op,
        domain,
        attributes,
        inputs: names.map((name, at) => {
          if (given.includes(at)) return ofToken(at)
          const own = {
            [PastKey]: "past_keys",
            [PastValue]: "past_values",
            [Lengths]: "lengths",
            [Total]: "total",
          }
          return own[at] === undefined ? name : named(own[at])
        }),
        outputs: step,
      },
      { op: "Squeeze", inputs: [step[0], "step.one"], outputs: [named("row")] },
      { op: "Identity", inputs: [named("goes_on")], outputs: [named("still_goes_on")] },
    ],
    inputs: [
      { name: named("index"), type: Int64, dims: [] },
      { name: named("goes_on"), type: Bool, dims: [] },
      value(named("past_keys")),
      value(named("past_values")),
    ],
    outputs: [
      { name: named("still_goes_on"), type: Bool, dims: [] },
      value(step[1]),
      value(step[2]),
      value(named("row")),
    ],
  }
  const looped = ["last_keys", "last_values", "rows"].map(named)
  const oneByOne: OnnxAddition = {
    nodes: [
      {
        op: "Loop",
        inputs: [stepsName, "step.true", names[PastKey], names[PastValue]],
        outputs: looped,
        attributes: [{ name: "body", graph: body }],
      },
      {
        op: "Transpose",
        inputs: [looped[2]],
        outputs: [named("stepped")],
        attributes: [{ name: "perm", ints: [1, 0, 2] }],
      },
    ],
    inputs: [],
    outputs: [value(named("stepped")), value(looped[0]), value(looped[1])],
  }
  const whole: OnnxAddition = {
    nodes: [{ op, domain, attributes, inputs: names, outputs: asItIs }],
    inputs: [],
    outputs: asItIs.map((name) => value(name)),
  }
  return {
    op: "If",
    inputs: ["step.all_at_once"],
    outputs,
    attributes: [
      { name: "then_branch", graph: whole },
      { name: "else_branch", graph: oneByOne },
    ],
  }
}
