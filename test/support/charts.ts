/**
 * The charts of docs/performance.md, made from figures that are committed: tables of the pages and
 * the files of `test/bench/results/`. A chart has no figures of its own.
 */
import { readFileSync } from "node:fs"
import { barsFile, type Chart } from "../../server/plot/bars.ts"

/** The rows of the table of a page whose header begins with these cells, as texts. */
function table(page: string, ...header: string[]): string[][] {
  const text = readFileSync(page, "utf8")
  const begin = text.indexOf(`\n${header.map((cell) => (cell === "" ? "| " : `| ${cell} `)).join("")}|`)
  if (begin < 0) throw new Error(`${page} has no table ${header.join(" | ")}`)
  const lines = text
    .slice(begin + 1)
    .split("\n\n")[0]
    .split("\n")
    .slice(2)
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** A figure without its unit; null for a dash or an empty cell. */
function figure(cell: string): number | null {
  const text = cell.replaceAll(",", "")
  return /\d/.test(text) ? Number.parseFloat(text) : null
}

/** A time in microseconds. */
function microseconds(cell: string): number | null {
  const value = figure(cell)
  return value === null ? null : /\bms\b/.test(cell) ? value * 1000 : value
}

function masks(): Chart {
  const rows = table("README.md", "measured", "", "llguidance 1.9.1, same run", "with").slice(0, 5)
  // "the same" is the row of tokens.
  const labels = [
    "to the first mask, median",
    "a token, median",
    "a token, average",
    "a token, 99th percentile",
    "a token, 99.9th percentile",
  ]
  return {
    ...{
      title: "Masks on MaskBench, 128,256 tokens",
      unit: "µs",
      scale: "log",
      series: ["Tokenrail", "llguidance 1.9.1"],
    },
    groups: rows.map(([, ours, theirs], index) => ({
      label: labels[index],
      values: [microseconds(ours), microseconds(theirs)],
    })),
  }
}

/** The rows of the table that compares a model in three programs. */
function programs(unit: string, title: string): Chart {
  const rows = table("docs/performance.md", "", "Tokenrail", "Plain loop", "node-llama-cpp")
  const own = rows.filter(([label]) => label.endsWith(unit))
  return {
    ...{ title, unit, series: ["Tokenrail", "plain loop of onnxruntime", "node-llama-cpp 3.22.1"] },
    groups: own.map(([label, ...values]) => ({
      label: label.replace(/, (?:tokens per second|ms)$/, ""),
      values: values.map(figure),
    })),
  }
}

function load(): Chart {
  const rows = table(
    "docs/performance.md",
    "Clients",
    "Free",
    "JSON by a schema with long names",
    "Ratio of the pairs",
  )
  return {
    ...{
      title: "Steady load, SmolLM2-135M, Q4_1",
      unit: "tokens per second",
      series: ["free text", "JSON by a schema"],
    },
    groups: rows.map(([clients, free, json]) => ({
      label: clients === "1" ? "1 client" : `${clients} clients`,
      values: [figure(free), figure(json)],
    })),
  }
}

function shortcuts(): Chart {
  const rows = table("docs/performance.md", "Shortcut", "Case")
  return {
    ...{ title: "Masks with and without each shortcut", unit: "ms", scale: "log", series: ["on", "off"] },
    groups: rows.map((row) => ({ label: row[0], values: [figure(row[6]), figure(row[7])] })),
  }
}

function sizes(): Chart {
  const rows = table("docs/masks-package.md", "A page imports", "minified, kB", "after gzip, kB")
  return {
    ...{ title: "What a page loads", unit: "kB after gzip", series: ["kB"] },
    groups: rows.map(([label, , gzip]) => ({ label: label.replaceAll("`", ""), values: [figure(gzip)] })),
  }
}

interface Measured {
  loaded: Record<string, { rssMiB: number }>
  results: Record<string, Record<string, number[]>>
}

/** Models measured beside node-llama-cpp. */
function models(): [name: string, measured: Measured][] {
  const all: Record<string, Measured> = JSON.parse(readFileSync("test/bench/results/models.json", "utf8"))
  return Object.entries(all).filter(([, { results }]) => Object.keys(results ?? {}).length > 0)
}

function median(values: readonly number[] | undefined): number | null {
  return values === undefined || values.length === 0
    ? null
    : [...values].sort((a, b) => a - b)[values.length >> 1]
}

function speeds(): Chart {
  const rows = ["free, 1 row", "bound, 1 row", "free, 8 rows", "bound, 8 rows"]
  return {
    ...{
      title: "Models, free and bound by a schema",
      unit: "tokens per second",
      series: ["Tokenrail", "node-llama-cpp, same file"],
    },
    groups: models().flatMap(([name, { results }]) =>
      rows.map((row) => {
        const found = results[`${row}: tokens/s`] ?? {}
        const short = name.replace("tokenrail-embedded", "embedded").replace("-Instruct", "")
        return { label: `${short}, ${row}`, values: [median(found.tokenrail), median(found.llama)] }
      }),
    ),
  }
}

function memory(): Chart {
  return {
    ...{
      title: "Memory of the process with a model loaded",
      unit: "MiB",
      series: ["Tokenrail", "node-llama-cpp, same file"],
    },
    groups: models().map(([label, { loaded }]) => ({
      label,
      values: [loaded.tokenrail?.rssMiB ?? null, loaded.llama?.rssMiB ?? null],
    })),
  }
}

function sampler(): Chart {
  const text = readFileSync("test/bench/results/sampler.txt", "utf8")
  // case, sort ms, torch ms, ours µs
  const rows = [
    ...text.matchAll(/^(\S.*?) {2,}([\d.]+) +([\d.]+) +([\d.]+) +[\d.]+ +[\d.]+ +[\d.]+(?: |$)/gm),
  ]
  return {
    ...{
      title: "One draw from 128,256 logits",
      unit: "µs",
      scale: "log",
      series: ["Tokenrail", "PyTorch", "sorting all"],
    },
    groups: rows.map(([, label, sort, torch, ours]) => ({
      label,
      values: [Number(ours), 1000 * Number(torch), 1000 * Number(sort)],
    })),
  }
}

/** The charts by the name of their file in docs/pictures/. */
export const charts: Record<string, () => string> = {
  masks: () => barsFile(masks()),
  programs: () => barsFile(programs("tokens per second", "SmolLM2-135M, 4 bits: speed")),
  firsttoken: () => barsFile(programs("ms", "SmolLM2-135M, 4 bits: time to the first token")),
  load: () => barsFile(load()),
  shortcuts: () => barsFile(shortcuts()),
  sizes: () => barsFile(sizes()),
  models: () => barsFile(speeds()),
  memory: () => barsFile(memory()),
  sampler: () => barsFile(sampler()),
}
