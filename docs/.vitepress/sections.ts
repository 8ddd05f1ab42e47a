/** The pages in the order in which people come. A test checks that each page is listed once. */
export const sections = {
  Start: ["index", "install", "models", "playground"],
  Tasks: ["extraction", "decisions", "tools", "sql", "streaming", "batches", "conformance", "own-engine"],
  Clients: ["clients", "responses", "messages", "ollama", "adapters", "mounts"],
  "What may be written": [
    "json-schema",
    "patterns",
    "gbnf",
    "lark",
    "structural-tags",
    "tool-styles",
    "peers",
    "lint",
  ],
  Programs: ["library", "browser", "cli", "server", "operation", "openapi", "gguf", "trace", "masks-package"],
  Reference: ["api", "limits"],
  "How it works": ["performance", "ARCHITECTURE", "masks", "sampler", "isolation", "tests"],
}
