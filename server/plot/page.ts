/**
 * One page of HTML with charts and their figures. It loads nothing and runs no script, and follows
 * the reader's light or dark colours.
 */
import { createHash } from "node:crypto"
import { markup } from "../suite/api/junit.ts"
import { barsSvg, type Chart, shortNumber } from "./bars.ts"

const style = `
:root { color-scheme: light dark; --text: #1b1f24; --back: #fff; --line: #c9ced6 }
@media (prefers-color-scheme: dark) { :root { --text: #e6e9ee; --back: #14171c; --line: #434b57 } }
body { margin: 0; color: var(--text); background: var(--back); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
main { max-width: 46rem; margin: 0 auto; padding: 1rem }
h1 { font-size: 1.4rem }
.wide { overflow-x: auto; margin: 1rem 0 }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: right }
th:first-child { text-align: left }
:focus-visible { outline: 3px solid #2f7ed8; outline-offset: 2px }
`

/** Returns the page. `lines` are paragraphs under the title: what was measured, and where. */
export function chartPage(title: string, lines: readonly string[], charts: readonly Chart[]): string {
  const hash = createHash("sha256").update(style).digest("base64")
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
${lines.map((line) => `<p>${markup(line)}</p>`).join("\n")}
${charts.map(section).join("\n")}
</main>
</body>
</html>
`
}

function section(chart: Chart): string {
  const heads = [chart.unit, ...chart.series].map((head) => `<th scope="col">${markup(head)}</th>`)
  const rows = chart.groups.map(({ label, values }) => {
    const cells = values.map((value) => `<td>${value === null ? "–" : shortNumber(value)}</td>`)
    return `<tr><th scope="row">${markup(label)}</th>${cells.join("")}</tr>`
  })
  return `<div class="wide" role="region" aria-label="${markup(chart.title)}" tabindex="0">
${barsSvg(chart)}
</div>
<div class="wide" role="region" aria-label="${markup(`${chart.title}, as a table`)}" tabindex="0">
<table><thead><tr>${heads.join("")}</tr></thead><tbody>
${rows.join("\n")}
</tbody></table>
</div>`
}
