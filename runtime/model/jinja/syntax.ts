/**
 * The statements and expressions of a template. The parser creates them, and `template.ts` runs
 * them.
 */
import type { Value } from "./value.ts"

export interface Arguments {
  items: readonly Expression[]
  named: readonly [name: string, value: Expression][]
  /** The operands of `*` and `**`. */
  rest: Expression | null
  namedRest: Expression | null
}

export type Expression =
  | { kind: "constant"; value: Value }
  | { kind: "name"; name: string }
  | { kind: "list" | "tuple"; items: readonly Expression[] }
  | { kind: "dict"; entries: readonly [key: Expression, value: Expression][] }
  | { kind: "member"; of: Expression; name: string }
  | { kind: "item"; of: Expression; index: Expression }
  | { kind: "slice"; of: Expression; bounds: readonly (Expression | null)[] }
  | { kind: "call"; callee: Expression; args: Arguments }
  | { kind: "filter"; of: Expression; name: string; args: Arguments }
  | { kind: "test"; of: Expression; name: string; args: Arguments }
  | { kind: "not" | "+" | "-"; of: Expression }
  | { kind: "and" | "or"; left: Expression; right: Expression }
  | { kind: "binary"; operator: string; left: Expression; right: Expression }
  | { kind: "join"; items: readonly Expression[] }
  | { kind: "compare"; first: Expression; rest: readonly [operator: string, right: Expression][] }
  | { kind: "choice"; condition: Expression; yes: Expression; no: Expression | null }

export type Target =
  | { kind: "name"; name: string }
  | { kind: "tuple"; items: readonly Target[] }
  | { kind: "member"; of: string; name: string }

export interface Parameter {
  name: string
  fallback: Expression | null
}

/** A filter, without the value that it is applied to. */
export interface Filter {
  name: string
  args: Arguments
}

export type Body = readonly Statement[]

export type Statement =
  | { kind: "text"; text: string }
  | { kind: "output"; value: Expression }
  | { kind: "if"; condition: Expression; yes: Body; no: Body }
  | {
      kind: "for"
      target: Target
      over: Expression
      where: Expression | null
      recurses: boolean
      body: Body
      none: Body
    }
  | { kind: "set"; target: Target; value: Expression }
  | { kind: "set text"; target: Target; filters: readonly Filter[]; body: Body }
  | { kind: "macro"; name: string; parameters: readonly Parameter[]; body: Body }
  | { kind: "call"; call: Expression; parameters: readonly Parameter[]; body: Body }
  | { kind: "filter"; filters: readonly Filter[]; body: Body }
  | { kind: "with"; targets: readonly [Target, Expression][]; body: Body }
  | { kind: "break" | "continue" }

/** Arguments of a filter or test without brackets. */
export const noArguments: Arguments = { items: [], named: [], rest: null, namedRest: null }

/** Names of constants. */
export const constants: Readonly<Record<string, Value>> = {
  ...{ true: true, True: true, false: false, False: false, none: null, None: null },
}
