/**
 * Parses tokens into the statements of a template, by recursive descent.
 *
 * Precedence, lowest first: `if else`, `or`, `and`, `not`, comparisons and `in`, `+ -`, `~`, `* /
 * // %`, `**`, a sign; `.x`, `[x]`, calls, filters and tests bind closest. Source: the Jinja
 * documentation, "Template Designer Documentation".
 */
import { Cursor } from "./cursor.ts"
import {
  type Arguments,
  type Body,
  constants,
  type Expression,
  type Filter,
  noArguments,
  type Parameter,
  type Statement,
  type Target,
} from "./syntax.ts"
import { Float } from "./value.ts"

/** Returns the statements of a template. Throws TemplateError with the line of an error. */
export function parseTemplate(source: string): Body {
  const parser = new Parser(source)
  return parser.body([])
}

class Parser extends Cursor {
  /**
   * Parses statements up to a tag with one of these names, of which only the `{%` is consumed;
   * without names, up to the end.
   */
  body(ends: readonly string[]): Body {
    const statements: Statement[] = []
    for (;;) {
      const { token } = this
      if (token.kind === "end") {
        if (ends.length > 0) this.fail(`{% ${ends.at(-1)} %} is missing`)
        return statements
      }
      this.at++
      if (token.kind === "text") statements.push({ kind: "text", text: token.text })
      else if (token.kind === "{{") {
        statements.push({ kind: "output", value: this.tuple() })
        if (this.token.kind !== "}}") this.fail(`}} is expected, not ${this.token.text}`)
        this.at++
      } else if (this.isName(...ends)) return statements
      else statements.push(...this.statement())
    }
  }

  /** Parses a body and its end tag. */
  private block(end: string): Body {
    this.closeTag()
    const body = this.body([end])
    this.at++
    // `{% endmacro name %}` may repeat the name.
    if (end === "endmacro" && this.token.kind === "name") this.at++
    this.closeTag()
    return body
  }

  private statement(): Statement[] {
    const tag = this.name()
    switch (tag) {
      case "if":
        return [this.ifStatement()]
      case "for":
        return [this.forStatement()]
      case "set":
        return [this.setStatement()]
      case "macro": {
        const name = this.name()
        return [{ kind: "macro", name, parameters: this.parameters(), body: this.block("endmacro") }]
      }
      case "call": {
        const parameters = this.isOperator("(") ? this.parameters() : []
        return [{ kind: "call", parameters, call: this.expression(), body: this.block("endcall") }]
      }
      case "filter": {
        const filters = [this.filter(), ...this.filters()]
        return [{ kind: "filter", filters, body: this.block("endfilter") }]
      }
      case "with": {
        const targets: [Target, Expression][] = []
        while (this.token.kind !== "%}") {
          if (targets.length > 0) this.expect(",")
          const target = this.target()
          this.expect("=")
          targets.push([target, this.expression()])
        }
        return [{ kind: "with", targets, body: this.block("endwith") }]
      }
      case "generation":
        // transformers uses this block to mark text that the model has written. Names that are set
        // in it end with it.
        return [{ kind: "with", targets: [], body: this.block("endgeneration") }]
      case "break":
      case "continue":
        this.closeTag()
        return [{ kind: tag }]
      default:
        this.at--
        return this.fail(`{% ${tag} %} is not a tag of chat templates`)
    }
  }

  private ifStatement(): Statement {
    const condition = this.tuple(false)
    this.closeTag()
    const yes = this.body(["elif", "else", "endif"])
    const word = this.name()
    if (word === "elif") return { kind: "if", condition, yes, no: [this.ifStatement()] }
    this.closeTag()
    if (word === "endif") return { kind: "if", condition, yes, no: [] }
    const no = this.body(["endif"])
    this.at++
    this.closeTag()
    return { kind: "if", condition, yes, no }
  }

  private forStatement(): Statement {
    const target = this.target()
    this.expect("in")
    const over = this.tuple(false)
    const where = this.skip("if") ? this.expression() : null
    const recurses = this.skip("recursive")
    this.closeTag()
    const body = this.body(["else", "endfor"])
    let none: Body = []
    if (this.name() === "else") {
      this.closeTag()
      none = this.body(["endfor"])
      this.at++
    }
    this.closeTag()
    return { kind: "for", target, over, where, recurses, body, none }
  }

  private setStatement(): Statement {
    const target = this.target()
    if (this.skip("=")) {
      const value = this.tuple()
      this.closeTag()
      return { kind: "set", target, value }
    }
    const filters = this.filters()
    return { kind: "set text", target, filters, body: this.block("endset") }
  }

  private target(): Target {
    const items = [this.oneTarget()]
    let isTuple = false
    while (this.skip(",")) {
      isTuple = true
      if (this.token.kind !== "name" && !this.isOperator("(")) break
      if (this.isName("in")) break
      items.push(this.oneTarget())
    }
    return isTuple ? { kind: "tuple", items } : items[0]
  }

  private oneTarget(): Target {
    if (this.skip("(")) {
      const target = this.target()
      this.expect(")")
      return target
    }
    const name = this.name()
    if (Object.hasOwn(constants, name)) this.fail(`${name} cannot be set`)
    return this.skip(".") ? { kind: "member", of: name, name: this.name() } : { kind: "name", name }
  }

  private parameters(): Parameter[] {
    this.expect("(")
    const parameters: Parameter[] = []
    while (!this.skip(")")) {
      if (parameters.length > 0) this.expect(",")
      const name = this.name()
      const fallback = this.skip("=") ? this.expression() : null
      if (fallback === null && parameters.at(-1)?.fallback) this.fail(`${name} needs a default too`)
      parameters.push({ name, fallback })
    }
    return parameters
  }

  /** Parses expressions between commas; a single one without a comma is not a tuple. */
  private tuple(takesChoice = true): Expression {
    const next = () => (takesChoice ? this.expression() : this.or())
    const first = next()
    if (!this.isOperator(",")) return first
    const items = [first]
    while (this.skip(",")) {
      if (
        ["%}", "}}", "end"].includes(this.token.kind) ||
        this.isOperator(")") ||
        this.isName("if", "recursive")
      )
        break
      items.push(next())
    }
    return { kind: "tuple", items }
  }

  private expression(): Expression {
    let value = this.or()
    while (this.skip("if")) {
      const condition = this.or()
      value = { kind: "choice", condition, yes: value, no: this.skip("else") ? this.expression() : null }
    }
    return value
  }

  private or(): Expression {
    let left = this.and()
    while (this.skip("or")) left = { kind: "or", left, right: this.and() }
    return left
  }

  private and(): Expression {
    let left = this.not()
    while (this.skip("and")) left = { kind: "and", left, right: this.not() }
    return left
  }

  private not(): Expression {
    return this.skip("not") ? { kind: "not", of: this.not() } : this.comparison()
  }

  private comparison(): Expression {
    const first = this.sum()
    const rest: [string, Expression][] = []
    for (;;) {
      const next = this.tokens[this.at + 1]
      if (this.isOperator("==", "!=", "<", ">", "<=", ">=")) rest.push([this.take(), this.sum()])
      else if (this.skip("in")) rest.push(["in", this.sum()])
      else if (this.isName("not") && next.kind === "name" && next.text === "in") {
        this.at += 2
        rest.push(["not in", this.sum()])
      } else break
    }
    return rest.length === 0 ? first : { kind: "compare", first, rest }
  }

  private sum(): Expression {
    return this.leftToRight(["+", "-"], () => this.join())
  }

  private join(): Expression {
    const items = [this.product()]
    while (this.skip("~")) items.push(this.product())
    return items.length === 1 ? items[0] : { kind: "join", items }
  }

  private product(): Expression {
    return this.leftToRight(["*", "/", "//", "%"], () => this.power())
  }

  private power(): Expression {
    return this.leftToRight(["**"], () => this.signed(true))
  }

  private leftToRight(operators: string[], next: () => Expression): Expression {
    let left = next()
    while (this.isOperator(...operators))
      left = { kind: "binary", operator: this.take(), left, right: next() }
    return left
  }

  private signed(takesFilters: boolean): Expression {
    let value: Expression
    if (this.isOperator("+", "-")) value = { kind: this.take() as "+" | "-", of: this.signed(false) }
    else value = this.primary()
    value = this.postfix(value)
    return takesFilters ? this.filtered(value) : value
  }

  private primary(): Expression {
    const { token } = this
    this.at++
    switch (token.kind) {
      case "name":
        return Object.hasOwn(constants, token.text)
          ? { kind: "constant", value: constants[token.text] }
          : { kind: "name", name: token.text }
      case "integer":
        return { kind: "constant", value: token.value }
      case "float":
        return { kind: "constant", value: new Float(token.value) }
      case "string": {
        let { text } = token
        while (this.token.kind === "string") text += this.take()
        return { kind: "constant", value: text }
      }
      case "operator":
        if (token.text === "(") return this.parenthesized()
        if (token.text === "[") return { kind: "list", items: this.listed("]", () => this.expression()) }
        if (token.text === "{") {
          const entry = (): [Expression, Expression] => {
            const key = this.expression()
            this.expect(":")
            return [key, this.expression()]
          }
          return { kind: "dict", entries: this.listed("}", entry) }
        }
    }
    this.at--
    return this.fail(`unexpected ${token.text}`)
  }

  private parenthesized(): Expression {
    if (this.skip(")")) return { kind: "tuple", items: [] }
    const value = this.tuple()
    this.expect(")")
    return value
  }

  private listed<T>(end: string, next: () => T): T[] {
    const items: T[] = []
    while (!this.skip(end)) {
      if (items.length > 0) this.expect(",")
      if (this.skip(end)) break
      items.push(next())
    }
    return items
  }

  /** Parses members, items and calls that follow a value. */
  private postfix(value: Expression): Expression {
    for (let of = value; ; ) {
      if (this.skip(".")) {
        const { token } = this
        this.at++
        if (token.kind === "integer")
          of = { kind: "item", of, index: { kind: "constant", value: token.value } }
        else if (token.kind === "name") of = { kind: "member", of, name: token.text }
        else this.fail(`a name is expected after the dot, not ${token.text}`)
      } else if (this.skip("[")) of = this.subscript(of)
      else if (this.isOperator("(")) of = { kind: "call", callee: of, args: this.args() }
      else return of
    }
  }

  private subscript(of: Expression): Expression {
    const bounds: (Expression | null)[] = []
    let colons = 0
    for (;;) {
      if (this.isOperator(":", "]")) bounds.push(null)
      else bounds.push(colons === 0 ? this.tuple() : this.expression())
      if (!this.skip(":")) break
      colons++
    }
    this.expect("]")
    if (colons > 0) return { kind: "slice", of, bounds }
    return bounds[0] ? { kind: "item", of, index: bounds[0] } : this.fail("an index is missing")
  }

  /**
   * Parses filters and tests that follow a value. Their result, such as that of `select(…)`, may be
   * called.
   */
  private filtered(value: Expression): Expression {
    for (let of = value; ; ) {
      if (this.skip("|")) of = { kind: "filter", of, ...this.filter() }
      else if (this.skip("is")) of = this.test(of)
      else if (this.isOperator("(")) of = { kind: "call", callee: of, args: this.args() }
      else return of
    }
  }

  private filters(): Filter[] {
    const filters: Filter[] = []
    while (this.skip("|")) filters.push(this.filter())
    return filters
  }

  private filter(): Filter {
    const name = this.name()
    return { name, args: this.isOperator("(") ? this.args() : noArguments }
  }

  private test(of: Expression): Expression {
    const isNegated = this.skip("not")
    const name = this.name()
    let args = noArguments
    if (this.isOperator("(")) args = this.args()
    else if (
      ["string", "integer", "float"].includes(this.token.kind) ||
      this.isOperator("[", "{") ||
      (this.token.kind === "name" && !this.isName("else", "or", "and", "if", "is", "in", "not"))
    ) {
      args = { ...noArguments, items: [this.postfix(this.primary())] }
    }
    const test: Expression = { kind: "test", of, name, args }
    return isNegated ? { kind: "not", of: test } : test
  }

  private args(): Arguments {
    this.expect("(")
    const items: Expression[] = []
    const named: [string, Expression][] = []
    let rest: Expression | null = null
    let namedRest: Expression | null = null
    for (let isFirst = true; !this.skip(")"); isFirst = false) {
      if (!isFirst) this.expect(",")
      if (this.skip(")")) break
      const next = this.tokens[this.at + 1]
      if (this.skip("**")) namedRest = this.expression()
      else if (this.skip("*")) rest = this.expression()
      else if (this.token.kind === "name" && next.kind === "operator" && next.text === "=") {
        const name = this.name()
        this.at++
        named.push([name, this.expression()])
      } else if (named.length > 0 || namedRest || rest) this.fail("a positional argument follows a named one")
      else items.push(this.expression())
    }
    return { items, named, rest, namedRest }
  }
}
