/**
 * The report of a constraint and the verdict on a text, a moment after the last change of either.
 */
import { useEffect, useRef, useState } from "preact/hooks"
import { Judge, type Judgement } from "./judgement.ts"
import type { Kind, Options } from "./setup.ts"

const pauseMs = 120

export interface Asked extends Pick<Options, "whitespace" | "order"> {
  kind: Kind
  text: string
  check: string
}

/** Returns the latest judgement; null while the first one is awaited. */
export function useJudgement({ kind, text, check, whitespace, order }: Asked): Judgement | null {
  const [judgement, set] = useState<Judgement | null>(null)
  const judge = useRef<Judge | null>(null)
  useEffect(() => {
    const own = new Judge(set)
    judge.current = own
    return () => own.close()
  }, [])
  useEffect(() => {
    // Texts to check may have every white space, as with `tokenrail check`, unless one is chosen.
    const options = { order, ...(whitespace !== "bounded" && { whitespace }) }
    const timer = setTimeout(() => judge.current?.ask({ kind, text, options, check }), pauseMs)
    return () => clearTimeout(timer)
  }, [kind, text, check, whitespace, order])
  return judgement
}
