/**
 * CodeMirror as a component. It lives in a shadow root, because the page's policy allows no inline
 * style, and CodeMirror puts its own style into a shadow root without one. Tab leaves the editor.
 */
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands"
import { json } from "@codemirror/lang-json"
import {
  bracketMatching,
  ensureSyntaxTree,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from "@codemirror/language"
import { type Diagnostic, lintKeymap, setDiagnostics } from "@codemirror/lint"
import { Compartment, EditorState, RangeSet, StateEffect, StateField } from "@codemirror/state"
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
} from "@codemirror/view"
import { tags } from "@lezer/highlight"
import type { VNode } from "preact"
import { useEffect, useRef } from "preact/hooks"
import type { Tree } from "./place.ts"

/** A range of the text with a class. */
export interface Mark {
  from: number
  to: number
  className: "ok" | "dead"
}

export interface EditorProps {
  label: string
  /** Id of the element that describes the editor. */
  describedBy?: string
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

const setMarks = StateEffect.define<readonly Mark[]>()

const markField = StateField.define<DecorationSet>({
  create: () => RangeSet.empty,
  update(value, transaction) {
    let marks = value.map(transaction.changes)
    for (const effect of transaction.effects) {
      if (!effect.is(setMarks)) continue
      const { length } = transaction.state.doc
      const ranges = effect.value
        .filter(({ from, to }) => from < to && to <= length)
        .map(({ from, to, className }) => Decoration.mark({ class: `cm-${className}` }).range(from, to))
      marks = Decoration.set(ranges, true)
    }
    return marks
  },
  provide: (field) => EditorView.decorations.from(field),
})

const highlight = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--code-name)" },
  { tag: tags.string, color: "var(--code-string)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  { tag: tags.punctuation, color: "var(--muted)" },
])

const theme = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--field)", fontSize: "0.875rem", height: "100%" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55", overflow: "auto" },
  ".cm-content": { caretColor: "var(--text)", padding: "0.5rem 0" },
  ".cm-gutters": { backgroundColor: "var(--field)", color: "var(--muted)", border: "none" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "var(--selection) !important",
  },
  ".cm-matchingBracket": { backgroundColor: "var(--selection) !important", color: "inherit" },
  ".cm-lintRange": { backgroundImage: "none !important", paddingBottom: "0" },
  ".cm-lintRange-error": {
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "0.2em",
    backgroundColor: "var(--bad-soft)",
  },
  ".cm-tooltip": {
    backgroundColor: "var(--panel)",
    color: "var(--text)",
    border: "1px solid var(--line)",
    borderRadius: "6px",
    maxWidth: "min(34rem, 90vw)",
  },
  ".cm-diagnostic": {
    borderLeftColor: "var(--bad) !important",
    whiteSpace: "pre-wrap",
    padding: "0.4rem 0.6rem",
  },
  ".cm-ok": { color: "var(--good)" },
  ".cm-dead": {
    color: "var(--bad)",
    textDecoration: "underline wavy var(--bad)",
    textUnderlineOffset: "0.2em",
    backgroundColor: "var(--bad-soft)",
  },
})

function extensionsOf(props: EditorProps, language: Compartment, changed: (text: string) => void) {
  return [
    props.numbered === false ? [] : lineNumbers(),
    ...[history(), drawSelection(), indentOnInput(), bracketMatching(), EditorView.lineWrapping],
    keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
    language.of(props.language === "json" ? json() : []),
    ...[syntaxHighlighting(highlight), theme, markField],
    EditorView.contentAttributes.of({
      "aria-label": props.label,
      tabindex: "0",
      spellcheck: "false",
      autocorrect: "off",
      autocapitalize: "off",
    }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) changed(update.state.doc.toString())
    }),
  ]
}

export function Editor(props: EditorProps): VNode {
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView | null>(null)
  const language = useRef(new Compartment())
  const latest = useRef(props)
  latest.current = props

  useEffect(() => {
    const element = host.current
    if (element === null) return
    const root = element.shadowRoot ?? element.attachShadow({ mode: "open", delegatesFocus: true })
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: extensionsOf(latest.current, language.current, (text) => {
          if (text !== latest.current.value) latest.current.onChange(text)
        }),
      }),
    })
    view.current = editor
    latest.current.handle?.({
      select(from, to) {
        const { length } = editor.state.doc
        const selection = { anchor: Math.min(from, length), head: Math.min(to, length) }
        editor.dispatch({ selection, scrollIntoView: true })
        editor.focus()
      },
      tree: () => ensureSyntaxTree(editor.state, editor.state.doc.length, 500),
    })
    return () => {
      latest.current.handle?.(null)
      editor.destroy()
    }
  }, [])

  useEffect(() => {
    const extension = props.language === "json" ? json() : []
    view.current?.dispatch({ effects: language.current.reconfigure(extension) })
  }, [props.language])

  useEffect(() => {
    const editor = view.current
    if (!editor || editor.state.doc.toString() === props.value) return
    editor.dispatch({ changes: { from: 0, to: editor.state.doc.length, insert: props.value } })
  }, [props.value])

  useEffect(() => {
    const editor = view.current
    if (!editor) return
    const { length } = editor.state.doc
    const inside = (props.diagnostics ?? []).filter(({ to }) => to <= length)
    editor.dispatch(setDiagnostics(editor.state, inside))
  }, [props.diagnostics, props.value])

  useEffect(() => {
    view.current?.dispatch({ effects: setMarks.of(props.marks ?? []) })
  }, [props.marks])

  return <div class="editor" ref={host} />
}
