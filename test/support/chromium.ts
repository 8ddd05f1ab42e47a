/** Headless Chromium of the development package, for pages under test. */
import { type Browser, chromium } from "playwright-core"

/** The browser; the reason, in one line, where it does not start. The package has a binary for Linux on x64 only. */
export async function launchChromium(args: readonly string[] = []): Promise<Browser | string> {
  try {
    const { default: binary } = await import("@sparticuz/chromium")
    const executablePath = await binary.executablePath()
    return await chromium.launch({ executablePath, args: ["--no-sandbox", ...args], timeout: 20_000 })
  } catch (error) {
    return (error as Error).message.split("\n")[0]
  }
}
