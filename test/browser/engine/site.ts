/**
 * A web server for a page with an engine: the page, the built worker, onnxruntime's file and the
 * embedded model. Its policy allows no more than docs/browser.md says.
 */
import { existsSync, readFileSync } from "node:fs"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { build } from "esbuild"

const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"

const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  json: "application/json",
  wasm: "application/wasm",
}

export interface Site {
  readonly url: string
  /** Paths of all requests, in their order. */
  readonly asked: string[]
  /** Whether only requests for the page itself are answered. */
  isOffline: boolean
  /** Paths that are answered as if there were no file. */
  readonly hidden: Set<string>
  close(): Promise<void>
}

const own = ["/", "/page.js", "/worker.js"]

/** Serves a page with the script of `entry`, which is bundled. */
export async function openSite(entry: string): Promise<Site> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    ...{ bundle: true, write: false, format: "esm", target: "es2023", conditions: ["browser"] },
  })
  const fixed = new Map<string, Buffer>([
    ["/", Buffer.from(`<!doctype html><title>t</title><script type="module" src="/page.js"></script>`)],
    ["/page.js", Buffer.from(outputFiles[0].contents)],
  ])
  const files: Record<string, string> = {
    "/worker.js": "dist/server/browser/worker.js",
    "/ort-wasm-simd-threaded.wasm": "node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm",
  }
  const read = (path: string): Buffer | undefined => {
    const known = fixed.get(path)
    const file =
      files[path] ?? (/^\/(?:runtime\/embedded|test\/exports)\//.test(path) ? join(".", path) : undefined)
    return known ?? (file !== undefined && existsSync(file) ? readFileSync(file) : undefined)
  }
  const asked: string[] = []
  const hidden = new Set<string>()
  const server: Server = createServer(({ url = "/" }, response) => {
    asked.push(url)
    if (site.isOffline && !own.includes(url)) return response.destroy()
    const body = hidden.has(url) ? undefined : read(url)
    const type = types[url === "/" ? "html" : url.split(".").at(-1)!] ?? "application/octet-stream"
    response.writeHead(body ? 200 : 404, {
      "content-type": body ? type : "text/plain",
      "content-length": body?.length ?? 0,
      "content-security-policy": policy,
    })
    return response.end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  const { port } = server.address() as AddressInfo
  const site: Site = { url: `http://127.0.0.1:${port}/`, asked, isOffline: false, hidden, close }
  return site
}
