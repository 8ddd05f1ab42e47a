/**
 * The worker of `tokenrail/browser` in one file, over the compiled `server/browser/worker.js`: the
 * engine, the application and the JavaScript of onnxruntime-web, whose licences are beside it. What
 * runs in Node only is left out; the application refuses it by name.
 */
import { rmSync } from "node:fs"
import { basename } from "node:path"
import { defineConfig, type Plugin } from "vite"

const folder = "dist/server/browser"

/** Modules that are imported when they are needed, and run in Node only. */
const nodeOnly = ["device.js", "service.js", "metrics.js", "readerthread.js", "checkthread.js", "files.js"]

const withoutNode: Plugin = {
  name: "without-node",
  enforce: "pre",
  transform(code, id) {
    if (id.includes("/node_modules/")) return null
    return code.replaceAll(/\bimport\("([^"]+)"\)/g, (whole, name) =>
      name.startsWith("node:") || nodeOnly.includes(basename(name))
        ? 'Promise.reject(new Error("this runs in Node only"))'
        : whole,
    )
  },
  generateBundle(_, bundle) {
    for (const part of Object.values(bundle)) {
      const modules = part.type === "chunk" ? Object.entries(part.modules) : []
      const left = modules.filter(([id, { code }]) => id.includes("browser-external") && code)
      if (left.length > 0) throw new Error(`modules of Node in the worker: ${left.map(([id]) => id)}`)
    }
  },
}

/** The worker is handed the bytes of this file, so no bundler has to copy it. */
const withoutFile: Plugin = {
  name: "without-file",
  enforce: "pre",
  transform(code, id) {
    if (!id.includes("/onnxruntime-web/")) return null
    const found = /new URL\("ort-wasm-simd-threaded\.wasm",\s*import\.meta\.url\)/g
    if (code.search(found) < 0) throw new Error(`${id} does not name its WebAssembly file`)
    return code.replaceAll(found, 'new URL("ort-wasm-simd-threaded.wasm", location.href)')
  },
}

export default defineConfig({
  // The modules that open a directory are read for their types, and dropped, with a warning each.
  logLevel: "error",
  publicDir: false,
  build: {
    target: "es2023",
    outDir: folder,
    emptyOutDir: false,
    modulePreload: false,
    license: { fileName: "worker.LICENSE.md" },
    rolldownOptions: {
      input: `${folder}/worker.js`,
      output: { format: "es", minify: true, codeSplitting: false, entryFileNames: "worker.js" },
    },
  },
  plugins: [
    withoutNode,
    withoutFile,
    { name: "no-map", closeBundle: () => rmSync(`${folder}/worker.js.map`, { force: true }) },
  ],
})
