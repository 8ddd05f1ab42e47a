/**
 * A graph that outputs only new values: made from a decoder's bytes before they are loaded.
 *
 * A decoder outputs its whole cache at every step, and often the logits of every input token. Every
 * output of a run is copied into new memory: of SmolLM2-135M with eight rows of 1,024 places 377 MB
 * a step. So two things are added to the graph. For each output of keys or values there is a second
 * one that has the new tokens alone, picked by a `GatherND` from places that an input names; the
 * whole one is no longer requested, and stays inside. Another one before the last product keeps
 * only the tokens whose logits are wanted: a row whose next token is known wants none. All
 * computations stay the same.
 *
 * Protobuf merges the lists of a message that occurs twice, so the additions are a second `graph`
 * behind the bytes of the model. The input of the last product is renamed in place, to a name of
 * the same length.
 */

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
 * The model with these outputs and inputs, and with those by which it reads tokens one by one
 * (`steps.ts`) unless `hasSteps` is false; null where nothing can be added. Renames a node's input
 * in `model`.
 */
export function slimmed(model: Uint8Array, { hasSteps = true } = {}): Uint8Array | null {
  let graph: OnnxGraph
  try {
    graph = readGraph(model)
  } catch {
    // The runtime's error is clearer.
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
    if (!isTokenwise(name) || !present || !(dims && dims[1] > 0)) continue
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
  return Buffer.concat(parts)
}

/**
 * The product whose rows are the tokens' logits, but for what happens to each number by itself;
 * undefined where another node makes them.
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
