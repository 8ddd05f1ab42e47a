/**
 * The name of the model, the examples, the link, the engine in the page, and the key if one is
 * needed.
 */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { isKey } from "./backend.ts"
import { gallery } from "./gallery.ts"
import { engineMegabytes } from "./inpage.ts"
import type { EngineSwitch } from "./useengine.ts"

/** What is known of the backend. */
export interface Server {
  model: string | null
  error: string | null
  /** Whether the server wants a key that the page does not have. */
  needsKey: boolean
}

interface HeaderProps {
  server: Server
  engine: EngineSwitch
  onKey: (key: string) => void
  onExample: (index: number) => void
}

export function Header({ server, engine, onKey, onExample }: HeaderProps): VNode {
  const [said, say] = useState("")
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(location.href)
      say("The link was copied.")
    } catch {
      say("The link is in the address bar.")
    }
  }
  return (
    <header>
      <div class="brand">
        <h1>Tokenrail</h1>
        <p class="quiet">{modelOf(server, engine)}</p>
      </div>
      <div class="actions">
        <label for="example">Example</label>
        <select
          id="example"
          value=""
          onChange={(event) => {
            const { value } = event.currentTarget
            if (value !== "") onExample(Number(value))
            event.currentTarget.value = ""
          }}
        >
          <option value="">Choose one of {gallery.length}</option>
          {gallery.map(({ name }, index) => (
            <option key={name} value={index}>
              {name}
            </option>
          ))}
        </select>
        <button type="button" onClick={() => void copy()}>
          Copy link
        </button>
        <span class="tick">
          <input
            id="in-page"
            type="checkbox"
            checked={engine.state !== "off"}
            onChange={(event) => engine.turn(event.currentTarget.checked)}
          />
          <label for="in-page">Run in this page</label>
        </span>
        {engine.state === "off" && server.error === null && <a href="docs">API</a>}
      </div>
      <p role="status" class="said quiet">
        {said}
      </p>
      {server.needsKey && <KeyForm onKey={onKey} />}
      <EngineState server={server} engine={engine} />
    </header>
  )
}

function modelOf({ model, error }: Server, { state }: EngineSwitch): string {
  if (state === "loading") return "loading the model"
  if (model === null) return error === null ? "…" : "no model"
  return state === "on" ? `${model}, in this page` : model
}

/** What happens to the engine in the page, and what to do if there is no server. */
function EngineState({ server, engine }: Pick<HeaderProps, "server" | "engine">): VNode | null {
  const { state, progress, error } = engine
  if (error !== null) return <p class="banner bad">The engine does not start in this page: {error}</p>
  if (state === "loading") {
    const { done, total } = progress
    return (
      <div class="banner">
        <label for="progress">
          Loading the engine, some {engineMegabytes} MB that the browser keeps: {Math.round(done / 1e6)} MB
        </label>
        <progress id="progress" value={done} max={Math.max(total, engineMegabytes * 1e6)} />
      </div>
    )
  }
  if (server.error === null) return null
  return (
    <div class="banner">
      <span>No server answers here. The engine can run in this page instead.</span>
      {state === "off" && (
        <button type="button" onClick={() => engine.turn(true)}>
          Run in this page
        </button>
      )}
      <span class="quiet">{server.error}</span>
    </div>
  )
}

function KeyForm({ onKey }: { onKey: (key: string) => void }): VNode {
  const [key, setKey] = useState("")
  const [isWrong, setWrong] = useState(false)
  return (
    <form
      class="banner"
      onSubmit={(event) => {
        event.preventDefault()
        const isSent = isKey(key.trim())
        setWrong(!isSent)
        if (isSent) onKey(key.trim())
      }}
    >
      <label for="key">This server needs an API key</label>
      <input
        id="key"
        type="password"
        autocomplete="off"
        value={key}
        aria-invalid={isWrong}
        onInput={(event) => setKey(event.currentTarget.value)}
      />
      <button type="submit">Use this key</button>
      <span role="status" class="quiet">
        {isWrong
          ? "A key has letters, digits and signs of ASCII alone, without spaces."
          : "It is kept until this tab is closed."}
      </span>
    </form>
  )
}
