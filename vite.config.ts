/**
 * The one package that is bundled into the library: chevrotain, over the compiled `grammar/ebnf/chevrotain.js`, minified, with the
 * licences of what is in it beside it. Everything else is shipped as the compiler writes it, but for the thread of walks
 * (vite.thread.config.ts).
 */
import { rmSync } from "node:fs"
import { defineConfig } from "vite"

const folder = "dist/grammar/ebnf"

export default defineConfig({
  logLevel: "warn",
  publicDir: false,
  build: {
    target: "es2023",
    outDir: folder,
    emptyOutDir: false,
    license: { fileName: "chevrotain.LICENSE.md" },
    lib: { entry: "grammar/ebnf/chevrotain.ts", formats: ["es"], fileName: "chevrotain" },
  },
  // The compiler's source map is of the file that was there before.
  plugins: [{ name: "no-map", closeBundle: () => rmSync(`${folder}/chevrotain.js.map`, { force: true }) }],
})
