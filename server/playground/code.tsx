/** The request as code to copy. */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import type { Setup } from "./setup.ts"
import { type SnippetName, snippetNames, snippetOf } from "./snippets.ts"
import { Tabs } from "./tabs.tsx"

const languages = Object.entries(snippetNames).map(([id, label]) => ({ id: id as SnippetName, label }))

interface CodeProps {
  /** The URL of the server, which programs are shown with. */
  base: string
  body: Record<string, unknown>
  setup: Setup
}

export function Code({ base, body, setup }: CodeProps): VNode {
  const [name, setName] = useState<SnippetName>("curl")
  const text = snippetOf(name, base, body, setup)
  return (
    <Tabs label="Language" name="code" tabs={languages} selected={name} onSelect={setName}>
      <Copyable text={text} label={`Request with ${snippetNames[name]}`} />
    </Tabs>
  )
}

/** A text with a button that copies it. */
export function Copyable({ text, label }: { text: string; label: string }): VNode {
  const [said, say] = useState("")
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text)
      say("Copied.")
    } catch {
      say("The browser does not let this page copy.")
    }
  }
  return (
    <div>
      {/* A scrolled text needs the focus, so that the keyboard can scroll it. */}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: see above */}
      <section class="source" aria-label={label} tabIndex={0}>
        <pre>{text}</pre>
      </section>
      <div class="row">
        <button type="button" onClick={() => void copy()}>
          Copy
        </button>
        <span role="status" class="quiet">
          {said}
        </span>
      </div>
    </div>
  )
}
