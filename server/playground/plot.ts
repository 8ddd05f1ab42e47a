/** One chart: a value for each token, from 0 on. Its colours are those of the page's theme. */
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"

const height = 160

/** Draws into `host`, and follows its width until `end` is called. */
export function draw(
  host: HTMLElement,
  values: readonly (number | null)[],
): { set: (values: readonly (number | null)[]) => void; end: () => void } {
  const color = (name: string): string => getComputedStyle(host).getPropertyValue(name).trim()
  const axis = {
    stroke: () => color("--muted"),
    grid: { stroke: () => color("--line"), width: 1 },
    ticks: { stroke: () => color("--line"), width: 1 },
    font: "12px system-ui, sans-serif",
  }
  const data = (some: readonly (number | null)[]): uPlot.AlignedData => [
    some.map((_, index) => index + 1),
    [...some],
  ]
  const chart = new uPlot(
    {
      width: Math.max(200, host.clientWidth),
      height,
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
      axes: [axis, { ...axis, size: 48 }],
      series: [{}, { stroke: () => color("--accent"), width: 1.5, spanGaps: true, points: { show: false } }],
    },
    data(values),
    host,
  )
  const watch = new ResizeObserver(() => chart.setSize({ width: Math.max(200, host.clientWidth), height }))
  watch.observe(host)
  const theme = matchMedia("(prefers-color-scheme: dark)")
  const redraw = (): void => chart.redraw()
  theme.addEventListener("change", redraw)
  return {
    set: (some) => chart.setData(data(some)),
    end: () => {
      watch.disconnect()
      theme.removeEventListener("change", redraw)
      chart.destroy()
    },
  }
}
