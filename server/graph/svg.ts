/**
 * A graph of states as a picture: the text of an SVG file, which follows the reader's light or dark
 * colours and needs no script.
 *
 * States are circles with their number; a text may end in a double circle, and a dashed one has
 * continuations that are not drawn. What a screen reader reads is the list of edges.
 */
import { markup } from "../suite/api/junit.ts"
import { type Line, type Placed, type Point, place } from "./dagre.ts"
import type { Step } from "./labels.ts"
import type { Outline, OutlineEdge } from "./outline.ts"

const radius = 14
/** Height of the loop from a state to itself, below its circle. */
const loop = 16
/** Width of a character of a label, and height of a line, in pixels. */
const charWidth = 6.7
const lineHeight = 15
/** Characters of a line of a label, and how many lines a label has. */
const maxChars = 44
const maxLines = 6
/** Edges that the description spells out. */
const maxDescribed = 200

const style = `
svg{--ink:#1f2328;--soft:#656d76;--set:#0550ae;--paper:#fff;--line:#8c959f;--start:#1a7f37;color-scheme:light dark}
@media (prefers-color-scheme:dark){svg{--ink:#e6edf3;--soft:#9198a1;--set:#79c0ff;--paper:#0d1117;--line:#6e7681;--start:#3fb950}}
.paper{fill:var(--paper)}
text{font:11px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:var(--ink)}
.label text{text-anchor:middle}
.label rect{fill:var(--paper)}
.set{fill:var(--set)}
.soft{fill:var(--soft)}
.edge path{fill:none;stroke:var(--line);stroke-width:1.2}
.edge polygon{fill:var(--line)}
.state circle{fill:var(--paper);stroke:var(--ink);stroke-width:1.3}
.state text{text-anchor:middle}
.cut circle{stroke:var(--soft);stroke-dasharray:3 3}
.start path{stroke:var(--start);stroke-width:2;fill:none}
.start polygon{fill:var(--start)}
.note{font-family:system-ui,sans-serif;fill:var(--soft)}
`

/** Returns the SVG file of an outline. `title` names what it is a picture of. */
export function graphSvg(graph: Outline, title: string): string {
  const labels = graph.edges.map(labelLines)
  const sizes = labels.map(sizeOf)
  const boxes = graph.states.map(() => ({ width: 2 * radius + 4, height: 2 * radius + 4 }))
  const lines: Line[] = []
  for (const [index, { from, to }] of graph.edges.entries()) {
    if (from !== to) lines.push({ from, to, ...sizes[index] })
    // The loop and its label are below the circle. Boxes are symmetric, so there is room above too.
    else
      boxes[from] = {
        width: Math.max(36, sizes[index].width),
        height: 2 * (radius + loop + sizes[index].height),
      }
  }
  const placed = place(boxes, lines)
  const ways = routes(graph, sizes, placed)
  const notes = [summary(graph), legend(graph)]
  const left = 34
  const width = Math.ceil(Math.max(placed.width + left + 12, ...notes.map((note) => note.length * 6.2 + 24)))
  const height = Math.ceil(placed.height + 20 * notes.length + 8)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${markup(title)}</title>`,
    `<desc>${markup(`${notes[0]} ${described(graph)}`)}</desc>`,
    `<style>${style}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    `<g transform="translate(${left} 0)">`,
    startArrow(placed.boxes[0]),
    ...ways.map(({ points }) => `<g class="edge">${arrow(points)}</g>`),
    ...graph.states.map((state, index) => stateMark(state, placed.boxes[index], index)),
    ...graph.edges.map((edge, index) => labelText(edge, labels[index], ways[index].label)),
    "</g>",
    ...notes.map(
      (note, index) =>
        `<text class="note" x="12" y="${height - 10 - 20 * (notes.length - 1 - index)}">${markup(note)}</text>`,
    ),
    "</svg>\n",
  ].join("\n")
}

/** Returns one sentence on how much of the machine the graph shows. */
export function summary({ states, isWhole }: Outline): string {
  const count = `${states.length} ${states.length === 1 ? "state" : "states"}`
  return isWhole ? `${count}: all there are.` : `The ${count} nearest to the start. Dashed states go on.`
}

function legend({ states }: Outline): string {
  const parts = ["[…] or blue: one of these", "␣: a space"]
  if (states.some(({ isAccepting }) => isAccepting)) parts.unshift("double circle: the text may end")
  return parts.join(" · ")
}

function described({ states, edges }: Outline): string {
  const ends = [...states.keys()].filter((index) => states[index].isAccepting)
  const first = edges.slice(0, maxDescribed).map((edge) => `${edge.from} to ${edge.to}: ${whole(edge)}`)
  const rest = edges.length - first.length
  const accepting = ends.length > 0 ? `The text may end in: ${ends.slice(0, maxDescribed).join(", ")}. ` : ""
  return `Start: 0. ${accepting}${first.join("; ")}${rest > 0 ? `; and ${rest} more edges` : ""}.`
}

/** Returns all labels of an edge in one line, for its tooltip. */
function whole({ labels }: OutlineEdge): string {
  const lines = labels.slice(0, 50).map((label) => cut(label.map(({ text }) => text).join(" · "), 400))
  const rest = labels.length - lines.length
  return `${lines.join(" or ")}${rest > 0 ? ` or ${rest} more` : ""}`
}

/** Returns the lines of a label as they are drawn: each is a list of steps. */
function labelLines({ labels }: OutlineEdge): Step[][] {
  const lines = labels.slice(0, labels.length > maxLines ? maxLines - 1 : maxLines).map(fit)
  const rest = labels.length - lines.length
  return rest > 0 ? [...lines, [{ text: `… ${rest} more`, isSet: true }]] : lines
}

/** Returns the steps of a line, cut to `maxChars` characters. */
function fit(label: readonly Step[]): Step[] {
  const line: Step[] = []
  let left = maxChars
  for (const { text, isSet } of label) {
    if (left <= 0) {
      line.push({ text: "…", isSet: true })
      break
    }
    line.push({ text: cut(text, left), isSet })
    left -= text.length
  }
  return line
}

/** Returns the text, or its beginning, a middle dot line and its end: at most `most` characters. */
function cut(text: string, most: number): string {
  const chars = Array.from(text)
  if (chars.length <= most) return text
  const tail = most >> 2
  return `${chars.slice(0, most - tail - 1).join("")}…${tail > 0 ? chars.slice(-tail).join("") : ""}`
}

function sizeOf(lines: readonly Step[][]): { width: number; height: number } {
  const chars = lines.map((line) => line.reduce((sum, { text }) => sum + Array.from(text).length + 1, -1))
  return { width: Math.ceil(Math.max(...chars) * charWidth + 8), height: lines.length * lineHeight + 4 }
}

function labelText(edge: OutlineEdge, lines: readonly Step[][], { x, y }: Point): string {
  const { width, height } = sizeOf(lines)
  const back = `<rect x="${at(x - width / 2)}" y="${at(y - height / 2)}" width="${width}" height="${height}" rx="3"/>`
  const top = y - ((lines.length - 1) * lineHeight) / 2 + 4
  const texts = lines.map((line, index) => {
    const steps = line.map(
      ({ text, isSet }) => `<tspan${isSet ? ' class="set"' : ""}>${markup(text)}</tspan>`,
    )
    const dot = '<tspan class="soft">·</tspan>'
    return `<text x="${at(x)}" y="${at(top + index * lineHeight)}">${steps.join(dot)}</text>`
  })
  return `<g class="label"><title>${markup(`${edge.from} to ${edge.to}: ${whole(edge)}`)}</title>${back}${texts.join("")}</g>`
}

function stateMark(
  { isAccepting, isCut }: Outline["states"][number],
  { x, y }: Point,
  index: number,
): string {
  const ring = isAccepting ? `<circle cx="${at(x)}" cy="${at(y)}" r="${radius - 3}"/>` : ""
  const what = `state ${index}${isAccepting ? ", the text may end" : ""}${isCut ? ", goes on" : ""}`
  return `<g class="state${isCut ? " cut" : ""}"><title>${what}</title><circle cx="${at(x)}" cy="${at(y)}" r="${radius}"/>${ring}<text x="${at(x)}" y="${at(y + 4)}">${index}</text></g>`
}

function startArrow({ x, y }: Point): string {
  const tip = { x: x - radius, y }
  const from = { x: tip.x - 28, y }
  return `<g class="start"><title>start</title>${arrow([from, tip])}</g>`
}

/** An edge as it is drawn: a curve through points, and the centre of its label. */
interface Route {
  readonly points: readonly Point[]
  readonly label: Point
}

/** Returns the routes by edge. The layout ends lines at boxes, but states are circles. */
function routes({ edges }: Outline, sizes: readonly { height: number }[], { boxes, lines }: Placed): Route[] {
  let next = 0
  return edges.map(({ from, to }, index) => {
    const { x, y } = boxes[from]
    if (from === to) {
      const bottom = { x, y: y + radius + loop }
      const sides = [-1, 1].map((side) => ({ x: x + side * 15, y: bottom.y - 5 }))
      const ends = sides.map((side) => onCircle(boxes[from], { x: (side.x + x) / 2, y: side.y }))
      const label = { x, y: bottom.y + sizes[index].height / 2 }
      return { points: [ends[1], sides[1], bottom, sides[0], ends[0]], label }
    }
    const { points, label } = lines[next++]
    const inner = points.slice(1, -1)
    const first = onCircle(boxes[from], inner[0])
    return { points: [first, ...inner, onCircle(boxes[to], inner[inner.length - 1])], label }
  })
}

function onCircle({ x, y }: Point, towards: Point): Point {
  const length = Math.hypot(towards.x - x, towards.y - y) || 1
  return { x: x + ((towards.x - x) / length) * radius, y: y + ((towards.y - y) / length) * radius }
}

/** Returns a smooth path through `points` (a cardinal spline), with an arrow head at its end. */
function arrow(points: readonly Point[]): string {
  const last = points[points.length - 1]
  const before = points[points.length - 2]
  const length = Math.hypot(last.x - before.x, last.y - before.y) || 1
  const along = { x: (last.x - before.x) / length, y: (last.y - before.y) / length }
  const head = [3.2, -3.2].map(
    (side) => `${at(last.x - 8 * along.x - side * along.y)},${at(last.y - 8 * along.y + side * along.x)}`,
  )
  const line = [...points.slice(0, -1), { x: last.x - 6 * along.x, y: last.y - 6 * along.y }]
  const curves = line.slice(1).map((to, index) => {
    const from = line[index]
    const a = towards(from, line[index - 1] ?? from, to)
    const b = towards(to, line[index + 2] ?? to, from)
    return `C${at(a.x)},${at(a.y)} ${at(b.x)},${at(b.y)} ${at(to.x)},${at(to.y)}`
  })
  return `<path d="M${at(line[0].x)},${at(line[0].y)}${curves.join("")}"/><polygon points="${at(last.x)},${at(last.y)} ${head.join(" ")}"/>`
}

/** Returns the control point of `point` for a curve from `before` to `after`. */
function towards(point: Point, before: Point, after: Point): Point {
  return { x: point.x + (after.x - before.x) / 8, y: point.y + (after.y - before.y) / 8 }
}

/** Returns a coordinate with one decimal. */
function at(value: number): string {
  return String(Math.round(value * 10) / 10)
}
