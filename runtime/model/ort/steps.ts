/**
 * Attention of tokens that are read one by one, in graphs of GroupQueryAttention, without a copy of
 * the cache.
 *
 * That operator copies the whole cache at each step. It also computes several new tokens
 * differently from a single one, which changes the last bits; later layers that round their
 * activations to 8 bits amplify this to a hundredth of a logit's range (SmolLM2-135M, 4 bits: 0.6
 * of 26). And it takes several new tokens only for one row. The rest of such a graph computes each
 * token separately. So each attention is put into an `If`. Prompts use the original operator. A
 * single token uses plain products over the cache, which is only read: softmax(q · Kᵀ) · V over the
 * positions of the cache, followed by the new token. If several tokens must have the bits of single
 * ones, a `Loop` computes these products one token after the other. An input says how many such
 * tokens there are; 0: a prompt.
 *
 * Microseconds of one attention (9 heads of 64 numbers, 3 of keys and values, one thread, least of
 * 25), operator and products: one row of 128 positions 36 and 26, of 1,024 346 and 176; eight rows
 * of 128 positions 347 and 191, of 1,024 2,692 and 991.
 */

import { freshName, placesName, presentName, stepsName } from "./names.ts"
import {
  numberOf,
  type OnnxAddition,
  type OnnxAttribute,
  type OnnxGraph,
  type OnnxNewNode,
  type OnnxNode,
  type OnnxValue,
} from "./onnx.ts"

/**
 * Number of lanes in which sums over positions are computed: they have the same bits in every room
 * that is a multiple of it.
 */
const lanes = 64

const [Unknown, Float32, Int32, Int64, Bool] = [0, 1, 6, 7, 9]
const microsoft = "com.microsoft"
/** Indices of the operator's inputs. */
const [PastKey, PastValue, Lengths, Total, Cosines, Sines, Positions, Bias, Sinks] = [
  3, 4, 5, 6, 7, 8, 9, 10, 11,
]
/** The first opset in which the sizes of `Split` are an input. */
const leastOpset = 13
/** Number added to the score of a hidden token, whose weight then becomes exactly zero. */
const hidden = -1e9

/** One attention node of the graph. */
interface Attention {
  readonly node: OnnxNode
  readonly names: readonly string[]
  readonly heads: number
  readonly kvHeads: number
  readonly scale: number
  /** 0 if there is none. */
  readonly softcap: number
  /** Number of tokens that a token attends to, including itself; 0: all. */
  readonly window: number
  /** Number of values of a head that are rotated by its position; 0: none. */
  readonly turned: number
  readonly isInterleaved: boolean
}

/** Nodes and constants under construction. Their names begin with `prefix`. */
class Part {
  readonly nodes: OnnxNewNode[] = []
  private readonly prefix: string
  private readonly constants: Map<string, NonNullable<OnnxAddition["constants"]>[number]>

  constructor(prefix: string, constants: Part["constants"]) {
    this.prefix = prefix
    this.constants = constants
  }

  named(name: string): string {
    return `${this.prefix}.${name}`
  }

  /** Adds a node with one output. Returns the output's name. */
  add(
    name: string,
    op: string,
    inputs: readonly string[],
    attributes: readonly OnnxAttribute[] = [],
    domain = "",
  ): string {
    return this.split([name], op, inputs, attributes, domain)[0]
  }

  /** Adds a node with several outputs. */
  split(
    names: readonly string[],
    op: string,
    inputs: readonly string[],
    attributes: readonly OnnxAttribute[] = [],
    domain = "",
  ): string[] {
    const outputs = names.map((name) => this.named(name))
    this.nodes.push({ op, inputs, outputs, attributes, domain })
    return outputs
  }

  /**
   * Returns the name of a constant: of shape [n] for a list of n numbers, of shape [] for a number.
   */
  constant(values: number | readonly number[], type = Int64): string {
    const list = typeof values === "number" ? [values] : values
    const name = `step.constant.${type}.${typeof values === "number" ? "" : "list."}${list.join(".")}`
    this.constants.set(name, {
      name,
      type,
      dims: typeof values === "number" ? [] : [list.length],
      values: list,
    })
    return name
  }
}

/**
 * Finds the attention nodes of a graph and builds their replacements. `presents`: the cache outputs
 * of which the replacements also output the new tokens alone. Returns null if the graph has no
 * attention node, or if one has an input or attribute that is not supported here.
 */
export function stepwise(
  graph: OnnxGraph,
): { replaced: OnnxNode[]; added: OnnxAddition; presents: ReadonlySet<string> } | null {
  const replaced = graph.nodes.filter(({ op, domain }) => op === "GroupQueryAttention" && domain !== "")
  const attentions = replaced.map((node) => readAttention(node, graph))
  if (replaced.length === 0 || graph.opset < leastOpset) return null
  if (!attentions.every((each) => each !== null)) return null
  const constants: Part["constants"] = new Map()
  const common = new Part("step", constants)
  const zero = common.constant(0)
  common.add("all_at_once", "Equal", [stepsName, zero])
  common.add("is_single", "Equal", [stepsName, common.constant(1)])
  common.add("last", "Sub", [
    common.add("count", "Cast", [stepsName], [to(Int32)]),
    common.constant(1, Int32),
  ])
  const filled = common.add("filled_lanes", "Add", [stepsName, common.constant(lanes - 1)])
  const lanesOf = common.add("lanes", "Div", [filled, common.constant([lanes])])
  common.add("new_places", "Mul", [lanesOf, common.constant([lanes])])
  const [first] = attentions
  const position = countPlaces(common, first.names[Lengths])
  const places = placesOf(common, first.names[PastKey])
  const biases = new Map<number, string>()
  for (const { window } of attentions)
    if (!biases.has(window)) biases.set(window, biasOf(common, `bias.${window}`, position, places, window))
  for (const [index, attention] of attentions.entries()) {
    const seen: Seen = { position, places, bias: biases.get(attention.window)! }
    common.nodes.push(chosenWay(attention, `step.${index}`, constants, seen))
  }
  return {
    replaced,
    added: {
      nodes: common.nodes,
      constants: [...constants.values()],
      inputs: [{ name: stepsName, type: Int64, dims: [] }],
      outputs: [],
    },
    presents: new Set(attentions.flatMap(({ node }) => node.outputs.slice(1))),
  }
}

/**
 * Reads an attention node. Returns null for an input or attribute that is not supported here, and
 * for a cache that is not float32.
 */
function readAttention(node: OnnxNode, { inputs, sizes }: OnnxGraph): Attention | null {
  const names = node.inputs.map(({ name }) => name)
  const caches = [names[PastKey], names[PastValue]]
  const isWhole =
    names[Lengths] &&
    names[Total] &&
    caches.every((past, at) => past && node.outputs[at + 1] === presentName(past))
  const cache = inputs.find(({ name }) => name === names[PastKey])
  if (!isWhole || names[Positions] || names[Bias] || cache?.type !== Float32) return null
  const values = new Map(
    node.attributes.map((each) => numberOf(each as Uint8Array)).map((each) => [each.name, each.value]),
  )
  const value = (name: string, missing: number): number => {
    const found = values.get(name) ?? missing
    values.delete(name)
    return found
  }
  const heads = value("num_heads", 0)
  const kvHeads = value("kv_num_heads", 0)
  // Exports may leave the size of a head open.
  const scale = value("scale", 0) || (cache.dims?.[3] ?? 0) ** -0.5
  const window = value("local_window_size", 0)
  const isRotary = value("do_rotary", 0) !== 0
  const half = sizes.get(names[Cosines])?.[1] ?? 0
  const attention: Attention = {
    ...{ node, names, heads, kvHeads, scale },
    softcap: value("softcap", 0),
    // A negative number, which means no window, is read as a large one.
    window: window > 2 ** 31 ? 0 : window,
    turned: isRotary ? 2 * half : 0,
    isInterleaved: value("rotary_interleaved", 0) !== 0,
  }
  const isKnown = [...values.values()].every((left) => left === 0)
  const hasSizes = scale < 1e9 && kvHeads > 0 && heads % kvHeads === 0 && (!isRotary || half > 0)
  return isKnown && hasSizes ? attention : null
}

/**
 * What a token attends to: the number of tokens of its row before it, [B, 1, 1, 1], the number of
 * positions of the cache, [], and the bias of the scores, [B, 1, 1, P + 1].
 */
interface Seen {
  readonly position: string
  readonly places: string
  readonly bias: string
}

function countPlaces(part: Part, lengths: string): string {
  const apart = part.add("lengths", "Reshape", [lengths, part.constant([-1, 1, 1, 1])])
  return part.add("position", "Cast", [apart], [to(Int64)])
}

function placesOf(part: Part, cache: string): string {
  return part.add("places", "Gather", [part.add("shape", "Shape", [cache]), part.constant(2)])
}

/** Returns the name of a tensor with the size of a head. Shape [1]. */
function headSize(part: Part, cache: string): string {
  return part.add("head_size", "Gather", [part.add("head_shape", "Shape", [cache]), part.constant([3])])
}

/**
 * Returns the bias of the scores: zero for the visible positions and for the new token after them,
 * otherwise a number so low that the weight becomes zero.
 */
function biasOf(part: Part, name: string, position: string, places: string, window: number): string {
  const one = part.constant(1)
  const every = part.add(`${name}.all`, "Range", [
    part.constant(0),
    part.add(`${name}.end`, "Add", [places, one]),
    one,
  ])
  let seen = part.add(`${name}.before`, "Less", [every, position])
  if (window > 0) {
    const first = part.add(`${name}.first`, "Sub", [position, part.constant(window)])
    seen = part.add(`${name}.near`, "And", [seen, part.add(`${name}.behind`, "Greater", [every, first])])
  }
  const own = part.add(`${name}.own`, "Equal", [every, places])
  const either = part.add(`${name}.either`, "Or", [seen, own])
  return part.add(name, "Where", [either, part.constant(0, Float32), part.constant(hidden, Float32)])
}

/**
 * Returns the choice between the operator, the products for one token, and the loop. The outputs
 * keep their names; those of new tokens are added.
 */
function chosenWay(
  attention: Attention,
  prefix: string,
  constants: Part["constants"],
  seen: Seen,
): OnnxNewNode {
  const { node, names } = attention
  const single = new Part(`${prefix}.single`, constants)
  const given = [0, 1, 2].map((at) => names[at])
  const cache = [names[PastKey], names[PastValue]] as const
  const ways = [
    graphOf(single, products(single, attention, given, cache, seen)),
    oneByOne(attention, `${prefix}.loop`, constants, given, cache),
  ]
  const stepped = new Part(`${prefix}.stepped`, constants)
  const [out, keys, values] = ["out", "keys", "values"].map((name) => stepped.named(name))
  stepped.nodes.push(either("step.is_single", ways, [out, keys, values]))
  // The whole cache is never requested in steps.
  const whole = ["whole_keys", "whole_values"].map((name, at) =>
    stepped.add(name, "Identity", [[keys, values][at]]),
  )
  const fresh = node.outputs.slice(1).map(freshName)
  const branches = [
    atOnce(attention, `${prefix}.at_once`, constants),
    graphOf(stepped, [out, ...whole, keys, values]),
  ]
  return either("step.all_at_once", branches, [...node.outputs, ...fresh])
}

/** Returns the original attention, and the keys and values of the new tokens. */
function atOnce(
  { node, names, kvHeads }: Attention,
  prefix: string,
  constants: Part["constants"],
): OnnxAddition {
  const part = new Part(prefix, constants)
  const { op, domain, attributes } = node
  const whole = part.split(["out", "keys", "values"], op, names, attributes, domain)
  const fresh = whole
    .slice(1)
    .map((name, at) =>
      part.add(`fresh.${at}`, "GatherND", [name, placesName(kvHeads)], [{ name: "batch_dims", int: 2 }]),
    )
  return graphOf(part, [...whole, ...fresh])
}

/**
 * Returns the attention of one new token per row by products: its output [B, 1, H · D], its keys
 * and its values [B, K, 1, D]. `given`: queries, keys and values, or only the first if it contains
 * all of them. Scores are [B, K, G, P + 1], where G heads share keys and values.
 */
function products(
  part: Part,
  attention: Attention,
  given: readonly string[],
  [pastKeys, pastValues]: readonly [string, string],
  { position, places, bias }: Seen,
): string[] {
  const { heads, kvHeads, turned, isInterleaved, names } = attention
  const [query, key, value] = given[2] ? given : separated(part, attention, given[0], pastKeys)
  const rowPosition = part.add("row_position", "Reshape", [position, part.constant([-1, 1])])
  const turn = (name: string, x: string, count: number): string =>
    turned === 0
      ? x
      : part.add(
          name,
          "RotaryEmbedding",
          [x, rowPosition, names[Cosines], names[Sines]],
          [
            { name: "interleaved", int: isInterleaved ? 1 : 0 },
            { name: "num_heads", int: count },
            { name: "rotary_embedding_dim", int: turned },
          ],
          microsoft,
        )
  const shaped = (name: string, x: string, rows: number): string =>
    part.add(name, "Reshape", [x, part.constant([0, kvHeads, rows, -1])])
  const queries = shaped("queries", turn("turned_query", query, heads), heads / kvHeads)
  const keys = shaped("keys", turn("turned_key", key, kvHeads), 1)
  const values = shaped("values", value, 1)
  const scores = scored(part, attention, queries, [pastKeys, keys])
  const [past, own] = weighed(part, attention, part.add("seen_scores", "Add", [scores, bias]), places)
  const sum = part.add("sum", "Add", [
    part.add("past_sum", "MatMul", [past, pastValues]),
    part.add("own_sum", "Mul", [own, values]),
  ])
  return [part.add("heads", "Reshape", [sum, part.constant([0, 1, -1])]), keys, values]
}

/** Returns queries, keys and values from the one tensor that contains all of them. */
function separated(part: Part, { heads, kvHeads }: Attention, whole: string, pastKeys: string): string[] {
  const counts = part.constant([heads, kvHeads, kvHeads])
  const sizes = part.add("sizes", "Mul", [headSize(part, pastKeys), counts])
  return part.split(["query", "key", "value"], "Split", [whole, sizes], [axis(2)])
}

/** Returns the scores of the positions of the cache, followed by that of the new token. */
function scored(
  part: Part,
  { scale, softcap }: Attention,
  queries: string,
  [pastKeys, keys]: readonly [string, string],
): string {
  const score = (name: string, to: string): string =>
    part.add(
      name,
      "FusedMatMul",
      [queries, to],
      [
        { name: "transB", int: 1 },
        { name: "alpha", float: scale },
      ],
      microsoft,
    )
  const all = [score("past_scores", pastKeys), score("own_score", keys)]
  const scores = part.add("scores", "Concat", all, [axis(3)])
  if (softcap === 0) return scores
  const small = part.add("scores_by_cap", "Div", [scores, part.constant(softcap, Float32)])
  const bounded = part.add("bounded_scores", "Tanh", [small])
  return part.add("capped_scores", "Mul", [bounded, part.constant(softcap, Float32)])
}

/**
 * Returns the softmax of the scores: the weights of the positions of the cache, and the weight of
 * the new token.
 */
function weighed(part: Part, { heads, kvHeads, names }: Attention, scores: string, places: string): string[] {
  const one = part.constant([1])
  const sizes = [part.add("past_size", "Reshape", [places, one]), one]
  const parts = ["past_parts", "own_part"]
  let all = scores
  if (names[Sinks]) {
    // An additional score that belongs to no token (a sink).
    const shape = part.constant([1, kvHeads, heads / kvHeads, 1])
    const apart = part.add("sinks", "Reshape", [names[Sinks], shape])
    const ownShape = part.add("own_shape", "Shape", [part.named("own_score")])
    const sinks = part.add("every_sink", "Expand", [apart, ownShape])
    all = part.add("sunk_scores", "Concat", [scores, sinks], [axis(3)])
    sizes.push(one)
    parts.push("sunk_part")
  }
  const softmax = part.add("parts", "Softmax", [all], [axis(-1)])
  return part.split(parts, "Split", [softmax, part.add("part_sizes", "Concat", sizes, [axis(0)])], [axis(3)])
}

/**
 * Adds the products for one token after the other. Each token is appended to a copy of the cache,
 * after those before it.
 */
function oneByOne(
  attention: Attention,
  prefix: string,
  constants: Part["constants"],
  given: readonly string[],
  cache: readonly [string, string],
): OnnxAddition {
  const { kvHeads } = attention
  const part = new Part(prefix, constants)
  const zero = part.constant([0])
  const rows = part.add("rows", "Gather", [part.add("cache_shape", "Shape", [cache[0]]), zero])
  const room = [rows, part.constant([kvHeads]), "step.new_places", headSize(part, cache[0])]
  const empty = part.add("room", "ConstantOfShape", [part.add("room_shape", "Concat", room, [axis(0)])])
  const wide = cache.map((name, at) => part.add(`wide.${at}`, "Concat", [name, empty], [axis(2)]))
  const body = new Part(`${prefix}.token`, constants)
  const loop = tokenOf(body, attention, given)
  const looped = part.split(
    ["last_keys", "last_values", "rows_out", "rows_keys", "rows_values"],
    "Loop",
    [stepsName, part.constant(1, Bool), ...wide],
    [{ name: "body", graph: loop }],
  )
  const turned = (name: string, x: string, perm: readonly number[]): string =>
    part.add(name, "Transpose", [x], [{ name: "perm", ints: perm }])
  return graphOf(part, [
    turned("out", looped[2], [1, 0, 2]),
    turned("keys", looped[3], [1, 2, 0, 3]),
    turned("values", looped[4], [1, 2, 0, 3]),
  ])
}

/**
 * Returns the body of the loop for one token. It reads the caches of the previous iteration, passes
 * on the caches with its token added, and outputs the token's row, keys and values.
 */
function tokenOf(body: Part, attention: Attention, given: readonly string[]): OnnxAddition {
  const { names, window } = attention
  const [zero, one, two] = [[0], [1], [2]].map((values) => body.constant(values))
  const [index, goesOn, pastKeys, pastValues] = ["index", "goes_on", "past_keys", "past_values"].map((name) =>
    body.named(name),
  )
  const start = body.add("start", "Unsqueeze", [index, zero])
  const end = body.add("end", "Add", [start, one])
  const own = given.map((name, at) =>
    name ? body.add(`given.${at}`, "Slice", [name, start, end, one]) : name,
  )
  // The lengths count all new tokens except the last. The current token and those after it are not
  // in the cache yet.
  const missing = body.add("missing", "Sub", [body.add("index32", "Cast", [index], [to(Int32)]), "step.last"])
  const position = countPlaces(body, body.add("count", "Add", [names[Lengths], missing]))
  const places = placesOf(body, pastKeys)
  const seen = { position, places, bias: biasOf(body, "bias", position, places, window) }
  const [out, keys, values] = products(body, attention, own, [pastKeys, pastValues], seen)
  const at = body.add("at", "Expand", [position, body.add("token_shape", "Shape", [keys])])
  const [nextKeys, nextValues] = [
    [pastKeys, keys],
    [pastValues, values],
  ].map(([all, token], which) => body.add(`next.${which}`, "ScatterElements", [all, at, token], [axis(2)]))
  const said = [body.add("row", "Squeeze", [out, one])]
  for (const [which, token] of [keys, values].entries())
    said.push(body.add(`said.${which}`, "Squeeze", [token, two]))
  return {
    nodes: [...body.nodes, { op: "Identity", inputs: [goesOn], outputs: [body.named("still")] }],
    inputs: [
      { name: index, type: Int64, dims: [] },
      { name: goesOn, type: Bool, dims: [] },
      ...[pastKeys, pastValues].map((name) => value(name)),
    ],
    outputs: [
      { name: body.named("still"), type: Bool, dims: [] },
      ...[nextKeys, nextValues, ...said].map((name) => value(name)),
    ],
  }
}

function either(
  condition: string,
  [yes, no]: readonly OnnxAddition[],
  outputs: readonly string[],
): OnnxNewNode {
  return {
    ...{ op: "If", inputs: [condition], outputs },
    attributes: [
      { name: "then_branch", graph: yes },
      { name: "else_branch", graph: no },
    ],
  }
}

function graphOf({ nodes }: Part, outputs: readonly string[]): OnnxAddition {
  return { nodes, inputs: [], outputs: outputs.map(value) }
}

function value(name: string): OnnxValue {
  return { name, type: Unknown }
}

function axis(int: number): OnnxAttribute {
  return { name: "axis", int }
}

function to(type: number): OnnxAttribute {
  return { name: "to", int: type }
}
