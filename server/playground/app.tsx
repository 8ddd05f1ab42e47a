/**
 * The playground: a constraint with its report, a text that is checked against it, and a model that
 * follows it. `useSetup` holds what the visitor set, `useRun` the answer of the model.
 */
import type { VNode } from "preact"
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import { ApiError, type Backend, savedKey, saveKey, send } from "./backend.ts"
import { Check } from "./check.tsx"
import { Constraint } from "./constraint.tsx"
import { Decide } from "./decide.tsx"
import { gallery } from "./gallery.ts"
import { Header, type Server } from "./header.tsx"
import { Output } from "./output.tsx"
import { Prompt } from "./prompt.tsx"
import { requestBody, seedProblem, tracedBody, withText } from "./request.ts"
import { emptyRun, follow, type Run } from "./run.ts"
import { fromFragment, type Setup, toFragment } from "./setup.ts"
import { Tabs } from "./tabs.tsx"
import { useEngine } from "./useengine.ts"
import { useJudgement } from "./usejudgement.ts"

/** Returns the setup of the address, or the first example, and keeps the address up to date. */
function useSetup(): [Setup, (change: Partial<Setup>) => void] {
  const [setup, set] = useState<Setup>(() => fromFragment(location.hash) ?? gallery[0].setup)
  const change = useCallback((part: Partial<Setup>) => set((before) => ({ ...before, ...part })), [])
  useEffect(() => {
    const timer = setTimeout(() => history.replaceState(null, "", toFragment(setup)), 300)
    return () => clearTimeout(timer)
  }, [setup])
  useEffect(() => {
    const read = (): void => {
      const next = fromFragment(location.hash)
      if (next) set(next)
    }
    addEventListener("hashchange", read)
    return () => removeEventListener("hashchange", read)
  }, [])
  return [setup, change]
}

function useServer(backend: Backend, key: string): Server {
  const [server, set] = useState<Server>({ model: null, error: null, needsKey: false })
  // A new key may open the door that the old one did not.
  useEffect(() => {
    const control = new AbortController()
    const ask = async (): Promise<void> => {
      try {
        const reply = await send(backend, "v1/models", undefined, control.signal)
        const { data } = (await reply.json()) as { data: { id: string }[] }
        set({ model: data[0]?.id ?? null, error: null, needsKey: false })
      } catch (error) {
        if (control.signal.aborted) return
        const needsKey = error instanceof ApiError && error.status === 401
        const message = error instanceof Error ? error.message : String(error)
        set({ model: null, error: needsKey ? null : message, needsKey })
      }
    }
    void ask()
    return () => control.abort()
  }, [backend, key])
  return server
}

/** Draws at most once per frame, however fast tokens come. */
function useRun(): { run: Run | null; start: (backend: Backend, body: object) => void; stop: () => void } {
  const [, redraw] = useState(0)
  const run = useRef<Run | null>(null)
  const control = useRef<AbortController | null>(null)
  const frame = useRef(0)
  const tell = useCallback(() => {
    if (frame.current !== 0) return
    frame.current = requestAnimationFrame(() => {
      frame.current = 0
      redraw((count) => count + 1)
    })
  }, [])
  const start = useCallback(
    (backend: Backend, body: object) => {
      control.current?.abort()
      control.current = new AbortController()
      run.current = emptyRun()
      void follow(backend, body, { run: run.current, tell, signal: control.current.signal })
      tell()
    },
    [tell],
  )
  const stop = useCallback(() => control.current?.abort(), [])
  return { run: run.current, start, stop }
}

const rooms = [
  { id: "write", label: "Write" },
  { id: "decide", label: "Decide" },
] as const

export function App(): VNode {
  const [setup, change] = useSetup()
  const [room, setRoom] = useState<(typeof rooms)[number]["id"]>("write")
  const [key, setKey] = useState(savedKey)
  const { backend, engine } = useEngine(key)
  const server = useServer(backend, key)
  return (
    <>
      <Header
        server={server}
        engine={engine}
        onKey={(next) => {
          saveKey(next)
          setKey(next)
        }}
        onExample={(index) => {
          change(gallery[index].setup)
          setRoom("write")
        }}
      />
      <main>
        <Tabs label="Parts of the page" name="room" tabs={rooms} selected={room} onSelect={setRoom}>
          {room === "write" && <Write setup={setup} change={change} backend={backend} model={server.model} />}
          {room === "decide" && (
            <div class="grid">
              <Decide backend={backend} model={server.model} />
            </div>
          )}
        </Tabs>
      </main>
    </>
  )
}

interface WriteProps {
  setup: Setup
  change: (part: Partial<Setup>) => void
  backend: Backend
  model: string | null
}

function Write({ setup, change, backend, model }: WriteProps): VNode {
  const { run, start, stop } = useRun()
  const { kind, text, check } = setup
  const { whitespace, order } = setup.options
  const judgement = useJudgement({ kind, text, check, whitespace, order })
  const body = useMemo(() => requestBody(model ?? "model", setup), [model, setup])
  const go = (firstTokens: readonly number[]): void =>
    start(backend, tracedBody(withText(body, kind, text), { trace: 5, firstTokens }))
  const isRefused = judgement?.refusal != null
  const canRun = model !== null && !isRefused && seedProblem(setup.options.seed) === null
  return (
    <div class="grid">
      <Constraint setup={setup} judgement={judgement} change={change} />
      {kind !== "none" && (
        <Check
          text={check}
          verdict={judgement?.verdict ?? null}
          isReady={!isRefused && judgement !== null}
          onChange={(next) => change({ check: next })}
        />
      )}
      <Prompt
        setup={setup}
        change={change}
        isRunning={run?.state === "running"}
        canRun={canRun}
        onRun={() => go([])}
        onStop={stop}
      />
      <Output {...{ run, setup, body, backend, canRun, change }} onFinish={go} />
    </div>
  )
}
