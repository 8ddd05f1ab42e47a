/**
 * The thread of walks in one file, over the compiled `runtime/guides/worker.js`: it loads in 0.1 s where its three hundred modules
 * take 0.3, which the first constraint of a process waits for, and the first one beside others. What it imports of packages, and
 * chevrotain's bundle, stays outside.
 */
import { rmSync } from "node:fs"
import { defineConfig } from "vite"

const file = "dist/runtime/guides/worker.js"

export default defineConfig({
  logLevel: "warn",
  publicDir: false,
  build: {
    target: "node20",
    outDir: "dist/runtime/guides",
    emptyOutDir: false,
    minify: false,
    ssr: file,
    rolldownOptions: { external: /chevrotain\.js$/, output: { entryFileNames: "worker.js" } },
  },
  plugins: [{ name: "no-map", closeBundle: () => rmSync(`${file}.map`, { force: true }) }],
})
