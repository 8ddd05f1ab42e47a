/**
 * An editor as a component. The text is shown at once, and CodeMirror takes its place when it has
 * been loaded. Editors are made one after the other, so that none of them delays a click for long.
 */
import type { Diagnostic } from "@codemirror/lint"
import type { VNode } from "preact"
import { useEffect, useRef, useState } from "preact/hooks"
import type { MountedEditor } from "./codemirror.ts"
import type { Tree } from "./place.ts"

/** A range of the text with a class. */
export interface Mark {
  from: number
  to: number
  className: "ok" | "dead"
}

export interface EditorProps {
  label: string
  value: string
  language: "json" | "text"
  onChange: (text: string) => void
  diagnostics?: readonly Diagnostic[]
  marks?: readonly Mark[]
  /** Receives functions for what is outside of the editor. */
  handle?: (editor: EditorHandle | null) => void
  /** Whether lines have numbers. */
  numbered?: boolean
}

export interface EditorHandle {
  /** Selects a range and moves the focus to it. */
  select(from: number, to: number): void
  tree(): Tree | null
}

/** Ends when the last editor has been made. */
let queue: Promise<void> = Promise.resolve()

/** Runs `make` in a task of its own, after those that wait already. */
function inTurn(make: () => void): void {
  queue = queue.then(() => new Promise((resolve) => setTimeout(resolve, 0))).then(make)
}

export function Editor(props: EditorProps): VNode {
  const host = useRef<HTMLDivElement>(null)
  const [editor, setEditor] = useState<MountedEditor | null>(null)
  const latest = useRef(props)
  latest.current = props

  useEffect(() => {
    let isOver = false
    let made: MountedEditor | null = null
    void import("./codemirror.ts").then(({ mount }) =>
      inTurn(() => {
        if (isOver || host.current === null) return
        made = mount(host.current, latest.current, (text) => {
          if (text !== latest.current.value) latest.current.onChange(text)
        })
        latest.current.handle?.(made)
        setEditor(made)
      }),
    )
    return () => {
      isOver = true
      latest.current.handle?.(null)
      made?.destroy()
    }
  }, [])

  const { language, value, diagnostics, marks } = props
  useEffect(() => editor?.setLanguage(language), [editor, language])
  useEffect(() => editor?.setValue(value), [editor, value])
  useEffect(() => editor?.setDiagnostics(diagnostics ?? []), [editor, diagnostics, value])
  useEffect(() => editor?.setMarks(marks ?? []), [editor, marks])

  // What is inside of the host is hidden once it has a shadow root.
  return (
    <div class="editor" ref={host}>
      <pre>{value}</pre>
    </div>
  )
}
