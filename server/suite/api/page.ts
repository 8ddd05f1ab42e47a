/**
 * Writes the results of a run as one page of HTML.
 *
 * The page loads nothing and runs no script: radio buttons filter the cases by style rules alone,
 * and its content security policy permits only the style sheet that it holds. Everything that a
 * server sent is shown as text.
 */
import { createHash } from "node:crypto"
import { barsSvg, type Chart } from "../../plot/bars.ts"
import { type Verdict, verdicts } from "./case.ts"
import { markup } from "./junit.ts"
import { type ApiSummary, summarizeApi, type VerdictCounts } from "./report.ts"
import type { ApiResult } from "./run.ts"

/** Returns the page. `at` is the time of the run. */
export function page(
  results: readonly ApiResult[],
  { url, model, at }: { url: string; model: string; at: Date },
): string {
  const summary = summarizeApi(results, url, model)
  const hash = createHash("sha256").update(style).digest("base64")
  const title = `Conformance of ${url}`
  const sections = Object.entries(summary.areas).map(([area, counts]) =>
    section(
      area,
      counts,
      results.filter((result) => result.area === area),
    ),
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'">
<title>${markup(title)}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${markup(title)}</h1>
<p>Model <code>${markup(model)}</code>, ${at.toISOString().slice(0, 16).replace("T", " ")} UTC, ${summary.total} cases. <em>(n)</em>: so many answers were cut off, and what there is
can still be completed.</p>
${table(summary)}
<div class="wide" role="region" aria-label="Verdicts by area, as a chart" tabindex="0">
${barsSvg(chart(summary))}
</div>
${filter(summary)}
${sections.join("\n")}
</main>
</body>
</html>
`
}

/** One bar for each area: its cases by verdict. */
function chart({ areas }: ApiSummary): Chart {
  return {
    ...{ title: "Verdicts by area", unit: "cases", isStacked: true },
    series: verdicts,
    colors: verdicts.map((verdict) => colors[verdict]),
    groups: Object.entries(areas).map(([label, counts]) => ({
      label,
      values: verdicts.map((verdict) => counts[verdict]),
    })),
  }
}

const colors: Readonly<Record<Verdict, string>> = {
  honoured: "#3f9a57",
  ignored: "#cf4a4a",
  wrong: "#9c2f6b",
  refused: "#6f8ba8",
  error: "#c08a1e",
  skipped: "#9aa0a8",
}

function table(summary: ApiSummary): string {
  const row = (name: string, counts: VerdictCounts) =>
    `<tr><th scope="row">${markup(name)}</th><td>${counts.total}</td>${verdicts.map((verdict) => cell(verdict, counts)).join("")}</tr>`
  const rows = Object.entries(summary.areas).map(([area, counts]) => row(area, counts))
  const heads = ["area", "cases", ...verdicts].map((head) => `<th scope="col">${head}</th>`).join("")
  return `<div class="wide" role="region" aria-label="Counts by area" tabindex="0">
<table>
<caption>Verdicts by area</caption>
<thead><tr>${heads}</tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
<tfoot>${row("all", summary)}</tfoot>
</table>
</div>`
}

function cell(verdict: Verdict, counts: VerdictCounts): string {
  const count = counts[verdict]
  const cut = verdict === "honoured" && counts.truncated > 0 ? ` (${counts.truncated})` : ""
  return count === 0 ? "<td>–</td>" : `<td class="${verdict}">${count}${cut}</td>`
}

/** The radio buttons that choose which cases are shown. */
function filter(summary: ApiSummary): string {
  const choices = ["all", ...verdicts] as const
  const buttons = choices.map((choice) => {
    const count = choice === "all" ? summary.total : summary[choice]
    const checked = choice === "all" ? " checked" : ""
    return `<label><input type="radio" name="shown" id="show-${choice}" value="${choice}"${checked}> ${choice} (${count})</label>`
  })
  return `<fieldset><legend>Show</legend>${buttons.join("\n")}</fieldset>`
}

function section(area: string, counts: VerdictCounts, results: readonly ApiResult[]): string {
  const shown = verdicts.filter((verdict) => counts[verdict] > 0).map((verdict) => `has-${verdict}`)
  return `<section class="${shown.join(" ")}">
<h2>${markup(area)}</h2>
${results.map(details).join("\n")}
</section>`
}

function details({
  id,
  area,
  verdict,
  why,
  truncated,
  samples,
  status,
  ms,
  request,
  answer,
}: ApiResult): string {
  const label = truncated ? `${verdict} (cut off)` : verdict
  const reason = why === "" ? "" : `<p>${markup(why)}</p>\n`
  return `<details class="case ${verdict}">
<summary><span class="verdict">${label}</span> ${markup(id.slice(area.length + 1))}</summary>
${reason}<p>Status ${status || "none"}, ${samples} ${samples === 1 ? "sample" : "samples"}, ${ms} ms.</p>
<h3>Request</h3>
<pre>${markup(indented(request)) || "(no body)"}</pre>
<h3>Answer</h3>
<pre>${markup(indented(answer)) || "(none)"}</pre>
</details>`
}

/** Returns JSON with indentation, and any other text as it is. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

const hiding = verdicts
  .map(
    (verdict) =>
      `main:has(#show-${verdict}:checked) .case:not(.${verdict}), ` +
      `main:has(#show-${verdict}:checked) section:not(.has-${verdict}) { display: none }`,
  )
  .join("\n")

const style = `
:root { color-scheme: light dark; --text: #1b1f24; --back: #fff; --soft: #f3f4f6; --line: #c9ced6;
  --good: #11632f; --bad: #a1121c; --odd: #7a4b00; --calm: #40566f }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e9ee; --back: #14171c; --soft: #20252d; --line: #434b57;
    --good: #7fd89a; --bad: #ff9a9a; --odd: #f0c069; --calm: #a9bfd8 } }
* { box-sizing: border-box }
body { margin: 0; color: var(--text); background: var(--back); font: 16px/1.5 system-ui, sans-serif;
  overflow-wrap: anywhere }
main { max-width: 64rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.4rem }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem }
h3 { font-size: .9rem; margin: .5rem 0 0 }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums }
caption { text-align: left; padding-bottom: .5rem }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap }
th:first-child { text-align: left }
tfoot { font-weight: bold }
fieldset { margin: 1rem 0; border: 1px solid var(--line); display: flex; flex-wrap: wrap; gap: .25rem 1rem }
label { display: inline-flex; align-items: center; gap: .35rem; min-height: 2rem }
details { border: 1px solid var(--line); border-radius: .4rem; margin: .25rem 0; padding: .25rem .6rem }
summary { cursor: pointer; min-height: 1.75rem }
pre { background: var(--soft); padding: .6rem; margin: .25rem 0; white-space: pre-wrap;
  max-height: 24rem; overflow-y: auto }
@media (max-width: 40rem) {
  table { font-size: .8rem }
  th, td { padding: .15rem .3rem }
  th:first-child { white-space: normal; max-width: 6.5rem; position: sticky; left: 0;
    background: var(--back) } }
.verdict { font-weight: bold; padding-right: .4rem }
.honoured > summary > .verdict, td.honoured { color: var(--good) }
.ignored > summary > .verdict, .wrong > summary > .verdict, td.ignored, td.wrong { color: var(--bad) }
.error > summary > .verdict, td.error { color: var(--odd) }
.refused > summary > .verdict, .skipped > summary > .verdict, td.refused, td.skipped { color: var(--calm) }
:focus-visible { outline: 3px solid var(--calm); outline-offset: 2px }
${hiding}
`
