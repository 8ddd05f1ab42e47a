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

/**
 * The place of a worker's file is its location. Said so, onnxruntime's code runs in a worker of any
 * kind, and no bundler copies its files: the worker is handed their bytes.
 */
const withoutMeta: Plugin = {
  name: "without-meta",
  enforce: "pre",
  transform: (code, id) =>
    id.includes("/onnxruntime-web/") ? code.replaceAll("import.meta.url", "location.href") : null,
}

export default defineConfig({
  // The modules that open a directory are read for their types, and dropped, with a warning each.
  logLevel: "error",
  publicDir: false,
  build: {
    target: "es2023",
    outDir: folder,
    emptyOutDir: false,
    license: { fileName: "worker.LICENSE.md" },
    lib: { entry: `${folder}/worker.js`, formats: ["es"], fileName: "worker" },
    rolldownOptions: { preserveEntrySignatures: false, output: { minify: true, codeSplitting: false } },
  },
  plugins: [
    withoutNode,
    withoutMeta,
    { name: "no-map", closeBundle: () => rmSync(`${folder}/worker.js.map`, { force: true }) },
  ],
})
