/** Writes the results of a run as JUnit XML, which the dashboards of build servers read. */
import { failures, summarizeApi } from "./report.ts"
import type { ApiResult } from "./run.ts"

/** Returns the document: a test suite for each area, a test case for each case. */
export function junit(results: readonly ApiResult[], url: string, model: string): string {
  const { areas } = summarizeApi(results, url, model)
  const suites = Object.entries(areas).map(([area, counts]) => {
    const of = results.filter((result) => result.area === area)
    const bad = `failures="${counts.ignored + counts.wrong}" errors="${counts.error}" skipped="${counts.skipped}"`
    const seconds = of.reduce((sum, { ms }) => sum + ms / 1000, 0).toFixed(3)
    return (
      `  <testsuite name="${markup(area)}" tests="${counts.total}" ${bad} time="${seconds}">\n` +
      `${of.map(testCase).join("")}  </testsuite>\n`
    )
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${markup(url)}">\n${suites.join("")}</testsuites>\n`
}

function testCase({ id, area, verdict, why, ms, request, answer }: ApiResult): string {
  const name = `name="${markup(id.slice(area.length + 1))}" classname="${markup(area)}" time="${(ms / 1000).toFixed(3)}"`
  const shown = markup(`${request}\n\n${answer}`)
  if (failures.includes(verdict)) {
    const kind = verdict === "error" ? "error" : "failure"
    return `    <testcase ${name}>\n      <${kind} type="${verdict}" message="${markup(why)}">${shown}</${kind}>\n    </testcase>\n`
  }
  if (verdict === "skipped") return `    <testcase ${name}><skipped message="${markup(why)}"/></testcase>\n`
  const note = why === "" ? verdict : `${verdict}: ${why}`
  return `    <testcase ${name}><system-out>${markup(note)}</system-out></testcase>\n`
}

/**
 * Escapes a text for elements and attributes of XML and HTML. Characters that XML 1.0 forbids
 * become U+FFFD.
 */
export function markup(text: string): string {
  return text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD")
    .replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`)
}
