/**
 * Adds outputs with only the new values to a decoder's graph, before its bytes are loaded.
 *
 * A decoder outputs its whole cache at every step, and often the logits of every input token. Every
 * output of a run is copied into new memory: for SmolLM2-135M with eight rows of 1,024 positions
 * these are 377 MB a step. So two things are added to the graph. First, for each output of keys or
 * values there is a second one with only the new tokens: a `GatherND` picks them from positions
 * that an input lists. The whole output is no longer requested, so it is not copied. Second, a
 * `GatherND` before the last product keeps only the tokens whose logits are requested: a row with a
 * known next token requests none. All computations stay the same.
 *
 * Protobuf merges the lists of a message that occurs twice, so the additions are a second `graph`
 * after the bytes of the model. The input of the last product is renamed in place, to a name of the
 * same length.
 */

import { concatenate } from "../../../grammar/bytes.ts"
import { freshName, headInput, isTokenwise, keepInputs, keptName, placesName, presentName } from "./names.ts"
import {
  type OnnxGraph,
  type OnnxNewNode,
  type OnnxNode,
  type OnnxValue,
  readGraph,
  withoutNodes,
  writeGraph,
} from "./onnx.ts"
import { stepwise } from "./steps.ts"

const Int64 = 7
/** The first opset with operators that gather in batches. */
const leastOpset = 12
/**
 * Returns the model with these outputs and inputs, and, unless `hasSteps` is false, with those by
 * which it reads tokens one by one (`steps.ts`); null if they cannot be added. `hasFresh`: whether
 * there are outputs with the new tokens alone. Renames a node's input in `model`.
 */
export function slimmed(model: Uint8Array, { hasSteps = true, hasFresh = true } = {}): Uint8Array | null {
  let graph: OnnxGraph
  try {
    graph = readGraph(model)
  } catch {
    // onnxruntime reports a clearer error for such bytes.
    return null
  }
  if (graph.opset < leastOpset) return null
  const outputOf = new Map(graph.outputs.map((output) => [output.name, output]))
  const steps = hasSteps ? stepwise(graph) : null
  const nodes: OnnxNewNode[] = []
  const outputs: OnnxValue[] = []
  const heads = new Set<number>()
  for (const { name, dims } of graph.inputs) {
    const present = outputOf.get(presentName(name))
    if (!hasFresh || !isTokenwise(name) || !present || !(dims && dims[1] > 0)) continue
    heads.add(dims[1])
    if (!steps?.presents.has(present.name))
      nodes.push({
        op: "GatherND",
        inputs: [present.name, placesName(dims[1])],
        outputs: [freshName(present.name)],
        attributes: [{ name: "batch_dims", int: 2 }],
      })
    outputs.push({ name: freshName(present.name), type: present.type, dims: [0, dims[1], 0, dims[3]] })
  }
  const inputs = [...heads].map((count) => ({ name: placesName(count), type: Int64, dims: [0, count, 0, 1] }))
  const product =
    graph.nodes.find(({ op, outputs }) => op === "Identity" && outputs[0] === headInput) ?? lastProduct(graph)
  if (product) {
    const [{ name, start }] = product.inputs
    const kept = `#${name.slice(1)}`
    model[start] = kept.charCodeAt(0)
    nodes.push({
      op: "GatherND",
      inputs: [name, keptName],
      outputs: [kept],
      attributes: [],
    })
    inputs.push({ name: keptName, type: Int64, dims: [0, 1, 2] })
  }
  if (nodes.length === 0 && !steps) return null
  const parts = [model, writeGraph({ nodes, inputs, outputs })]
  if (steps) parts.splice(0, 1, ...withoutNodes(model, steps.replaced), writeGraph(steps.added))
  return concatenate(parts)
}

/**
 * Returns the product whose rows become the tokens' logits, possibly through elementwise operators;
 * undefined if another node makes the logits.
 */
function lastProduct({ nodes, inputs }: OnnxGraph): OnnxNode | undefined {
  if (inputs.some(({ name }) => keepInputs.includes(name))) return undefined
  const makerOf = new Map(nodes.flatMap((node) => node.outputs.map((output) => [output, node])))
  const isFixed = ({ name }: OnnxNode["inputs"][number]): boolean =>
    (makerOf.get(name)?.op ?? "Constant") === "Constant"
  let maker = makerOf.get("logits")
  while (maker && ["Cast", "Mul", "Div", "Tanh"].includes(maker.op) && maker.inputs.slice(1).every(isFixed))
    maker = makerOf.get(maker.inputs[0].name)
  if (!maker || !["MatMul", "MatMulNBits"].includes(maker.op)) return undefined
  const { name } = maker.inputs[0]
  const isFree = makerOf.has(name) && /^[!-~]/.test(name) && !makerOf.has(`#${name.slice(1)}`)
  return isFree ? maker : undefined
}
