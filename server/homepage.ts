/**
 * `GET /`: the playground for a browser, and one line for every other client. Its files lie below
 * `/playground/`, as `vite.page.config.ts` builds them.
 *
 * The page loads nothing from another host, and its policy forbids it. Files are compressed once
 * and kept in memory, and a browser asks with their ETag whether they have changed.
 */
import { Refusal } from "./errors.ts"
import { quote } from "./http/quote.ts"

/** Styles of elements are set by scripts alone, which the policy allows. */
const policy = [
  "default-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ")

/** The worker of the engine compiles WebAssembly. A worker has the policy of its own file. */
const workerPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"

/** Media types of the files of the page, by the ends of their names. */
const types: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  json: "application/json",
  wasm: "application/wasm",
  onnx: "application/octet-stream",
}

/**
 * The files of the engine in the page, by their names below `engine/`, and where they lie in the
 * package. They are sent from there, since they are large.
 */
const engineFiles: Readonly<Record<string, string>> = {
  "worker.js": "dist/server/browser/worker.js",
  "config.json": "runtime/embedded/config.json",
  "generation_config.json": "runtime/embedded/generation_config.json",
  "tokenizer.json": "runtime/embedded/tokenizer.json",
  "tokenizer_config.json": "runtime/embedded/tokenizer_config.json",
  "onnx/model.onnx": "runtime/embedded/onnx/model.onnx",
}

/** Comes with onnxruntime-web, which is installed only for the engine in the page. */
const wasmFile = "ort-wasm-simd-threaded.wasm"

interface Asset {
  readonly type: string
  readonly etag: string
  readonly plain: Uint8Array<ArrayBuffer>
  readonly gzip: Uint8Array<ArrayBuffer>
}

/** The files that were asked for, by their names. A file that is not there is asked for again. */
const assets = new Map<string, Promise<Asset>>()

/** The names that a file below `/playground/` may have. */
const playgroundName = /^[a-z\d][\w-]*\.(?:js|css)$/i

/** Returns whether a request is a browser's for a page. */
export function wantsPage({ headers }: Request): boolean {
  return (headers.get("accept") ?? "").includes("text/html")
}

/** Returns the page, or `other` if the package has not been built. */
export async function homepage(request: Request, other: () => Response): Promise<Response> {
  try {
    return reply(request, await assetOf("index.html"))
  } catch {
    return other()
  }
}

/** Returns a file of the page. Rejects with `Refusal` (404) if no file has this name. */
export async function playgroundFile(request: Request, name: string): Promise<Response> {
  if (name.startsWith("engine/")) return engineFile(request, name.slice("engine/".length))
  try {
    if (!playgroundName.test(name)) throw new Error("not a name of a file")
    return reply(request, await assetOf(`playground/${name}`))
  } catch {
    const hint = "The page is at /; npm run build makes it"
    throw new Refusal("not_found", `${quote(name)} is not a file of the page`, { hint })
  }
}

/** Returns a file of the engine in the page. Rejects with `Refusal` (404). */
async function engineFile({ headers: asked }: Request, name: string): Promise<Response> {
  try {
    const path = await engineFilePath(name)
    const { readFile, stat } = await import("node:fs/promises")
    const { size, mtimeMs } = await stat(path)
    const headers = {
      ...{ etag: `"${size.toString(16)}-${Math.round(mtimeMs).toString(16)}"`, "cache-control": "no-cache" },
      "content-type": types[name.slice(name.lastIndexOf(".") + 1)],
      "content-security-policy": name === "worker.js" ? workerPolicy : policy,
      "x-content-type-options": "nosniff",
    }
    if (asked.get("if-none-match")?.includes(headers.etag))
      return new Response(null, { status: 304, headers })
    return new Response(new Uint8Array(await readFile(path)), { headers })
  } catch {
    const isWasm = name === wasmFile
    const hint = isWasm ? "npm install --save-exact onnxruntime-web@1.30.0" : "npm run build makes it"
    throw new Refusal("not_found", `${quote(name)} is not a file of the engine here`, { hint })
  }
}

/** Returns the path of a file of the engine. Rejects if there is none. */
async function engineFilePath(name: string): Promise<string> {
  if (name === wasmFile) {
    const { createRequire } = await import("node:module")
    return createRequire(import.meta.url).resolve(`onnxruntime-web/${wasmFile}`)
  }
  if (!Object.hasOwn(engineFiles, name)) throw new Error("not a name of a file")
  const { packageFile } = await import("../runtime/files.ts")
  return packageFile(engineFiles[name])
}

function assetOf(path: string): Promise<Asset> {
  const known = assets.get(path)
  if (known) return known
  const asset = read(path)
  assets.set(path, asset)
  asset.catch(() => assets.delete(path))
  return asset
}

async function read(path: string): Promise<Asset> {
  // Loaded here, since a browser has no files.
  const [{ readFile }, { gzip }, { promisify }, { packageFile }] = await Promise.all([
    import("node:fs/promises"),
    import("node:zlib"),
    import("node:util"),
    import("../runtime/files.ts"),
  ])
  const plain = new Uint8Array(await readFile(packageFile(`dist/server/playground/${path}`)))
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", plain))
  const hex = Array.from(digest.subarray(0, 12), (byte) => byte.toString(16).padStart(2, "0")).join("")
  const compressed = new Uint8Array(await promisify(gzip)(plain, { level: 9 }))
  return { type: types[path.slice(path.lastIndexOf(".") + 1)], etag: `"${hex}"`, plain, gzip: compressed }
}

function reply({ headers: asked }: Request, { type, etag, plain, gzip }: Asset): Response {
  const headers: Record<string, string> = {
    etag,
    "cache-control": "no-cache",
    "content-type": type,
    "content-security-policy": policy,
    "referrer-policy": "no-referrer",
    vary: "accept, accept-encoding",
    "x-content-type-options": "nosniff",
  }
  if (asked.get("if-none-match")?.includes(etag)) return new Response(null, { status: 304, headers })
  if (!/\bgzip\b/.test(asked.get("accept-encoding") ?? "")) return new Response(plain, { headers })
  return new Response(gzip, { headers: { ...headers, "content-encoding": "gzip" } })
}
