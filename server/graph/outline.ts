/**
 * What a picture shows of a graph: its states without those that lie inside a character or inside a
 * text that has no alternative, and a label for each edge.
 *
 * Over bytes, a character beyond ASCII takes two to four states. Their edges are joined into one,
 * labelled with ranges of characters.
 */
import type { StateGraph, Vocabulary } from "../../runtime/index.ts"
import { characterStep, merged, type Range, type Step, tokenStep } from "./labels.ts"

/** A drawn edge. Each label is a way from state to state: one step, or several in order. */
export interface OutlineEdge {
  readonly from: number
  readonly to: number
  readonly labels: readonly (readonly Step[])[]
}

interface LabelledEdge {
  readonly from: number
  readonly to: number
  readonly label: readonly Step[]
}

/** A drawn graph. Edges hold indexes in `states`; the start is state 0. */
export interface Outline {
  /** A state is cut if a text may go on there by more than the edges. */
  readonly states: readonly { readonly isAccepting: boolean; readonly isCut: boolean }[]
  readonly edges: readonly OutlineEdge[]
  /** Whether no state is cut. */
  readonly isWhole: boolean
}

/**
 * Returns the outline of a graph: at most `maxStates` states, those nearest to the start. With
 * `characters`, the tokens of `vocabulary` must be single bytes, so that token t is byte t.
 */
export function outline(
  graph: StateGraph,
  vocabulary: Vocabulary,
  unit: "characters" | "tokens",
  maxStates: number,
): Outline {
  const isCut = graph.states.map((state) => state.isCut)
  const edges =
    unit === "characters"
      ? characterEdges(graph, isCut)
      : graph.edges.map(({ from, to, tokens }) => ({ from, to, label: [tokenStep(tokens, vocabulary)] }))
  const out = outgoing(graph.states.length, bundle(joinTexts(graph.states, isCut, edges, unit)))
  const order = [0]
  const places = new Map([[0, 0]])
  const kept: OutlineEdge[] = []
  for (let from = 0; from < order.length; from++) {
    for (const { to, labels } of out[order[from]]) {
      const place = places.get(to) ?? (order.length < maxStates ? order.push(to) - 1 : -1)
      if (place < 0) isCut[order[from]] = true
      else {
        places.set(to, place)
        kept.push({ from, to: place, labels })
      }
    }
  }
  const states = order.map((index) => ({ isAccepting: graph.states[index].isAccepting, isCut: isCut[index] }))
  return { states, edges: kept, isWhole: states.every((state) => !state.isCut) }
}

/** What follows inside a character: by the state after it, the values of its remaining bits. */
interface Rest {
  readonly byState: ReadonlyMap<number, readonly Range[]>
  readonly bitCount: number
  /** Whether there are more that the walk did not reach. */
  readonly isCut: boolean
}

/** The edges of one state that are not joined yet, as ranges by the state that they lead to. */
class Ranges {
  private readonly byState = new Map<number, Range[]>()
  /** Whether a character was added that the walk did not read to its end. */
  isCut = false

  /** Adds the characters that begin with the bits `high`. A null `rest`: `high` is all. */
  add(to: number, high: number, rest: Rest | null): void {
    if (rest === null) {
      this.push(to, [high, high])
      return
    }
    this.isCut ||= rest.isCut

    for (const [target, ranges] of rest.byState)
      for (const [low, last] of ranges)
        this.push(target, [(high << rest.bitCount) + low, (high << rest.bitCount) + last])
  }

  private push(to: number, range: Range): void {
    const ranges = this.byState.get(to)
    if (ranges === undefined) this.byState.set(to, [range])
    else ranges.push(range)
  }

  merged(): Map<number, Range[]> {
    return new Map([...this.byState].map(([to, ranges]) => [to, merged(ranges)]))
  }
}

/** Sets `isCut` where a character may begin that the walk did not read to its end. */
function characterEdges(graph: StateGraph, isCut: boolean[]): LabelledEdge[] {
  const out = outgoing(graph.states.length, graph.edges)
  /** By state: how many bytes the character that has begun lacks. */
  const lacking = new Uint8Array(graph.states.length)
  // States come in the order of the walk, so one that leads to `to` stands before it.
  for (const { from, to, tokens } of graph.edges)
    lacking[to] = lacking[from] > 0 ? lacking[from] - 1 : bytesAfter(tokens[tokens.length - 1])
  const known: (Rest | null | undefined)[] = graph.states.map((_, index) =>
    lacking[index] > 0 ? undefined : null,
  )
  const restOf = (state: number): Rest | null => {
    let rest = known[state]
    if (rest !== undefined) return rest
    const ranges = new Ranges()
    for (const { to, tokens } of out[state])
      for (const byte of tokens) ranges.add(to, byte & 0x3f, restOf(to))
    rest = { byState: ranges.merged(), bitCount: 6 * lacking[state], isCut: isCut[state] || ranges.isCut }
    known[state] = rest
    return rest
  }
  return graph.states.flatMap((_, from) => {
    if (lacking[from] > 0) return []
    const ranges = new Ranges()
    for (const { to, tokens } of out[from])
      for (const byte of tokens) ranges.add(to, leadBits(byte), restOf(to))
    if (ranges.isCut) isCut[from] = true
    return [...ranges.merged()].map(([to, merged]) => ({ from, to, label: [characterStep(merged)] }))
  })
}

function outgoing<Edge extends { from: number }>(stateCount: number, edges: readonly Edge[]): Edge[][] {
  const out: Edge[][] = Array.from({ length: stateCount }, () => [])
  for (const edge of edges) out[edge.from].push(edge)
  return out
}

/** Returns how many bytes follow the first byte of a character's UTF-8. */
function bytesAfter(byte: number): number {
  return byte < 0xc0 ? 0 : byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3
}

/** Returns the bits of a code point that the first byte of its UTF-8 holds. */
function leadBits(byte: number): number {
  return byte < 0x80 ? byte : byte < 0xe0 ? byte & 0x1f : byte < 0xf0 ? byte & 0xf : byte & 0x7
}

/**
 * Joins the edges around states at which a text has no alternative: one edge leads there, one
 * leads away, and both read one text. Characters become one text; tokens stay steps.
 */
function joinTexts(
  states: StateGraph["states"],
  isCut: readonly boolean[],
  edges: readonly LabelledEdge[],
  unit: "characters" | "tokens",
): LabelledEdge[] {
  const out = outgoing(states.length, edges)
  const into: LabelledEdge[][] = states.map(() => [])
  for (const edge of edges) into[edge.to].push(edge)
  const isOneText = (ways: readonly LabelledEdge[]) => ways.length === 1 && !ways[0].label[0].isSet
  const isPassed = states.map(
    ({ isAccepting }, index) =>
      index > 0 && !isAccepting && !isCut[index] && isOneText(into[index]) && isOneText(out[index]),
  )
  return edges
    .filter(({ from }) => !isPassed[from])
    .map((edge) => {
      let { to } = edge
      if (!isPassed[to]) return edge
      const label = [...edge.label]
      for (; isPassed[to]; to = out[to][0].to) label.push(...out[to][0].label)
      const text = label.map((step) => step.text).join("")
      return { from: edge.from, to, label: unit === "characters" ? [{ text, isSet: false }] : label }
    })
}

/** Returns one edge for each pair of states, with the labels of all edges between them. */
function bundle(edges: readonly LabelledEdge[]): OutlineEdge[] {
  const pairs = new Map<string, { from: number; to: number; labels: (readonly Step[])[] }>()
  for (const { from, to, label } of edges) {
    const pair = pairs.get(`${from} ${to}`)
    if (pair === undefined) pairs.set(`${from} ${to}`, { from, to, labels: [label] })
    else pair.labels.push(label)
  }
  return [...pairs.values()]
}
