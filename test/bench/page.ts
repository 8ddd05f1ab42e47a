/**
 * The engine in a page, in Chromium: how long it takes to open, with and without the files in the
 * browser's storage, the first token and each further one, and tasks of the page's own thread above
 * 50 ms meanwhile.
 *
 *   npm run build:programs && node dist/test/bench/page.js
 */
import type { inPage } from "../browser/engine/page.ts"
import { openSite } from "../browser/engine/site.ts"
import { launchChromium } from "../support/chromium.ts"

const site = await openSite("test/browser/engine/page.ts")
const browser = await launchChromium()
if (typeof browser === "string") throw new Error(`Chromium does not start: ${browser}`)
try {
  const page = await browser.newPage()
  await page.goto(site.url)
  await page.waitForFunction(() => "inPage" in globalThis)
  for (const load of ["first load", "from the storage", "from the storage"]) {
    const { openMs, firstMs, msPerToken, tokenCount, tasks } = await page.evaluate(() =>
      (globalThis as unknown as { inPage: Pick<typeof inPage, "times"> }).inPage.times(),
    )
    const ms = (value: number): string => value.toFixed(value < 100 ? 1 : 0)
    console.log(
      `${load}: open ${ms(openMs)} ms, first token ${ms(firstMs)} ms, ${ms(msPerToken)} ms a token (${tokenCount}), long tasks: ${tasks.length === 0 ? "none" : tasks.map(ms).join(", ")}`,
    )
  }
} finally {
  await browser.close()
  await site.close()
}
