/**
 * Bar charts as SVG text: horizontal bars with their values, in groups or stacked, on a linear or a
 * logarithmic axis.
 *
 * The picture has no style sheet, so that a page with a strict policy may hold it: text takes the
 * colour of the page, and the colours of bars are readable on white and on black. `file` makes a
 * picture for itself, with colours for light and dark.
 */
import { markup } from "../suite/api/junit.ts"

/** A chart. `values` are by series; null leaves a bar out. */
export interface Chart {
  readonly title: string
  /** What the axis measures, with its unit: "tokens per second". */
  readonly unit: string
  readonly series: readonly string[]
  readonly groups: readonly { readonly label: string; readonly values: readonly (number | null)[] }[]
  /** Default: linear, from 0. A logarithmic axis begins at a power of ten. */
  readonly scale?: "linear" | "log"
  /** One bar for each group, made of its values. Linear only. */
  readonly isStacked?: boolean
  /** CSS colours by series. Default: a palette. */
  readonly colors?: readonly string[]
}

const palette = ["#2f7ed8", "#d9822b", "#5a9e4b", "#b0589e", "#7d8590", "#c4453c"]
const width = 720
const barHeight = 15
const groupGap = 11
const rightRoom = 62
/** Width of a character in the font of the charts, at most. */
const charWidth = 7.1
const maxLabelChars = 34

interface Axis {
  readonly ticks: readonly number[]
  /** Returns the length of a bar, from 0 to 1. */
  readonly share: (value: number) => number
}

/** Returns a chart as an `<svg>` element for a page. */
export function barsSvg(chart: Chart): string {
  return drawBars(chart, "")
}

/** Returns a chart as the text of an SVG file, which follows the reader's light or dark colours. */
export function barsFile(chart: Chart): string {
  const style = `<style>svg{color:#1f2328;background:#fff}@media (prefers-color-scheme:dark){svg{color:#e6edf3;background:#14171c}}</style>`
  return `${drawBars(chart, style)}\n`
}

function drawBars(chart: Chart, style: string): string {
  const { title, unit, series, groups } = chart
  const left =
    14 +
    charWidth * Math.min(maxLabelChars, Math.max(4, ...groups.map(({ label }) => Array.from(label).length)))
  const axis = axisOf(chart)
  const x = (value: number) => left + axis.share(value) * (width - left - rightRoom)
  const rows = chart.isStacked ? 1 : series.length
  const groupHeight = rows * barHeight + groupGap
  const legend = legendOf(chart, left)
  const top = 34 + legend.height
  const bottom = top + groups.length * groupHeight
  const height = Math.ceil(bottom + 42)
  const grid = axis.ticks.map((tick) => gridLine(x(tick), top - 4, bottom, shortNumber(tick)))
  const bars = groups.map(({ label, values }, index) => {
    const y = top + index * groupHeight + groupGap / 2
    const name = `<text x="${at(left - 8)}" y="${at(y + (rows * barHeight) / 2 + 4)}" text-anchor="end">${markup(cut(label))}</text>`
    return name + (chart.isStacked ? stack(chart, label, values, y, x) : beside(chart, label, values, y, x))
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="system-ui, sans-serif" font-size="12" fill="currentColor"><title>${markup(title)}</title><desc>${markup(described(chart))}</desc>${style}
<text x="12" y="20" font-size="14" font-weight="600">${markup(title)}</text>
${legend.text}
${grid.join("\n")}
${bars.join("\n")}
<text x="${at(left)}" y="${height - 8}" opacity="0.75">${markup(unit)}${chart.scale === "log" ? ", logarithmic" : ""}</text>
</svg>`
}

function beside(
  chart: Chart,
  label: string,
  values: readonly (number | null)[],
  y: number,
  x: (value: number) => number,
): string {
  return values
    .map((value, index) => {
      if (value === null) return ""
      const [from, to] = [x(chart.scale === "log" ? 0 : Math.min(0, value)), x(Math.max(0, value))]
      const rowY = y + index * barHeight
      const drawn = bar(from, to, rowY, colorOf(chart, index), `${label}, ${chart.series[index]}: ${value}`)
      return `${drawn}<text x="${at(to + 5)}" y="${at(rowY + barHeight / 2 + 4)}" font-size="11">${shortNumber(value)}</text>`
    })
    .join("")
}

function stack(
  chart: Chart,
  label: string,
  values: readonly (number | null)[],
  y: number,
  x: (value: number) => number,
): string {
  let sum = 0
  const bars = values.map((value, index) => {
    if (!value) return ""
    const from = x(sum)
    sum += value
    return bar(from, x(sum), y, colorOf(chart, index), `${label}, ${chart.series[index]}: ${value}`)
  })
  return `${bars.join("")}<text x="${at(x(sum) + 5)}" y="${at(y + barHeight / 2 + 4)}" font-size="11">${shortNumber(sum)}</text>`
}

function bar(from: number, to: number, y: number, color: string, title: string): string {
  return `<rect x="${at(from)}" y="${at(y + 1)}" width="${at(Math.max(to - from, 1))}" height="${barHeight - 3}" fill="${markup(color)}"><title>${markup(title)}</title></rect>`
}

function gridLine(x: number, top: number, bottom: number, label: string): string {
  return `<path d="M${at(x)} ${at(top)}V${at(bottom)}" stroke="currentColor" stroke-opacity="0.18"/><text x="${at(x)}" y="${at(bottom + 15)}" text-anchor="middle" font-size="11" opacity="0.75">${label}</text>`
}

function legendOf(chart: Chart, left: number): { text: string; height: number } {
  if (chart.series.length < 2) return { text: "", height: 0 }
  let x = left
  let y = 34
  const items = chart.series.map((name, index) => {
    const size = 26 + charWidth * Array.from(name).length
    if (x + size > width && x > left) {
      x = left
      y += 18
    }
    const item = `<rect x="${at(x)}" y="${y}" width="11" height="11" fill="${markup(colorOf(chart, index))}"/><text x="${at(x + 16)}" y="${y + 10}">${markup(name)}</text>`
    x += size
    return item
  })
  return { text: items.join(""), height: y - 34 + 22 }
}

function axisOf({ groups, scale, isStacked }: Chart): Axis {
  const all = groups.flatMap(({ values }) => values.filter((value) => value !== null))
  const totals = groups.map(({ values }) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0))
  if (scale === "log") {
    const positive = all.filter((value) => value > 0)
    const low = Math.floor(Math.log10(Math.min(...positive, 1e9)) - 1e-9)
    const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive, 1e-9)) - 1e-9))
    const ticks = Array.from({ length: high - low + 1 }, (_, index) => Number(`1e${low + index}`))
    return {
      ticks,
      share: (value) => (value <= 0 ? 0 : Math.max(0, (Math.log10(value) - low) / (high - low))),
    }
  }
  const [least, most] = [Math.min(0, ...all), Math.max(0, ...(isStacked ? totals : all))]
  const step = niceStep((most - least || 1) / 5)
  const [first, last] = [Math.floor(least / step), Math.max(Math.ceil(most / step), 1)]
  const ticks = Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  )
  return { ticks, share: (value) => (value - first * step) / ((last - first) * step) }
}

/** Returns the least of 1, 2 and 5 times a power of ten that is at least `size`. */
function niceStep(size: number): number {
  const power = 10 ** Math.floor(Math.log10(size))
  return ([1, 2, 5, 10].find((factor) => factor * power >= size * (1 - 1e-9)) ?? 10) * power
}

/** Returns a number with at most three significant digits, and its thousands in groups. */
export function shortNumber(value: number): string {
  const rounded = Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3))
  return rounded.toLocaleString("en-US", { maximumSignificantDigits: 12 })
}

function described({ unit, series, groups }: Chart): string {
  const rows = groups.slice(0, 100).map(({ label, values }) => {
    const parts = values.map(
      (value, index) => `${series[index]} ${value === null ? "none" : shortNumber(value)}`,
    )
    return `${label}: ${parts.join(", ")}`
  })
  return `Bars, ${unit}. ${rows.join("; ")}.`
}

function colorOf({ colors = palette }: Chart, index: number): string {
  return colors[index % colors.length]
}

function cut(label: string): string {
  const chars = Array.from(label)
  return chars.length <= maxLabelChars ? label : `${chars.slice(0, maxLabelChars - 1).join("")}…`
}

/** Returns a coordinate with one decimal. */
function at(value: number): string {
  return String(Math.round(value * 10) / 10)
}
