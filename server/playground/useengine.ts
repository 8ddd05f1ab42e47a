/** The backend of the page: its server, or the engine in the page once that is switched on. */
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks"
import { type Backend, serverBackend } from "./backend.ts"
import { type Progress, pageBackend } from "./inpage.ts"

export interface EngineSwitch {
  state: "off" | "loading" | "on"
  progress: Progress
  error: string | null
  turn: (isOn: boolean) => void
}

const nothing: Progress = { done: 0, total: 0 }

/** Returns the backend for all requests, and the switch of the engine in the page. */
export function useEngine(key: string): { backend: Backend; engine: EngineSwitch } {
  const keyRef = useRef(key)
  keyRef.current = key
  const server = useMemo(() => serverBackend(() => keyRef.current), [])
  const [own, setOwn] = useState<Backend | null>(null)
  const [isLoading, setLoading] = useState(false)
  const [progress, setProgress] = useState(nothing)
  const [error, setError] = useState<string | null>(null)
  const control = useRef<AbortController | null>(null)
  useEffect(() => () => control.current?.abort(), [])
  const load = useCallback(async (signal: AbortSignal): Promise<void> => {
    try {
      const backend = await pageBackend((next) => {
        if (!signal.aborted) setProgress(next)
      }, signal)
      if (signal.aborted) backend.close()
      else setOwn(backend)
    } catch (failure) {
      if (!signal.aborted) setError(failure instanceof Error ? failure.message : String(failure))
    } finally {
      if (!signal.aborted) setLoading(false)
    }
  }, [])
  const turn = useCallback(
    (isOn: boolean): void => {
      control.current?.abort()
      own?.close()
      setOwn(null)
      setError(null)
      setProgress(nothing)
      setLoading(isOn)
      if (!isOn) return
      control.current = new AbortController()
      void load(control.current.signal)
    },
    [own, load],
  )
  const state = own ? "on" : isLoading ? "loading" : "off"
  return { backend: own ?? server, engine: { state, progress, error, turn } }
}
