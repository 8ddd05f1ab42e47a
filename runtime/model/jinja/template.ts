/**
 * A chat template: parsed once, then rendered with different names.
 *
 * Each body of a loop, macro, call or `set` block is a scope: variables that are set in it end with
 * it, and each iteration of a loop is a new one. A macro sees the scope of its definition, not that
 * of its caller. `if` is not a scope. In addition to Jinja's own names there are those that
 * transformers adds: `raise_exception`, `strftime_now`, `dict`, `namespace`; `tojson` writes JSON
 * without HTML escapes. An operation that fails throws a TemplateError with Python's message.
 */
import { applyFilter } from "./filter.ts"
import { itemOf, memberOf, pairsOf, sliceOf, unpacked } from "./member.ts"
import { calculated, holds, signed } from "./operator.ts"
import { parseTemplate } from "./parser.ts"
import { strftime } from "./strftime.ts"
import type { Arguments, Body, Expression, Filter, Parameter, Statement, Target } from "./syntax.ts"
import { passes } from "./test.ts"
import {
  areEqual,
  Callable,
  checked,
  fromJson,
  isTrue,
  itemsOf,
  type Named,
  Namespace,
  orElse,
  plain,
  TemplateError,
  Tuple,
  textOf,
  typeName,
  Undefined,
  type Value,
  View,
} from "./value.ts"

export class Template {
  private readonly body: Body

  /** Parses the source. Throws TemplateError with the line if the text is not a template. */
  constructor(source: string) {
    this.body = parseTemplate(source)
  }

  /**
   * Renders the template with these names, whose values are parsed JSON. Throws TemplateError if
   * the template raises an error.
   */
  render(names: Readonly<Record<string, unknown>>): string {
    const scope = new Scope(globals)
    for (const [name, json] of Object.entries(names)) {
      if (json !== undefined) scope.set(name, fromJson(json))
    }
    try {
      return write(this.body, new Scope(scope))
    } catch (cause) {
      if (!(cause instanceof RangeError)) throw cause
      const isDeep = cause.message.includes("call stack")
      throw new TemplateError(isDeep ? "maximum recursion depth exceeded" : "a text or list that is too long")
    }
  }
}

class Scope {
  private readonly values = new Map<string, Value>()
  private readonly parent: Scope | null

  constructor(parent: Scope | null) {
    this.parent = parent
  }

  get(name: string): Value | undefined {
    for (let scope: Scope | null = this; scope; scope = scope.parent) {
      const value = scope.values.get(name)
      if (value !== undefined) return value
    }
    return undefined
  }

  set(name: string, value: Value): void {
    this.values.set(name, value)
  }
}

/** How a body ended: at its end, or at a `break` or `continue`. */
type End = "break" | "continue" | null

function write(body: Body, scope: Scope): string {
  const out: string[] = []
  run(body, scope, out)
  return out.join("")
}

function run(body: Body, scope: Scope, out: string[]): End {
  for (const statement of body) {
    const end = step(statement, scope, out)
    if (end !== null) return end
  }
  return null
}

function step(statement: Statement, scope: Scope, out: string[]): End {
  switch (statement.kind) {
    case "text":
      out.push(statement.text)
      return null
    case "output":
      out.push(textOf(evaluate(statement.value, scope)))
      return null
    case "if":
      return run(isTrue(evaluate(statement.condition, scope)) ? statement.yes : statement.no, scope, out)
    case "for":
      loop(statement, read(statement.over, scope), scope, out, 0)
      return null
    case "set":
      assign(statement.target, evaluate(statement.value, scope), scope)
      return null
    case "set text":
      assign(
        statement.target,
        filtered(write(statement.body, new Scope(scope)), statement.filters, scope),
        scope,
      )
      return null
    case "macro":
      scope.set(statement.name, macro(statement.name, statement.parameters, statement.body, scope))
      return null
    case "call": {
      const caller = macro("caller", statement.parameters, statement.body, scope)
      const { call } = statement
      if (call.kind !== "call") throw new TemplateError("{% call %} needs a call")
      out.push(textOf(invoke(evaluate(call.callee, scope), call.args, scope, ["caller", caller])))
      return null
    }
    case "filter":
      out.push(textOf(filtered(write(statement.body, new Scope(scope)), statement.filters, scope)))
      return null
    case "with": {
      const inner = new Scope(scope)
      for (const [target, value] of statement.targets) assign(target, evaluate(value, scope), inner)
      return run(statement.body, inner, out)
    }
    case "break":
    case "continue":
      return statement.kind
    default:
      return statement satisfies never
  }
}

function filtered(text: string, filters: readonly Filter[], scope: Scope): Value {
  return filters.reduce(
    (value: Value, { name, args }) => applyFilter(name, value, ...given(args, scope)),
    text,
  )
}

function assign(target: Target, value: Value, scope: Scope): void {
  if (target.kind === "name") scope.set(target.name, value)
  else if (target.kind === "tuple") {
    const values = unpacked(value, target.items.length)
    for (const [at, each] of target.items.entries()) assign(each, values[at], scope)
  } else {
    const space = scope.get(target.of)
    if (!(space instanceof Namespace))
      throw new TemplateError("cannot assign attribute on non-namespace object")
    space.values.set(target.name, value)
  }
}

type For = Extract<Statement, { kind: "for" }>

function loop(statement: For, over: Value, scope: Scope, out: string[], depth: number): void {
  const { target, where, body, none } = statement
  const isWanted = (item: Value): boolean => {
    const inner = new Scope(scope)
    assign(target, item, inner)
    return isTrue(evaluate(where!, inner))
  }
  const items = where === null ? itemsOf(over) : itemsOf(over).filter(isWanted)
  if (items.length === 0) {
    run(none, new Scope(scope), out)
    return
  }
  let changed: Value | null = null
  for (const [at, item] of items.entries()) {
    const inner = new Scope(scope)
    const names: [string, Value][] = [
      ["index", at + 1],
      ["index0", at],
      ["revindex", items.length - at],
      ["revindex0", items.length - at - 1],
      ["first", at === 0],
      ["last", at === items.length - 1],
      ["length", items.length],
      ["previtem", orElse(items[at - 1], new Undefined("there is no previous item"))],
      ["nextitem", orElse(items[at + 1], new Undefined("there is no next item"))],
      ["depth", depth + 1],
      ["depth0", depth],
      ["cycle", new Callable((args) => args[at % args.length])],
      [
        "changed",
        new Callable((args) => {
          const now = new Tuple(args)
          const isOther = changed === null || !areEqual(changed, now)
          changed = now
          return isOther
        }),
      ],
    ]
    const again = new Callable(([inside]) => {
      if (!statement.recurses) throw new TemplateError("this loop is not recursive")
      const text: string[] = []
      loop(statement, inside, scope, text, depth + 1)
      return text.join("")
    })
    inner.set("loop", new Loop(new Map<Value, Value>(names), again))
    assign(target, item, inner)
    if (run(body, inner, out) === "break") return
  }
}

/** The variable `loop`: its members, and a call that iterates over inner items. */
class Loop extends Namespace {
  readonly again: Callable
  constructor(values: Map<Value, Value>, again: Callable) {
    super(values)
    this.again = again
  }
}

function macro(name: string, parameters: readonly Parameter[], body: Body, scope: Scope): Callable {
  const names = parameters.map((parameter) => parameter.name)
  return new Callable((args, named) => {
    const inner = new Scope(scope)
    const rest = new Map([...named].filter(([key]) => !names.includes(key)))
    inner.set("caller", rest.get("caller") ?? new Undefined("No caller defined"))
    rest.delete("caller")
    inner.set("varargs", new Tuple(args.slice(names.length)))
    inner.set("kwargs", new Map<Value, Value>(rest))
    for (const [at, parameter] of parameters.entries()) {
      const value = orElse(args[at], named.get(parameter.name))
      if (value !== undefined) inner.set(parameter.name, value)
      else if (parameter.fallback) inner.set(parameter.name, evaluate(parameter.fallback, inner))
      else inner.set(parameter.name, new Undefined(`parameter '${parameter.name}' was not provided`))
    }
    if (args.length > names.length && !reads(body, "varargs")) {
      throw new TemplateError(`macro '${name}' takes no more than ${names.length} argument(s)`)
    }
    if (rest.size > 0 && !reads(body, "kwargs")) {
      throw new TemplateError(`macro '${name}' takes no keyword argument '${[...rest.keys()][0]}'`)
    }
    return write(body, inner)
  })
}

/** Returns whether a name is read anywhere in the node. */
function reads(node: unknown, name: string): boolean {
  if (typeof node !== "object" || node === null) return false
  const each = node as { kind?: unknown; name?: unknown }
  return (each.kind === "name" && each.name === name) || Object.values(node).some((part) => reads(part, name))
}

function given(args: Arguments, scope: Scope): [readonly Value[], Named] {
  const items = args.items.map((item) => read(item, scope))
  if (args.rest) items.push(...itemsOf(evaluate(args.rest, scope)))
  const named = new Map(args.named.map(([name, value]) => [name, read(value, scope)]))
  if (args.namedRest) {
    const rest = evaluate(args.namedRest, scope)
    if (!(rest instanceof Map))
      throw new TemplateError(`argument after ** must be a mapping, not ${typeName(rest)}`)
    for (const [key, value] of rest) named.set(String(key), value)
  }
  return [items, named]
}

function invoke(callee: Value, args: Arguments, scope: Scope, more?: [string, Value]): Value {
  if (callee instanceof Undefined) callee.fail()
  const [items, named] = given(args, scope)
  const callable = callee instanceof Loop ? callee.again : callee
  if (!(callable instanceof Callable)) throw new TemplateError(`'${typeName(callee)}' object is not callable`)
  return callable.call(items, more ? new Map([...named, more]) : named)
}

function read(node: Expression, scope: Scope): Value {
  return plain(evaluate(node, scope))
}

function evaluate(node: Expression, scope: Scope): Value {
  switch (node.kind) {
    case "constant":
      return node.value
    case "name":
      return orElse(scope.get(node.name), new Undefined(`'${node.name}' is undefined`))
    case "list":
      return node.items.map((item) => read(item, scope))
    case "tuple":
      return new Tuple(node.items.map((item) => read(item, scope)))
    case "dict":
      return new Map(node.entries.map(([key, value]) => [read(key, scope), read(value, scope)]))
    case "member":
      return memberOf(read(node.of, scope), node.name)
    case "item":
      return itemOf(read(node.of, scope), read(node.index, scope))
    case "slice": {
      const of = read(node.of, scope)
      const bounds = node.bounds.map((bound) => (bound === null ? null : evaluate(bound, scope)))
      return sliceOf(of, bounds)
    }
    case "call":
      return checked(invoke(evaluate(node.callee, scope), node.args, scope))
    case "filter":
      return checked(applyFilter(node.name, evaluate(node.of, scope), ...given(node.args, scope)))
    case "test":
      return passes(read(node.of, scope), node.name, given(node.args, scope)[0])
    case "not":
      return !isTrue(evaluate(node.of, scope))
    case "+":
    case "-":
      return signed(node.kind, evaluate(node.of, scope))
    case "and":
    case "or": {
      const left = evaluate(node.left, scope)
      return isTrue(left) === (node.kind === "and") ? evaluate(node.right, scope) : left
    }
    case "binary":
      return checked(calculated(node.operator, evaluate(node.left, scope), evaluate(node.right, scope)))
    case "join":
      return checked(node.items.map((item) => textOf(evaluate(item, scope))).join(""))
    case "compare":
      return compared(node, scope)
    case "choice": {
      if (isTrue(evaluate(node.condition, scope))) return evaluate(node.yes, scope)
      return node.no ? evaluate(node.no, scope) : new Undefined("the inline if-expression has no else")
    }
    default:
      return node satisfies never
  }
}

/** Evaluates a chain of comparisons such as `a < b <= c`, up to the first that is false. */
function compared({ first, rest }: Extract<Expression, { kind: "compare" }>, scope: Scope): boolean {
  let left = read(first, scope)
  for (const [operator, expression] of rest) {
    const right = read(expression, scope)
    if (!holds(operator, left, right)) return false
    left = right
  }
  return true
}

/** Returns a dictionary made of another one, or of pairs, and of named values. */
function dictOf([source]: readonly Value[], named: Named): Map<Value, Value> {
  const pairs = source instanceof Map ? pairsOf(source) : source === undefined ? [] : itemsOf(source)
  const entries = pairs.map((pair) => unpacked(pair, 2) as [Value, Value])
  return new Map<Value, Value>([...entries, ...named])
}

function range(args: readonly Value[]): View {
  const bounds = args.map((each) => {
    if (typeof each !== "number")
      throw new TemplateError(`'${typeName(each)}' object cannot be interpreted as an integer`)
    return each
  })
  const [from, to, by] = bounds.length === 1 ? [0, bounds[0], 1] : [bounds[0], bounds[1], bounds[2] ?? 1]
  if (by === 0) throw new TemplateError("range() arg 3 must not be zero")
  const count = Math.max(0, Math.ceil((to - from) / by))
  if (count > MaxRange)
    throw new TemplateError(`Range too big. The sandbox blocks ranges larger than ${MaxRange}.`)
  return new View(
    "range",
    Array.from({ length: count }, (_, at) => from + at * by),
  )
}

/** Maximum length of a range, as in Jinja's sandbox. */
const MaxRange = 100_000

const globals = new Scope(null)
for (const [name, call] of Object.entries<Callable["call"]>({
  raise_exception: ([message]) => {
    throw new TemplateError(textOf(message))
  },
  strftime_now: ([format]) => strftime(new Date(), textOf(format)),
  range,
  dict: dictOf,
  namespace: (args, named) => new Namespace(dictOf(args, named)),
  joiner: ([separator = ", "]) => {
    let isFirst = true
    return new Callable(() => {
      const text = isFirst ? "" : separator
      isFirst = false
      return text
    })
  },
})) {
  globals.set(name, new Callable(call))
}
