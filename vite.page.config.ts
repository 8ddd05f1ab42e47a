/**
 * The playground, as a folder of files that any server can send: index.html, and beside it the
 * folder `playground` with the page, its style, its worker and what is loaded later. Names have no
 * hash, because the server checks files by their ETag.
 */
import { resolve } from "node:path"
import { defineConfig } from "vite"

const folder = "playground"
const names = {
  entryFileNames: `${folder}/[name].js`,
  chunkFileNames: `${folder}/[name].js`,
  assetFileNames: `${folder}/[name][extname]`,
}

/** The check of texts needs two classes of `runtime/`, and not the engine. */
const lower = {
  name: "lower-floors",
  enforce: "pre" as const,
  resolveId(source: string, importer?: string) {
    const isCheck = importer?.endsWith("/server/suite/checker.ts") && source.endsWith("/runtime/index.ts")
    return isCheck ? resolve("server/playground/lower.ts") : null
  },
}

/**
 * The files of the engine in the page keep their names below `playground/engine`: the server sends
 * them from where they lie in the package, and `npm run build:site` copies them there. No second
 * copy of the model is shipped.
 */
const engineFiles = {
  name: "engine-files",
  enforce: "pre" as const,
  transform(code: string, id: string) {
    if (!/\/server\/browser\/(?:index|embedded)\.ts$/.test(id)) return null
    const file = /new URL\("(?:\.\.\/\.\.\/\.\.\/runtime\/embedded\/|\.\/)?([\w./-]+)", import\.meta\.url\)/g
    if (code.search(file) < 0) throw new Error(`${id} names none of the files of the engine`)
    return code.replaceAll(file, (_, name) => `new URL("${folder}/engine/${name}", document.baseURI)`)
  },
}

export default defineConfig({
  root: "server/playground",
  base: "./",
  logLevel: "warn",
  publicDir: false,
  plugins: [engineFiles],
  build: {
    target: "es2023",
    outDir: "../../dist/server/playground",
    emptyOutDir: true,
    modulePreload: false,
    chunkSizeWarningLimit: 3_000,
    license: { fileName: `${folder}/LICENSES.md` },
    rolldownOptions: { output: names },
  },
  worker: { format: "es", plugins: () => [lower], rolldownOptions: { output: names } },
})
