/**
 * dagre, which lays out graphs, bundled over the compiled `server/graph/dagre.js` like chevrotain
 * (vite.config.ts).
 */
import { rmSync } from "node:fs"
import { defineConfig } from "vite"

const folder = "dist/server/graph"

export default defineConfig({
  logLevel: "warn",
  publicDir: false,
  build: {
    target: "es2023",
    outDir: folder,
    emptyOutDir: false,
    license: { fileName: "dagre.LICENSE.md" },
    lib: { entry: "server/graph/dagre.ts", formats: ["es"], fileName: "dagre" },
  },
  plugins: [{ name: "no-map", closeBundle: () => rmSync(`${folder}/dagre.js.map`, { force: true }) }],
})
