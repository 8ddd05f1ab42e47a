/** Finds the documents that a schema needs: its references lead to them, or theirs do. */
import { TimeError } from "../../deadline.ts"
import { GrammarError } from "../../errors.ts"
import { checkOptions } from "../../options.ts"
import { fromValue, type JsonNode, readJson } from "../read/reader.ts"
import { subschemas } from "./dialect.ts"
import { metaschemaText } from "./metaschemas.ts"
import { type GraphOptions, SchemaGraph, type SchemaNode } from "./refs.ts"

/**
 * Returns the texts of all documents that a schema refers to, by URI, for `documents`. Calls
 * `retrieve` for each URI that is neither bundled nor embedded until nothing is missing. `retrieve`
 * returns null for a document that does not exist; compiling then names the reference that needs
 * it. `schema` is a JSON text or a value. Throws `syntax` if it is not JSON.
 */
export async function collectDocuments(
  schema: unknown,
  retrieve: (uri: string) => Promise<string | null> | string | null,
  options: Pick<GraphOptions, "documents" | "dialect"> = {},
): Promise<Record<string, string>> {
  checkOptions(options, { documents: "textmap", dialect: "text" })
  const root = typeof schema === "string" ? readJson(schema) : fromValue(schema)
  const documents: Record<string, string> = { ...options.documents }
  const asked = new Set<string>()
  for (;;) {
    const missing = new Set<string>()
    visitReferences(root, { ...options, documents, missing })
    const unknown = [...missing].filter((uri) => !asked.has(uri))
    if (unknown.length === 0) return documents
    for (const uri of unknown) {
      asked.add(uri)
      const text = await retrieve(uri)
      if (text !== null) documents[uri] = text
    }
  }
}

/** Resolves every reachable reference, so that `missing` receives all that fail. */
function visitReferences(schema: JsonNode, options: GraphOptions): void {
  const attempt = <T>(action: () => T): T | null => {
    try {
      return action()
    } catch (error) {
      // The compiler reports errors other than missing texts.
      if (error instanceof GrammarError && !(error instanceof TimeError)) return null
      throw error
    }
  }
  const graph = attempt(() => new SchemaGraph(schema, { ...options, parts: { metaschemas: metaschemaText } }))
  if (graph === null) return
  const queue = [graph.root]
  const seen = new Set(queue)
  for (const node of queue) {
    if (node.value.kind !== "object") continue
    const { members } = node.value
    const targets: (SchemaNode | null)[] = []
    const overridden = node.dialect.refOverrides && members.has("$ref")
    if (!overridden) {
      for (const { pointer, value } of subschemas(node.value, node.dialect))
        targets.push(graph.below(node, value, node.pointer + pointer))
    }
    const ref = members.get("$ref")
    const dynamic = members.get("$dynamicRef")
    if (ref?.kind === "string") targets.push(attempt(() => graph.ref(node, ref.value)))
    if (dynamic?.kind === "string") targets.push(attempt(() => graph.dynamicRef(node, dynamic.value)))
    for (const target of targets) {
      if (target === null || seen.has(target)) continue
      seen.add(target)
      queue.push(target)
    }
  }
}
