/**
 * CodeMirror as the page uses it, in a file of its own that is loaded after the page is drawn. It
 * lives in a shadow root, because the page's policy allows no inline style, and CodeMirror puts its
 * own style into a shadow root without one. Tab leaves the editor.
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
import {
  Compartment,
  EditorState,
  type Extension,
  RangeSet,
  StateEffect,
  StateField,
} from "@codemirror/state"
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  keymap,
  lineNumbers,
} from "@codemirror/view"
import { tags } from "@lezer/highlight"
import type { EditorHandle, EditorProps, Mark } from "./editor.tsx"

/** An editor on the page. */
export interface MountedEditor extends EditorHandle {
  setValue(text: string): void
  setLanguage(language: EditorProps["language"]): void
  setDiagnostics(diagnostics: readonly Diagnostic[]): void
  setMarks(marks: readonly Mark[]): void
  destroy(): void
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

function extensionsOf(props: EditorProps, language: Compartment, changed: (text: string) => void): Extension {
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

/** Makes an editor inside of `element`. `changed` is called with each new text. */
export function mount(
  element: HTMLElement,
  props: EditorProps,
  changed: (text: string) => void,
): MountedEditor {
  const root = element.shadowRoot ?? element.attachShadow({ mode: "open", delegatesFocus: true })
  const language = new Compartment()
  const state = EditorState.create({ doc: props.value, extensions: extensionsOf(props, language, changed) })
  const view = new EditorView({ root, parent: root, state })
  return {
    select(from, to) {
      const { length } = view.state.doc
      const selection = { anchor: Math.min(from, length), head: Math.min(to, length) }
      view.dispatch({ selection, scrollIntoView: true })
      view.focus()
    },
    tree: () => ensureSyntaxTree(view.state, view.state.doc.length, 500),
    setValue(text) {
      if (view.state.doc.toString() === text) return
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } })
    },
    setLanguage: (name) => view.dispatch({ effects: language.reconfigure(name === "json" ? json() : []) }),
    setDiagnostics(diagnostics) {
      const { length } = view.state.doc
      const inside = diagnostics.filter(({ to }) => to <= length)
      view.dispatch(setDiagnostics(view.state, inside))
    },
    setMarks: (marks) => view.dispatch({ effects: setMarks.of(marks) }),
    destroy: () => view.destroy(),
  }
}
