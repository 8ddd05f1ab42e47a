/**
 * Chat templates, rendered here and by transformers: the same text byte for byte, or both refuse.
 *
 * Usage: `node dist/test/models/templates.js DIR [--only NAME] [--show]`. DIR holds `.jinja` files, such as those that llama.cpp keeps under
 * `models/templates`; the environment variable PYTHON names a Python with transformers. Prints a line for each template and,
 * with `--show`, each difference. Exit 1 when there is one.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { ChatTemplate, plainMessages } from "../../runtime/model/template.ts"
import { templateCases, templateMessages, templateNames } from "../support/templates.ts"
import { type Conversation, conversations } from "./conversations.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: "string", default: "" }, show: { type: "boolean", default: false } },
})
const [folder] = positionals
if (folder === undefined || !existsSync(folder)) {
  console.log(`skipped: no folder of chat templates${folder === undefined ? " is given" : ` at ${folder}`}`)
  process.exit(0)
}

const specials = { bos_token: "<s>", eos_token: "</s>", unk_token: "<unk>", pad_token: "<pad>" }
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".jinja") && name.includes(flags.only))
  .sort()

interface Rendered {
  text?: string
  error?: string
}
interface Theirs extends Rendered {
  /** With empty texts for contents that are null. transformers leaves those out, and some templates refuse that. */
  emptied?: Rendered
}
/**
 * How a rendering compares. As if empty: like transformers' with an empty text for a content that is null. Only here: transformers' Jinja
 * fails, on `tojson` of a generator, say.
 */
const kinds = ["equal", "both refuse", "as if empty", "only here", "different"] as const
type Kind = (typeof kinds)[number]

checkCases()
const sources = names.map((name) => readFileSync(join(folder, name), "utf8"))
const theirs = renderedByTransformers(sources, conversations)
const row = (name: string, found: readonly Kind[]): string =>
  `| ${name} | ${kinds.map((kind) => found.filter((each) => each === kind).length).join(" | ")} |`
const all: Kind[] = []
console.log(`| template | ${kinds.join(" | ")} |`)
console.log("|---|--:|--:|--:|--:|--:|")
for (const [at, name] of names.entries()) {
  const template = new ChatTemplate(new Map([["default", sources[at]]]), specials)
  const found: Kind[] = []
  const differences: string[] = []
  let textual = 0
  for (const [index, conversation] of conversations.entries()) {
    const ours = render(template, conversation)
    const other = theirs[at * conversations.length + index]
    const kind = kindOf(ours, other)
    found.push(kind)
    const asText = render(template, withTextArguments(conversation))
    if (ours.text !== undefined && ours.text !== asText.text) {
      textual++
      differences.push(difference(`${conversation.name}, arguments as text`, asText, ours))
    }
    if (kind === "different" || kind === "only here")
      differences.push(difference(conversation.name, ours, other))
  }
  console.log(row(name, found) + (textual > 0 ? ` ${textual} otherwise where arguments are texts` : ""))
  if (flags.show) for (const each of differences) console.log(each)
  all.push(...found)
}
console.log(row(`${names.length} templates`, all))
process.exit(all.includes("different") ? 1 : 0)

/** Whether what `test/support/templates.ts` expects is what transformers writes. */
function checkCases(): void {
  const options = { addGenerationPrompt: true, variables: templateNames }
  const written = renderedByTransformers(
    templateCases.map(([, source]) => source),
    [{ name: "", messages: templateMessages, options }],
  )
  for (const [at, [name, source, text]] of templateCases.entries()) {
    const { text: theirs = null, error } = written[at]
    if (theirs !== text)
      console.log(`expected otherwise, ${name}: ${source}\n  ${JSON.stringify(theirs)} ${error ?? ""}`)
  }
}

function kindOf(ours: Rendered, theirs: Theirs): Kind {
  if (ours.text === theirs.text) return ours.text === undefined ? "both refuse" : "equal"
  if (theirs.emptied && ours.text === theirs.emptied.text) return "as if empty"
  return theirs.text === undefined ? "only here" : "different"
}

function render(template: ChatTemplate, { messages, options }: Conversation): Rendered {
  try {
    return { text: template.render(plainMessages(messages), options) }
  } catch (error) {
    return { error: (error as Error).message }
  }
}

/** As clients of the API write calls: their arguments are JSON in a text. */
function withTextArguments({ messages, ...rest }: Conversation): Conversation {
  const asText = (call: unknown) => {
    const { function: func, ...others } = call as { function: { arguments: unknown } }
    return { ...others, function: { ...func, arguments: JSON.stringify(func.arguments) } }
  }
  const changed = messages.map((message) =>
    message.tool_calls ? { ...message, tool_calls: message.tool_calls.map(asText) } : message,
  )
  return { ...rest, messages: changed }
}

function renderedByTransformers(
  templates: readonly string[],
  conversations: readonly Conversation[],
): Theirs[] {
  const given = {
    specials,
    templates,
    conversations: conversations.map(({ messages, options }) => ({
      messages,
      tools: options.tools,
      documents: options.documents,
      add_generation_prompt: options.addGenerationPrompt,
      variables: options.variables,
    })),
  }
  const python = process.env.PYTHON ?? "python3"
  const { status, stdout, stderr } = spawnSync(python, ["test/models/templates.py"], {
    input: JSON.stringify(given),
    encoding: "utf8",
    maxBuffer: 1 << 30,
  })
  if (status !== 0) {
    console.log(`skipped: ${python} has no transformers:\n${stderr}`)
    process.exit(0)
  }
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Theirs)
}

function difference(name: string, ours: Rendered, theirs: Rendered): string {
  if (ours.text === undefined || theirs.text === undefined) {
    return `  ${name}: we ${ours.error ?? "render"}; transformers ${theirs.error ?? "renders"}`
  }
  const [a, b] = [ours.text, theirs.text]
  let at = 0
  while (a[at] === b[at]) at++
  const from = Math.max(0, at - 40)
  return `  ${name}: at ${at}\n    ours   ${JSON.stringify(a.slice(from, at + 80))}\n    theirs ${JSON.stringify(b.slice(from, at + 80))}`
}
