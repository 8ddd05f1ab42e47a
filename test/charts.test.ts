/** The pictures of docs/performance.md are what the committed figures give. */
import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { charts } from "./support/charts.ts"

// After a change of figures: npx vitest run test/charts.test.ts --update
test.each(Object.entries(charts))("the chart %s is current, and has bars", async (name, draw) => {
  const svg = draw()
  expect(svg.match(/<rect [^>]*><title>/g)!.length).toBeGreaterThan(2)
  expect(svg).not.toMatch(/NaN|undefined/)
  await expect(svg).toMatchFileSnapshot(`../docs/pictures/${name}.svg`)
  expect(
    readFileSync("docs/performance.md", "utf8") + readFileSync("docs/masks-package.md", "utf8"),
  ).toContain(`(pictures/${name}.svg)`)
})
