/**
 * Tabs after the WAI-ARIA pattern: arrow keys, Home and End move between them and show their panel;
 * one of them is in the order of the Tab key.
 */
import type { ComponentChildren, VNode } from "preact"
import { useRef } from "preact/hooks"

interface Tab<Id extends string> {
  id: Id
  label: string
}

export interface TabsProps<Id extends string> {
  /** What the list of tabs is about. */
  label: string
  /** Beginning of the ids of its elements. */
  name: string
  tabs: readonly Tab<Id>[]
  selected: Id
  onSelect: (id: Id) => void
  children: ComponentChildren
}

export function Tabs<Id extends string>(props: TabsProps<Id>): VNode {
  const { label, name, tabs, selected, onSelect, children } = props
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ id }) => id === selected)
    const steps: Record<string, number> = {
      ...{ ArrowRight: at + 1, ArrowLeft: at - 1 + tabs.length, Home: 0, End: tabs.length - 1 },
    }
    const next = steps[event.key]
    if (next === undefined) return
    event.preventDefault()
    const { id } = tabs[next % tabs.length]
    onSelect(id)
    list.current?.querySelector<HTMLElement>(`#${name}-tab-${id}`)?.focus()
  }
  return (
    <div class="tabs">
      <div class="tablist" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ id, label: text }) => (
          <button
            key={id}
            type="button"
            role="tab"
            id={`${name}-tab-${id}`}
            aria-selected={id === selected}
            aria-controls={`${name}-panel`}
            tabIndex={id === selected ? 0 : -1}
            onClick={() => onSelect(id)}
          >
            {text}
          </button>
        ))}
      </div>
      <div
        role="tabpanel"
        id={`${name}-panel`}
        class="tabpanel"
        aria-labelledby={`${name}-tab-${selected}`}
        tabIndex={-1}
      >
        {children}
      </div>
    </div>
  )
}
