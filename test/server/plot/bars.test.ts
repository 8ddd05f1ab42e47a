/** Charts: lengths of bars against their values, axes, and texts that try to be markup. */
import { describe, expect, test } from "vitest"
import { barsFile, barsSvg, type Chart, shortNumber } from "../../../server/plot/bars.ts"
import { chartPage } from "../../../server/plot/page.ts"

const chart = (values: (number | null)[][], more: Partial<Chart> = {}): Chart => ({
  ...{ title: "Speed", unit: "tokens per second", series: values[0].map((_, index) => `s${index}`) },
  groups: values.map((row, index) => ({ label: `g${index}`, values: row })),
  ...more,
})

/** The bars in order: where each begins, and how long it is. */
const bars = (svg: string) =>
  [...svg.matchAll(/<rect x="([\d.-]+)" y="[\d.]+" width="([\d.]+)"[^>]*><title>/g)].map(([, x, width]) => ({
    x: Number(x),
    width: Number(width),
  }))
/** The labels of the grid, with their positions. */
const ticks = (svg: string) =>
  [...svg.matchAll(/<text x="([\d.]+)" y="[\d.]+" text-anchor="middle"[^>]*>([^<]+)</g)].map(
    ([, x, label]) => ({
      x: Number(x),
      label,
    }),
  )

describe("a linear axis", () => {
  test("bars are as long as their values, and end where the grid says", () => {
    const svg = barsSvg(chart([[50], [100], [200]]))
    const [a, b, c] = bars(svg)
    expect([b.width / a.width, c.width / a.width]).toEqual([expect.closeTo(2, 1), expect.closeTo(4, 1)])
    expect(ticks(svg).map(({ label }) => label)).toEqual(["0", "50", "100", "150", "200"])
    for (const [bar, label] of [
      [a, "50"],
      [b, "100"],
      [c, "200"],
    ] as const)
      expect(bar.x + bar.width).toBeCloseTo(ticks(svg).find((tick) => tick.label === label)!.x, 0)
  })

  test("negative values go to the left of zero", () => {
    const svg = barsSvg(chart([[-10], [20]]))
    const zero = ticks(svg).find(({ label }) => label === "0")!.x
    const [a, b] = bars(svg)
    expect([a.x + a.width, b.x]).toEqual([expect.closeTo(zero, 0), expect.closeTo(zero, 0)])
  })

  test("stacked bars follow each other, without those of zero", () => {
    const svg = barsSvg(
      chart(
        [
          [3, 0, 5],
          [1, 1, null],
        ],
        { isStacked: true },
      ),
    )
    const [a, b, c, d] = bars(svg)
    expect(bars(svg).length).toBe(4)
    expect(b.x).toBeCloseTo(a.x + a.width, 0)
    expect(d.x).toBeCloseTo(c.x + c.width, 0)
    expect(b.width / a.width).toBeCloseTo(5 / 3, 1)
  })
})

test("a logarithmic axis has powers of ten at equal distances", () => {
  const svg = barsSvg(chart([[1.4], [12], [346], [null]], { scale: "log" }))
  const grid = ticks(svg)
  expect(grid.map(({ label }) => label)).toEqual(["1", "10", "100", "1,000"])
  const steps = grid.slice(1).map(({ x }, index) => x - grid[index].x)
  for (const step of steps) expect(step).toBeCloseTo(steps[0], 0)
  const found = bars(svg)
  expect(found.length).toBe(3)
  for (const [index, value] of [1.4, 12, 346].entries())
    expect(found[index].width).toBeCloseTo(steps[0] * Math.log10(value), 0)
  expect(svg).toContain("tokens per second, logarithmic")
})

test.each<[number, string]>([
  [0, "0"],
  [0.123456, "0.123"],
  [12.345, "12.3"],
  [999.6, "1,000"],
  [128256, "128,256"],
  [-1234.6, "-1,235"],
])("%d is written as %s", (value, text) => expect(shortNumber(value)).toBe(text))

test("without values, with zeros alone or with one value there is still a picture", () => {
  for (const scale of ["linear", "log"] as const)
    for (const values of [
      [[null]],
      [[0]],
      [[7]],
      [
        [0, 0],
        [0, 0],
      ],
    ])
      expect(barsSvg(chart(values, { scale }))).not.toMatch(/NaN|Infinity|undefined/)
  expect(barsSvg({ title: "t", unit: "u", series: [], groups: [] })).not.toMatch(/NaN|Infinity/)
})

test("labels cannot become markup, and long ones are cut", () => {
  const hostile = '<script>"&\u0000'
  const svg = barsSvg({
    ...{ title: hostile, unit: hostile, series: [hostile, "b"] },
    groups: [{ label: `${hostile}${"x".repeat(500)}`, values: [1, 2] }],
  })
  expect(svg).not.toContain("<script")
  expect(svg).not.toContain("\u0000")
  expect(svg).toContain("&#60;script&#62;&#34;&#38;\ufffdxxx")
  expect(/text-anchor="end">([^<]*)</.exec(svg)![1]).toMatch(/…$/)
  const page = chartPage(hostile, [hostile], [chart([[1]])])
  expect(page).not.toContain("<script")
  // The policy permits the one style sheet of the page, so a chart may have none of its own.
  expect(page.match(/<style/g)!.length).toBe(1)
  expect(page).not.toMatch(/ style="/)
})

test("a file has colours for light and dark", () => {
  expect(barsFile(chart([[1]]))).toMatch(
    /^<svg xmlns="http:\/\/www.w3.org\/2000\/svg"[\s\S]*prefers-color-scheme:dark[\s\S]*<\/svg>\n$/,
  )
})
