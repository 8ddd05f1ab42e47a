/**
 * Charts of a run: tokens per second, the time of each mask, and the share of forced tokens. uPlot
 * draws them, and is loaded with the first chart. The numbers are also there as a list.
 */
import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { Run } from "./run.ts"

interface Chart {
  title: string
  unit: string
  values: (number | null)[]
}

/** Tokens over which the rate is averaged. */
const span = 8

/** Returns the three charts of a run, each with one value per token. */
function chartsOf({ trace, times }: Pick<Run, "trace" | "times">): Chart[] {
  let forced = 0
  return [
    {
      title: "Tokens per second",
      unit: "tokens/s",
      values: times.map((time, index) => {
        const start = Math.max(0, index - span)
        const ms = time - times[start]
        return index === start || ms <= 0 ? null : (1000 * (index - start)) / ms
      }),
    },
    { title: "Time of the mask", unit: "µs", values: trace.map(({ mask_us }) => mask_us) },
    {
      title: "Share of forced tokens",
      unit: "%",
      values: trace.map(({ kind }, index) => {
        if (kind === "forced") forced++
        return (100 * forced) / (index + 1)
      }),
    },
  ]
}

export function Charts({ run }: { run: Run | null }): VNode {
  if (run === null || run.trace.length === 0) return <p class="quiet">Run the request to see its charts.</p>
  return (
    <div class="charts">
      {chartsOf(run).map((chart) => (
        <Plot key={chart.title} {...chart} />
      ))}
    </div>
  )
}

function summaryOf(values: readonly (number | null)[], unit: string): string {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  if (known.length === 0) return "no values"
  const show = (value: number): string => (value < 10 ? value.toFixed(1) : Math.round(value).toString())
  const median = known[Math.floor(known.length / 2)]
  return `median ${show(median)} ${unit}, largest ${show(known[known.length - 1])} ${unit}`
}

function Plot({ title, unit, values }: Chart): VNode {
  const host = useRef<HTMLDivElement>(null)
  const latest = useRef(values)
  latest.current = values
  const plot = useRef<{ set: (values: (number | null)[]) => void; end: () => void } | null>(null)
  useEffect(() => {
    let isOver = false
    import("./plot.ts")
      .then(({ draw }) => {
        if (!isOver && host.current !== null) plot.current = draw(host.current, latest.current)
      })
      .catch(() => {
        if (host.current !== null) host.current.textContent = "This browser cannot draw the chart."
      })
    return () => {
      isOver = true
      plot.current?.end()
    }
  }, [])
  useEffect(() => plot.current?.set(values), [values])
  const summary = summaryOf(values, unit)
  return (
    <figure>
      <figcaption>
        {title} <span class="quiet">{summary}</span>
      </figcaption>
      <div class="plot" role="img" aria-label={`${title}: ${summary}`} ref={host} />
    </figure>
  )
}
