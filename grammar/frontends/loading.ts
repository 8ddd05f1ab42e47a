/** JSON Schemas, with the parts of the compiler that are loaded once a schema needs them. */
import { type Compiled, type CompileOptions, compilerOf, type FrontEnds, type InputOf } from "../compiler.ts"
import { MissingPart } from "../json/parts.ts"
import { json } from "./json.ts"

/** By part: loads the front end that has it. */
const loaders: { readonly [Part in MissingPart["part"]]: () => Promise<FrontEnds> } = {
  patterns: async () => (await import("./regex.ts")).regex,
  quotations: async () => (await import("./texts.ts")).texts,
  metaschemas: async () => (await import("./metaschemas.ts")).metaschemas,
  formats: async () => (await import("./formats.ts")).formats,
}

/**
 * Compiles a JSON Schema as `compile` does. The parts that `json` alone lacks are loaded by
 * `import()` when the first schema needs them, so a page that calls this begins with less code.
 */
export async function compileJson(
  input: InputOf<typeof json>,
  options: CompileOptions = {},
): Promise<Compiled> {
  let table: FrontEnds = json
  for (;;) {
    try {
      return compilerOf(table)(input as never, options)
    } catch (error) {
      if (!(error instanceof MissingPart)) throw error
      table = { ...table, ...(await loaders[error.part]()) }
    }
  }
}
