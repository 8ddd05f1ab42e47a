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
  Programs: [
    "library",
    "browser",
    "cli",
    "server",
    "operation",
    "openapi",
    "gguf",
    "gpu",
    "trace",
    "masks-package",
  ],
  Reference: ["api", "limits"],
  "How it works": ["performance", "ARCHITECTURE", "masks", "sampler", "isolation", "tests"],
}

/** What the menu calls a page whose heading names the feature, not the task. */
export const menuTitles: Readonly<Record<string, string>> = {
  extraction: "Extract values from a text",
  decisions: "Classify",
  tools: "An agent with tools",
  batches: "Many requests at once",
  conformance: "Test a server",
  clients: "OpenAI, AI SDK, LangChain",
  responses: "OpenAI's Responses",
  messages: "Anthropic",
  ollama: "Ollama",
  mounts: "Inside another server",
  peers: "As other engines write it",
  lint: "What other engines do",
  api: "Every public name",
  limits: "Every bound",
}
