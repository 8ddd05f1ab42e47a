/**
 * The package `tokenrail-masks`: grammars, masks and the sampler for engines and pages of other
 * programs. What they import is bundled, with its licences, so the package has no dependencies.
 * Each entry loads only the front ends that it names. The types are the declarations that `tsc`
 * wrote to dist/, so that build comes first. Writes dist-masks/.
 */
import { cpSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig, type Plugin } from "vite"

const manifest = JSON.parse(readFileSync("package.json", "utf8"))

/** What the entries of all front ends export as well. */
const common = {
  "grammar/compiler": "compilerOf",
  "grammar/errors": "GrammarError, defaultLimits",
  "grammar/deadline": "TimeError",
  "grammar/options": "OptionError",
}
const frontEnd = (name: string) => ({ ...common, [`grammar/frontends/${name}`]: name })

/** By entry: the modules that it exports, each with the names, or all of them. */
const entries: Record<string, Record<string, string>> = {
  index: { "grammar/index": "*", "mask/index": "*", "sampler/index": "*" },
  json: { ...frontEnd("json"), "grammar/frontends/loading": "compileJson" },
  regex: frontEnd("regex"),
  formats: frontEnd("formats"),
  metaschemas: frontEnd("metaschemas"),
  texts: frontEnd("texts"),
  gbnf: frontEnd("gbnf"),
  lark: frontEnd("lark"),
  tags: frontEnd("tags"),
  mask: {
    "mask/handed": "",
    "mask/batch": "fillDraftMasks, fillMasks",
    "mask/bits": "applyMask, countAllowed, isAllowed, onlyToken",
    "mask/budgets/machine": "bindGrammar",
    "mask/fsm": "TokenFsm",
    "mask/matcher": "Matcher",
    "mask/prompt/forced": "canonicalTokens, forcedBytes, forcedTokens, tailBytes",
    "mask/prompt/healing": "heal",
    "mask/recipe": "wordCount",
    "mask/stored/error": "StoreError",
    "mask/stored/vocabulary": "deserializeVocabulary, serializeVocabulary",
    "mask/tokenizers/ranks": "parseTekken, parseTiktoken",
    "mask/tokenizers/tokenizerjson": "parseVocabulary",
    "mask/vocabulary": "Vocabulary",
  },
  sampler: { "sampler/index": "*" },
}

/** The statements of an entry. `place` turns a module into its specifier. */
function statements(entry: string, place: (module: string) => string): string {
  const lines = Object.entries(entries[entry]).map(([module, names]) => {
    const list = names === "*" ? "*" : `{ ${names} }`
    return names === "" ? `import "${place(module)}"` : `export ${list} from "${place(module)}"`
  })
  return `${lines.join("\n")}\n`
}

const prefix = "masks:"

function entryModules(): Plugin {
  return {
    name: "entries",
    resolveId: (id) => (id.startsWith(prefix) ? `\0${id}` : undefined),
    load(id) {
      if (!id.startsWith(`\0${prefix}`)) return undefined
      return statements(id.slice(prefix.length + 1), (module) => join(import.meta.dirname, `${module}.ts`))
    },
  }
}

/** Writes what a package has besides its code. */
function packageFiles(): Plugin {
  let folder = ""
  return {
    name: "package",
    configResolved: ({ build }) => {
      folder = build.outDir
    },
    closeBundle() {
      for (const floor of ["grammar", "mask", "sampler"]) {
        cpSync(`dist/${floor}`, `${folder}/types/${floor}`, {
          recursive: true,
          filter: (path) => !/\.\w+$/.test(path) || path.endsWith(".d.ts"),
        })
      }
      const typed = (floor: string) => `export type * from "./types/${floor}/index.js"\n`
      for (const entry of Object.keys(entries)) {
        const floor = entry === "mask" || entry === "sampler" ? entry : "grammar"
        const types = entry === "index" ? "" : typed(floor)
        const named = statements(entry, (module) => `./types/${module}.js`)
        writeFileSync(`${folder}/${entry}.d.ts`, named + types)
      }
      const { version, license, homepage, bugs, repository, engines } = manifest
      const paths = Object.keys(entries).map((entry) => [
        entry === "index" ? "." : `./${entry}`,
        { types: `./${entry}.d.ts`, default: `./${entry}.js` },
      ])
      const written = {
        ...{ name: "tokenrail-masks", version },
        description: "Which tokens may come next, for a JSON Schema, a regular expression or a grammar.",
        keywords: ["llm", "structured-output", "constrained-decoding", "json-schema", "grammar", "logits"],
        ...{ homepage, bugs, repository, license, type: "module", engines },
        exports: Object.fromEntries([...paths, ["./package.json", "./package.json"]]),
      }
      writeFileSync(`${folder}/package.json`, `${JSON.stringify(written, null, 2)}\n`)
      cpSync("LICENSE", `${folder}/LICENSE`)
      cpSync("mask/README.md", `${folder}/README.md`)
    },
  }
}

export default defineConfig({
  logLevel: "warn",
  publicDir: false,
  build: {
    target: "es2023",
    outDir: "dist-masks",
    emptyOutDir: true,
    modulePreload: false,
    license: { fileName: "NOTICES.md" },
    rolldownOptions: {
      input: Object.fromEntries(Object.keys(entries).map((entry) => [entry, prefix + entry])),
      preserveEntrySignatures: "strict",
      output: {
        format: "es",
        minify: true,
        entryFileNames: "[name].js",
        chunkFileNames: "chunks/[name]-[hash].js",
      },
    },
  },
  plugins: [entryModules(), packageFiles()],
})
