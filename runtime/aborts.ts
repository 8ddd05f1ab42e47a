/**
 * Registers callbacks on abort signals. Many requests may share one signal, and runtimes warn of a
 * leak above ten listeners. So each signal gets one listener here, which calls all its callbacks.
 */

const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/**
 * Calls `callback` when the signal fires, at most once. Returns a function that cancels the
 * registration.
 */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (!signal) return () => {}
  const callbacks = waiting.get(signal) ?? listen(signal)
  callbacks.add(callback)
  return () => callbacks.delete(callback)
}

function listen(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>()
  waiting.set(signal, callbacks)
  signal.addEventListener(
    "abort",
    () => {
      for (const callback of [...callbacks]) callback()
      callbacks.clear()
    },
    { once: true },
  )
  return callbacks
}
