/**
 * The parts of dagre that lay out a graph. No other file imports the package: the build bundles
 * this file with it (`vite.dagre.config.ts`), so that a user of the package installs no dagre. Its
 * licence lies beside the bundle.
 */
import { graphlib, layout } from "@dagrejs/dagre"

/** Pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

export interface Point {
  readonly x: number
  readonly y: number
}

/** A line from one box to another, or to itself; its size is that of its label. */
export interface Line extends Size {
  readonly from: number
  readonly to: number
}

/** Where everything lies: the centres of boxes and labels, and the points of each line in order. */
export interface Placed extends Size {
  readonly boxes: readonly Point[]
  readonly lines: readonly { readonly points: readonly Point[]; readonly label: Point }[]
}

/** Places boxes from left to right. There may be one line for each ordered pair of boxes. */
export function place(boxes: readonly Size[], lines: readonly Line[]): Placed {
  const graph = new graphlib.Graph()
  graph.setGraph({ rankdir: "LR", nodesep: 22, ranksep: 26, edgesep: 14, marginx: 12, marginy: 12 })
  for (const [index, { width, height }] of boxes.entries()) graph.setNode(String(index), { width, height })
  for (const { from, to, width, height } of lines)
    graph.setEdge(String(from), String(to), { width, height, labelpos: "c" })
  layout(graph)
  const { width, height } = graph.graph()
  return {
    ...{ width, height },
    boxes: boxes.map((_, index) => pointOf(graph.node(String(index)))),
    lines: lines.map(({ from, to }) => {
      const line = graph.edge(String(from), String(to))
      return { points: line.points.map(pointOf), label: pointOf(line) }
    }),
  }
}

function pointOf({ x, y }: Point): Point {
  return { x, y }
}
